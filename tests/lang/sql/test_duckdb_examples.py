"""Every example that DuckDB gives for its scalar functions means in a view what it means in DuckDB."""

from functools import cache

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.carried_types import carry
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import read
from skerry.model.dialect import write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.operators.derive import Derive
from tests.lang.sql.scripts import refused_view

ONE = pa.record_batch({"one": pa.array([1], pa.int32())})
REFUSED = {
    "alias": "tells what a column is called inside",
    "to_aggregate_state": "state of DuckDB's own aggregates",
    "version": "may differ on the next run",
}
"""Functions that are refused on purpose, beside those that DuckDB itself says may answer otherwise each time."""


@cache
def documented():
    """The text of every example, and whether its function is refused."""
    rows = open_duckdb().sql(
        "SELECT DISTINCT lower(function_name), unnest(examples), stability <> 'CONSISTENT' "
        "FROM duckdb_functions() WHERE function_type = 'scalar' ORDER BY ALL"
    )
    return [(name, text.strip().rstrip(";"), unsteady or name in REFUSED) for name, text, unsteady in rows.fetchall()]


@cache
def examples():
    """The function, the text, and what DuckDB says, of every example that DuckDB can run by itself."""
    found = []
    for name, text, refused in documented():
        try:
            expected = None if refused else ask(text, ONE)
        except duckdb.Error:
            continue
        if expected is not None and is_shown(expected):
            found.append((name, text, expected))
    return found


def ask(text, batch):
    """What DuckDB answers, in a type that leaves it."""
    connection = open_duckdb()
    connection.register("batch", pa.Table.from_batches([batch]))
    try:
        carried = carry(text, connection.sql(f"SELECT {text} AS x FROM batch").types[0])
        return connection.sql(f"SELECT {carried} AS x FROM batch").to_arrow_table().column(0)
    finally:
        connection.unregister("batch")


def bind(text, batch):
    (tree,) = read(f"CREATE MATERIALIZED VIEW v AS SELECT {text} AS x FROM t")[0].tree.expression.selects
    return scalar(tree.unalias(), Scope("t", batch.schema))


def same(answer, expected):
    return answer.type == expected.type and str(answer.to_pylist()) == str(expected.to_pylist())


def is_shown(column):
    """Whether Python has such a value."""
    try:
        return bool(column.to_pylist())
    except (OverflowError, ValueError):
        return False


def test_there_are_examples():
    assert len(examples()) > 400


def test_examples_mean_in_a_view_what_they_mean_in_duckdb():
    columns = [(f"x{number}", bind(text, ONE)) for number, (_, text, _) in enumerate(examples())]
    answers = Derive(columns).transition(ONE)
    wrong = [text for (_, text, expected), got in zip(examples(), answers, strict=True) if not same(got, expected)]
    assert wrong == []


def test_examples_over_columns_mean_what_they_mean_in_duckdb():
    wrong = [text for text, batch in over_columns() if not same(run(text, batch), ask(text, batch))]
    assert wrong == []


def run(text, batch):
    return Derive([("x", bind(text, batch))]).transition(batch).column(0)


def over_columns():
    """A third of the examples, their first constant in a column, where DuckDB can do with one."""
    for name, text, _ in examples()[::3]:
        if name in ("format", "printf"):
            continue
        (tree,) = read(f"SELECT {text} AS x")[0].tree.selects
        inner = (exp.DataType, exp.Interval, exp.Cast)
        found = [each for each in tree.find_all(exp.Literal) if not each.find_ancestor(*inner)]
        if not found or found[0].parent is tree:
            continue
        value = found[0].this if found[0].is_string else float(found[0].this)
        batch = pa.record_batch({"c": pa.array([value if isinstance(value, str) else int(value)])})
        found[0].replace(exp.column("c"))
        changed = write_expression(tree.unalias())
        try:
            if is_shown(ask(changed, batch)):
                yield changed, batch
        except duckdb.Error:
            continue


def test_examples_that_may_answer_otherwise_each_time_are_refused():
    texts = [text for _, text, refused in documented() if refused]
    allowed = [text for text in texts if "line 2, column " not in refused_view(f"SELECT {text} AS x FROM traffic")]
    assert len(texts) > 20
    assert allowed == []


@pytest.mark.parametrize(
    "text",
    [
        *("xor(a, b)", "a ^ b", "a ** b", "-a ^ b", "2 ^ 3 ^ 2", "a // 2", "a % b", "@(-a)", "a & b | 1 << 2"),
        *("~a", "a!", "sha256(s)", "regexp_extract(s, '(x)(y)', 2)", "s ~ 'x'", "s !~ 'x'"),
        *("s SIMILAR TO 'x.*'", "s GLOB 'x*'", "date_diff('month', d, e)", "date_sub('month', d, e)"),
        *("date_part('dow', d)", "EXTRACT(doy FROM d)", "d + INTERVAL 1 MONTH", "d - INTERVAL '1 year 2 days'"),
        *("d + INTERVAL (a) DAY", "d + 3 * INTERVAL '2' HOUR", "j ->> 'k'", "j -> 'k' ->> 0", "j ->> '$.k[0]'"),
        *("j ->> '/k/0' = '1'", "(j -> 'k')::INT[]", "json_keys(j)", "[a, b][1]", "[a, b, 3][2:]"),
        *("[1, 2, 3][-1]", "s[2:3]", "{'k': a}.k", "{'k': a}['k']", "MAP {'k': a}['k']"),
        *("list_transform([a, b], lambda x: x + a)", "[x * 2 FOR x IN [a, b] IF x > 2]", "s.upper().lower()"),
        *("list_reduce([1, 2, a], lambda x, y: x * 10 + y)", "2 IN [1, NULL]", "2 IN (1, NULL)"),
        *("a NOT IN (1, 2)", "TRIM(BOTH 'x' FROM s)", "TRIM(s, 'x')", "POSITION('y' IN s)"),
        *("SUBSTRING(s FROM 2 FOR 1)", "OVERLAY(s PLACING 'q' FROM 1 FOR 1)"),
        *("a::FLOAT / 3", "a::DECIMAL(4, 1)", "'1010'::BIT", "X'AB'", "b'011'", "CASE a WHEN 2 THEN s END"),
        *("a IS DISTINCT FROM NULL", "s LIKE 'x$%%' ESCAPE '$'", "E'a\\nb' || $$c$$", "typeof(a / b)"),
        *("try_cast(s AS INT)", "a BETWEEN 1 AND 3", "struct_pack(k := a)", "epoch_ms(d)", "if(a > 1, s, 'n')"),
        *("strftime(d, '%d/%m')", "time_bucket(INTERVAL '1' MONTH, d)", "list_sort([b, a], 'DESC')"),
        *("d AT TIME ZONE 'UTC'",),
    ],
)
def test_operators_and_constants_mean_what_they_mean_in_duckdb(text):
    moments = [pa.array([each], pa.timestamp("us")) for each in (1_700_000_000_000_000, 1_800_000_000_000_000)]
    values = {"a": pa.array([2], pa.int32()), "b": pa.array([5], pa.int32()), "s": ["xyz"], "j": ['{"k": [1, 2]}']}
    batch = pa.record_batch({**values, "d": moments[0], "e": moments[1]})
    assert same(run(text, batch), ask(text, batch))


@pytest.mark.parametrize("text", ["0xFF", "0b101", "a IS JSON"])
def test_what_duckdb_cannot_read_is_refused(text):
    with pytest.raises(SqlError):
        bind(text, pa.record_batch({"a": [1]}))
