import threading

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Expression
from skerry.operators.derive import Derive
from tests.operators.readings import SCHEMA, batch_of, readings

EXPRESSIONS = [
    ('"speed" * 2 + "flow"', pa.float64()),
    ('"segment" / 2', pa.int32()),
    ('"flow" % 7', pa.int32()),
    ("\"sensor\" || '!'", pa.string()),
    ('upper("sensor")', pa.string()),
    ('coalesce("segment", 9)', pa.int32()),
    ('"height" > 0', pa.bool_()),
    ('"wet" AND "segment" > 0', pa.bool_()),
    ('CASE WHEN "wet" THEN "speed" ELSE 0 END', pa.float64()),
    ("date_trunc('second', \"ts\")", pa.timestamp("us")),
]
PREDICATES = ['"speed" < 10', '"wet"', "\"sensor\" IN ('a', 'ab')", '"height" IS NULL', '"segment" BETWEEN 0 AND 1']


def derive(*columns, where=None):
    named = [(f"c{place}", Expression(sql, type_)) for place, (sql, type_) in enumerate(columns)]
    return Derive(named, Expression(where, pa.bool_()) if where else None)


def texts(*values):
    return pa.record_batch({"text": pa.array(values, pa.string())})


@given(readings(unusual=True), st.none() | st.sampled_from(PREDICATES))
def test_expressions_give_what_duckdb_gives(batch, where):
    found = derive(*EXPRESSIONS, where=where).transition(batch)
    with duckdb.connect(config={"integer_division": True}) as connection:
        connection.register("batch", pa.Table.from_batches([batch]))
        expected = connection.sql(
            f"SELECT {', '.join(sql for sql, _ in EXPRESSIONS)} FROM batch WHERE {where or 'true'}"
        )
        assert repr(list(zip(*found.to_pydict().values(), strict=True))) == repr(expected.fetchall())


@given(readings(), st.sampled_from(EXPRESSIONS))
def test_batches_have_the_declared_schema(batch, expression):
    operator = derive(expression)
    assert operator.transition(batch).schema == operator.schema


@pytest.mark.parametrize(
    ("sql", "type_", "good", "bad"),
    [
        ('CAST("text" AS INTEGER)', pa.int32(), "1", "one"),
        ('CAST("text" AS INTEGER)', pa.int32(), "1", "3000000000"),
        ('CAST("text" AS DOUBLE)', pa.float64(), "1.5", ""),
        ('CAST("text" AS TIMESTAMP)', pa.timestamp("us"), "2000-01-01", "2000-13-01"),
        ("strptime(\"text\", '%Y')", pa.timestamp("us"), "2000", "x"),
        ('CAST("text" AS SMALLINT) * CAST(30000 AS SMALLINT)', pa.int16(), "1", "2"),
        ("regexp_matches('a', \"text\")", pa.bool_(), "a", "("),
        ("json_extract(\"text\", '$.a')", pa.string(), "{}", "{"),
        ("timezone(\"text\", TIMESTAMP '2000-01-01')", pa.timestamp("us", "UTC"), "Europe/Oslo", "nowhere"),
        ("'a' LIKE 'a' ESCAPE \"text\"", pa.bool_(), "x", "xx"),
        ('CAST("text" AS INTEGER) + CAST("text" AS INTEGER)', pa.int32(), "1", "one"),
        ("list_reduce(string_split_regex(\"text\", '')[2:], lambda a, b: a || b)", pa.string(), "abc", "a"),
    ],
)
def test_row_on_which_an_expression_fails_is_null_and_no_other(sql, type_, good, bad):
    alone = derive((sql, type_)).transition(texts(good, good)).column(0).to_pylist()
    found = derive((sql, type_), ('"text"', pa.string())).transition(texts(good, bad, good, None))
    assert found.column(0).to_pylist() == [alone[0], None, alone[1], None]
    assert found.column(1).to_pylist() == [good, bad, good, None]


def test_division_by_zero_is_null():
    batch = pa.record_batch({"x": pa.array([4, 0], pa.int32())})
    assert derive(("8 / x", pa.int32())).transition(batch).to_pydict() == {"c0": [2, None]}


def test_predicate_that_fails_does_not_hold():
    found = derive(('"text"', pa.string()), where='CAST("text" AS INTEGER) > 1').transition(texts("1", "one", "2"))
    assert found.to_pydict() == {"c0": ["2"]}


def test_error_that_duckdb_cannot_try_costs_one_row_alone():
    zone = ("timezone(\"text\", TIMESTAMP '2000-01-01')", pa.timestamp("us", "UTC"))
    operator = derive(zone, ('"text"', pa.string()), where="timezone(\"text\", TIMESTAMP '2000-01-01') IS NOT NULL")
    found = operator.transition(texts(*["UTC"] * 9, "nowhere", *["UTC"] * 9))
    assert found.column(1).to_pylist() == ["UTC"] * 18


def test_predicate_that_is_null_does_not_hold():
    assert derive(('"text"', pa.string()), where="\"text\" <> 'a'").transition(texts(None, "b")).num_rows == 1


def test_bare_columns_are_not_copied():
    batch = batch_of([{"ts": 0, "speed": 1.0}])
    found = Derive([("v", Expression.of("speed", pa.float64()))]).transition(batch)
    assert found.column("v").buffers()[1].address == batch.column("speed").buffers()[1].address


def test_empty_batch_gives_an_empty_batch():
    operator = derive(*EXPRESSIONS, where="wet")
    assert operator.transition(batch_of([])).schema == operator.schema


def test_columns_whose_names_need_quotes_are_found():
    batch = pa.record_batch({'a "b"': [1]})
    assert Derive([("x y", Expression.of('a "b"', pa.int64()))]).transition(batch).to_pydict() == {"x y": [1]}


def test_evaluator_reads_no_files(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(duckdb.PermissionException):
        open_duckdb().sql(f"SELECT * FROM read_csv('{tmp_path}/a.csv')")


def test_evaluator_cannot_be_unlocked():
    with pytest.raises(duckdb.InvalidInputException):
        open_duckdb().execute("SET enable_external_access = true")


def test_each_thread_has_its_own_evaluator():
    found = []
    thread = threading.Thread(target=lambda: found.append(open_duckdb()))
    thread.start()
    thread.join()
    assert found[0] is not open_duckdb()
    assert open_duckdb() is open_duckdb()


def test_schema_of_readings_is_understood():
    operator = Derive([(field.name, Expression(f'"{field.name}"', field.type)) for field in SCHEMA])
    batch = batch_of([{"ts": 0, "sensor": "a", "wet": True}])
    assert operator.transition(batch) == batch
