"""Sequences against their twin over the same rows at once, and the laws of operators."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import LimitError
from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators import sequences
from skerry.operators.sequences import Sequences
from skerry.plan.pattern import Chain, Choice, End, Repeat, Symbol, is_bounded, is_nullable
from skerry.plan.project import Project
from skerry.plan.sequences import ANY, Comparison, Measure, Previous
from skerry.plan.sequences import Sequences as Node
from skerry.testing import laws
from tests.oracles.sequences import find_matches

SCHEMA = pa.schema({"k": pa.int64(), "ts": TIMESTAMP, "v": pa.int64()})
ROWS = Project(None, tuple((field.name, Expression.of(field.name, field.type)) for field in SCHEMA))
CONDITIONS = ['"v" = 0', '"v" > 0', '"v" <> 1 AND ("#prev" IS NULL OR "#prev" <= "v")', None]
"""Of the symbols; some rows are several, and all are the last."""
RISES = Comparison(1, ">", "v", "v", 0)
NAMES = ("a", "b", "c", "d")


def make_node(pattern, span=None, *, comparisons=(), skips_to_next=False):
    derived = [(f"is{n}", Expression(sql, pa.bool_())) for n, sql in enumerate(CONDITIONS) if sql]
    derived += [(name, Expression.of(name, SCHEMA.field(name).type)) for name in ("ts", "v")]
    measures = (
        Measure("first", "first", ANY, "ts", TIMESTAMP),
        Measure("last", "last", ANY, "ts", TIMESTAMP),
        Measure("last_b", "last", 1, "v", pa.int64()),
        Measure("n", "count", ANY, None, pa.int64()),
        Measure("sum_b", "sum", 1, "v", pa.int64()),
        Measure("who", "symbol", ANY, None, pa.string()),
    )
    conditions = tuple(f"is{number}" if sql else None for number, sql in enumerate(CONDITIONS))
    previous = (Previous("#prev", "v", 1),)
    span = None if span is None else Micros(span)
    return Node(
        *(ROWS, "ts", ("k",), NAMES, pattern, "A B", conditions, comparisons, previous, tuple(derived), measures),
        *(span, skips_to_next),
    )


def ask_twin(node, rows):
    """The answers, partition by partition, row by row."""
    found = Counter()
    for key in {row["k"] for row in rows}:
        own = sorted((row for row in rows if row["k"] == key), key=lambda row: (row["ts"], row["v"]))

        def holds(symbol, at, path, own=own):
            value, before = own[at]["v"], own[at - 1]["v"] if at else None
            asked = [value == 0, value > 0, value != 1 and (before is None or before <= value), True][symbol]
            others = [own[row]["v"] for row, each in path if each == 0]
            return asked and not (node.comparisons and symbol == 1 and not (others and value > others[-1]))

        times = [row["ts"] for row in own]
        for path in find_matches(node.pattern, times, holds, node.span_us, skips_to_next=node.skips_to_next):
            of_b = [own[row]["v"] for row, symbol in path if symbol == 1]
            ends = (times[path[0][0]], times[path[-1][0]])
            last_b, total = (of_b[-1], sum(of_b)) if of_b else (None, None)
            found[key, *ends, last_b, len(path), total, NAMES[path[-1][1]]] += 1
    return found


def run(node, steps):
    operator, found = Sequences(node), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        answers = operator.advance(watermark)
        columns = [column.cast(pa.int64()) if column.type == TIMESTAMP else column for column in answers.columns]
        found += Counter(zip(*(column.to_pylist() for column in columns), strict=True))
    return found


def batch_of(rows):
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


symbols = st.integers(0, 3).map(Symbol)


def compose(parts):
    counts = st.sampled_from([(0, None), (1, None), (0, 1), (2, 3), (0, 2)])
    solid = parts.filter(lambda part: not is_nullable(part))
    repeats = st.tuples(solid, counts, st.booleans()).map(lambda drawn: Repeat(drawn[0], *drawn[1], drawn[2]))
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return repeats | several.map(Chain) | several.map(Choice)


patterns = st.recursive(symbols, compose, max_leaves=5).filter(lambda pattern: not is_nullable(pattern))


@st.composite
def steps(draw):
    """Batches with watermarks, no row behind the one before it."""
    found, newest = [], 0
    for _ in range(draw(st.integers(1, 3))):
        row = st.fixed_dictionaries({"k": st.integers(0, 1), "ts": st.integers(newest, 40), "v": st.integers(0, 3)})
        batch = batch_of(draw(st.lists(row, max_size=8)))
        newest = draw(st.integers(newest, 40))
        found.append((batch, Micros(newest)))
    return found


@st.composite
def nodes(draw):
    pattern = draw(patterns)
    span = draw(st.integers(1, 30)) if not is_bounded(pattern) else draw(st.none() | st.integers(1, 30))
    if span is not None and draw(st.booleans()):
        pattern = Chain((pattern, End()))
    comparisons = draw(st.sampled_from([(), (RISES,)]))
    return make_node(pattern, span, comparisons=comparisons, skips_to_next=draw(st.booleans()))


def list_rows(given_steps):
    names = SCHEMA.names
    columns = [[batch.column(name).cast(pa.int64()).to_pylist() for name in names] for batch, _ in given_steps]
    return [dict(zip(names, row, strict=True)) for batch in columns for row in zip(*batch, strict=True)]


@settings(max_examples=120)
@given(node=nodes(), given_steps=steps())
def test_sequences_agree_with_their_twin(node, given_steps):
    assert run(node, given_steps) == ask_twin(node, list_rows(given_steps))


@pytest.mark.soak
@pytest.mark.timeout(600)
@settings(max_examples=10_000)
@given(node=nodes(), given_steps=steps())
def test_sequences_agree_with_their_twin_often(node, given_steps):
    assert run(node, given_steps) == ask_twin(node, list_rows(given_steps))


@settings(max_examples=25)
@given(node=nodes(), given_steps=steps())
def test_sequences_keep_the_laws(node, given_steps):
    laws.check_laws(lambda: Sequences(node), given_steps, time="ts")
    laws.other_buckets_change_nothing(lambda: Sequences(node), given_steps, keys=["k"])


def test_match_is_given_as_soon_as_nothing_can_change_it():
    first = batch_of([{"k": 1, "ts": 1, "v": 0}, {"k": 1, "ts": 2, "v": 1}])
    operator = Sequences(make_node(Chain((Symbol(0), Symbol(1))), 100))
    operator.transition(first)
    assert operator.advance(Micros(3)).num_rows == 1
    greedy = Sequences(make_node(Chain((Symbol(0), Repeat(Symbol(1), 1, None))), 100))
    greedy.transition(first)
    assert greedy.advance(Micros(101)).num_rows == 0
    assert greedy.advance(Micros(102)).num_rows == 1


def test_search_without_an_end_is_broken_off(monkeypatch):
    monkeypatch.setattr(sequences, "MOST_STEPS", 5)
    operator = Sequences(make_node(Chain((Repeat(Symbol(3), 0, None), Symbol(0))), 100))
    operator.transition(batch_of([{"k": 1, "ts": at, "v": 1} for at in range(9)]))
    with pytest.raises(LimitError, match="more than 5 steps"):
        operator.advance(END_OF_TIME)
