"""Subscriptions that are taken up together are answered as if they had come one by one."""

import json
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Source, Subscription, SubscriptionChange
from skerry.database import connect
from skerry.errors import SkerryError
from skerry.index import alike_regions
from skerry.model.duckdb_session import open_duckdb
from skerry.subscriptions import registry as registry_module
from skerry.subscriptions.file import read_subscriptions
from skerry.subscriptions.registry import Registry
from tests.index.predicates import CONSTANTS, SCHEMA, SPECIAL, batches, leaves

STREAM = Source("road", SCHEMA, "file")
QUOTED = ["'it''s'", "'a--b'", "'é#'", "''", "'a\0'", "'ab'", "'abcdefghi'", "'%ab%'"]
FORMS = [
    *("i = {i} AND d < {d}", "d BETWEEN {d} AND {d} AND s = {s}", "NOT (d >= {d} OR s <> {s})", "i > {i} and I<{i}"),
    *("s IN ({s}, {s}, {s}) AND i <> {i}", "s NOT IN ({s}, {s}) OR i IN ({i},{i})", "i NOT IN ({i}, {i}, NULL)"),
    *(
        "i = {i} AND (d < {d} OR d > {d})",
        "s = {s} AND d < {d} OR s = {s} AND i = {i}",
        "  D*{d}\t> {d} AND s LIKE {s}",
    ),
    *(
        "s LIKE '%' || {s} AND i >= -{i}",
        "s LIKE '%abc{i}%'",
        "d + i > {d} AND s = {s}",
        "abs(d - i) > {d}",
        "b IS NULL",
    ),
    *(
        "i IS NULL AND s >= {s}",
        "l = {i} AND i IS NOT DISTINCT FROM NULL",
        "d > {d} AND i % 2 = {i}",
        "length(s) = {i}",
    ),
    *("NOT b AND d = {d}", "upper(s) = {s} AND i > {i}", "CAST(s AS INT) = {i}", "f >= {d} OR t < '2023-11-1{i}'"),
    *(
        "gone = {i}",
        "i < {i} AND",
        "s = {s} AND x.i = {i}",
        "i = {i} -- {s}",
        'd > {d} AND "i" = {i}',
        "starts_with(s, {s})",
    ),
    *(
        "i = {i} AND i = {i}",
        "i BETWEEN {i} AND {i}",
        "l > 9223372036854775807 AND i = {i}",
        "TRUE",
        "NULL OR i = {i}",
        "i * {d} > l AND l >= {i}",
    ),
]
numbers = st.sampled_from(["0", "1", "2", "3"])
fills = st.fixed_dictionaries(
    {
        "i": numbers,
        "d": numbers | st.sampled_from(["0.5", "1.5", "0.1", "1e0", "0.91872404479905485"]),
        "s": st.sampled_from(QUOTED + CONSTANTS["s"][:6]),
    }
)


@st.composite
def texts(draw):
    """Predicates: many of few forms, and some that share no form."""
    forms = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=4))
    found = []
    for form in forms:
        parts = form.replace("{", "\0{").split("\0")
        count = draw(st.integers(1, 14))
        for _ in range(count):
            found.append("".join(part.format(**draw(fills)) for part in parts))
    found += draw(st.lists(leaves(), max_size=3))
    return draw(st.permutations(found))


def matches(registry, batch):
    found = registry.matches("road", batch).get("subscriptions")
    return (
        sorted(zip(*(found.column(name).to_pylist() for name in ("id", "l", "s")), strict=True), key=repr)
        if found
        else []
    )


def take_up(texts, *, together):
    registry = Registry([STREAM])
    changes = [SubscriptionChange(n + 1, Subscription(f"q{n}", "road", text)) for n, text in enumerate(texts)]
    for some in [changes] if together else [[change] for change in changes]:
        registry.change(some)
    return registry


@pytest.fixture(autouse=True)
def _together_if_few(monkeypatch):
    monkeypatch.setattr(registry_module, "_FEWEST_TOGETHER", 2)
    monkeypatch.setattr(alike_regions, "_FEWEST", 2)


@settings(max_examples=15)
@given(texts=texts(), batch=batches())
def test_many_are_answered_as_if_they_had_come_one_by_one(texts, batch):
    one, other = take_up(texts, together=False), take_up(texts, together=True)
    assert len(other) == len(one)
    assert other.version == one.version
    assert matches(other, batch) == matches(one, batch)
    again = Registry.restore(other.save(), [STREAM])
    for registry in (one, other, again):
        registry.change(
            [SubscriptionChange(900, Subscription(f"q{n}", "road", text), True) for n, text in enumerate(texts[::2])]
        )
    assert matches(other, batch) == matches(again, batch) == matches(one, batch)


def test_every_form_is_answered_as_if_its_predicates_had_come_one_by_one():
    random = Random(5)
    drawn = {"i": list("0123"), "d": ["0", "1", "2", "0.5", "1.5", "0.25", "1e0"], "s": QUOTED + CONSTANTS["s"][:6]}
    parts = [form.replace("{", "\0{").split("\0") for form in FORMS for _ in range(25)]
    texts = ["".join(part.format(**{k: random.choice(v) for k, v in drawn.items()}) for part in some) for some in parts]
    columns = [[random.choice([None, *SPECIAL[field.name]]) for _ in range(60)] for field in SCHEMA]
    batch = pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
    found = [matches(take_up(texts, together=together), batch) for together in (False, True)]
    assert found[0] == found[1]
    assert len({name for name, *_ in found[0]}) > len(texts) / 2


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    "form",
    [
        "upper(s) <> 'X' AND i IN ({i}, {j})",
        "i + 1 > 0 AND i NOT IN ({i}, {j})",
        "i IN ({i}, {j}) OR upper(s) IN ('B', 'C')",
        "i % 5 IN ({i}, {j})",
    ],
)
def test_lists_beside_expressions_keep_their_own_constants(form, together):
    texts = [form.format(i=first, j=first + 2) for first in range(5)] * 3
    batch = pa.RecordBatch.from_pylist([{"l": n, "i": n, "s": "abc"[n % 3]} for n in range(8)], SCHEMA)
    connection = open_duckdb()
    connection.register("batch", pa.Table.from_batches([batch]))
    found = [connection.sql(f"SELECT 'q{n}', l, s FROM batch WHERE {text}").fetchall() for n, text in enumerate(texts)]
    connection.unregister("batch")
    expected = sorted([row for rows in found for row in rows], key=repr)
    assert matches(take_up(texts, together=together), batch) == expected


def test_predicates_of_one_form_may_all_have_to_be_read_alone():
    texts = ["length(s) <= 1 AND i IN (1, 1)", "length(s) <= 1 AND i IN (1, 3)"]
    batch = pa.RecordBatch.from_pylist([{"l": 0, "i": 1, "s": "b"}, {"l": 1, "i": 3, "s": "b"}], SCHEMA)
    expected = [("q0", 0, "b"), ("q1", 0, "b"), ("q1", 1, "b")]
    assert matches(take_up(texts, together=True), batch) == expected


def try_entering(path, *, together):
    """What is in the catalogue then, or the error."""
    database = connect()
    columns = "i INT, l BIGINT, d DOUBLE, f REAL, t TIMESTAMP, b BOOLEAN, s VARCHAR"
    database.execute(f"CREATE SOURCE road ({columns}) WITH (connector='file', path='none-*.csv')")
    try:
        found = read_subscriptions(path)
        for some in [found] if together else [[each] for each in found]:
            database.subscribe(some)
    except SkerryError as error:
        return str(error)
    return [(each.id, each.predicate) for each in database.catalog.subscriptions.all()]


WRONG = [
    '{"id": "x", "stream": "road"}',
    '{"id": "x", "stream": "rode", "predicate": "i = 1"}',
    "[]",
    "{",
    '{"id": []}',
]


@settings(max_examples=10)
@given(texts=texts(), wrong=st.lists(st.tuples(st.integers(0, 40), st.sampled_from(WRONG)), max_size=2))
def test_wrong_line_is_told_as_if_all_had_come_one_by_one(texts, wrong, tmp_path_factory):
    lines = [json.dumps({"id": f"q{n}", "stream": "road", "predicate": text}) for n, text in enumerate(texts)]
    for number, line in wrong:
        lines.insert(number, line)
    path = tmp_path_factory.mktemp("lines") / "subscriptions.jsonl"
    path.write_text("\n".join(lines))
    assert try_entering(path, together=True) == try_entering(path, together=False)
