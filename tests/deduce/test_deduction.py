"""Rules over streams: the operator's laws, and the model of the windows' contents at each tick."""

from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.deduction import Deduction
from skerry.deduce.engine import Engine
from skerry.lang.rules import read
from skerry.model.time import END_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.plan.facts import Facts
from skerry.testing import laws
from skerry.testing.reference_rules import Reference

PROGRAM = """
base link(a: int, b: int, t: time) time t window 6 us.
output path mode {mode}.
path(a, b) :- link(a, b, _).
path(a, c) :- path(a, b), link(b, c, _).
lone(a) :- link(a, _, _), NOT path(a, a).
"""
SLIDE = 3
SCHEMA = pa.schema({"a": pa.int64(), "b": pa.int64(), "t": TIMESTAMP})
links = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-5, 25)), max_size=12)


@cache
def check_program(mode):
    return check(read(PROGRAM.format(mode=mode)))


def deduction(predicate="path", mode="changes"):
    program = check_program(mode)
    facts = Facts("link", SCHEMA, ("a", "b", "t"), "t", 6)
    return Deduction([facts], Engine(program, Builtins({}), 1_000_000), predicate, mode, SLIDE)


def batch(rows):
    columns = [pa.array([row[index] for row in rows], field.type) for index, field in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def models(rows, predicate):
    """What holds at each tick, found anew from the facts in the window."""
    ticks = range(-6, 40, SLIDE)
    for now in ticks:
        held = [row for row in rows if -(-row[2] // SLIDE) * SLIDE <= now <= row[2] + 6]
        reference = Reference(check_program("changes"), Builtins({}), 1_000_000)
        reference.tick(None, {"link": held}, {})
        yield now, {row[:2] for row in reference.rows(predicate)}


def expect_changes(rows, predicate):
    """The changes from tick to tick."""
    before, found = set(), []
    for now, after in models(rows, predicate):
        found += [(now, "-", *row) for row in before - after] + [(now, "+", *row) for row in after - before]
        before = after
    return sorted(found)


def run(operator, steps):
    given = [*(operator.transition(rows) for rows, _ in steps)]
    assert all(each.num_rows == 0 for each in given)
    rows = operator.advance(END_OF_TIME)
    columns = [rows.column(0).cast(pa.int64()).to_pylist(), *(column.to_pylist() for column in rows.columns[1:])]
    return sorted(zip(*columns, strict=True))


@settings(max_examples=15)
@given(links)
@pytest.mark.parametrize("predicate", ["path", "lone"])
def test_changes_are_those_of_the_windows_contents(predicate, rows):
    assert run(deduction(predicate), [(batch(rows), Micros(0))]) == expect_changes(rows, predicate)


@settings(max_examples=6)
@given(links)
@pytest.mark.parametrize("mode", ["changes", "inserts", "snapshot"])
def test_rules_over_a_stream_keep_the_laws(mode, rows):
    ordered = sorted(rows, key=lambda row: row[2])
    steps = [(batch([row]), Micros(row[2] - 4)) for row in ordered]
    laws.check_laws(lambda: deduction(mode=mode), steps, time="t")


LOCAL = """
base link(a: int, b: int, t: time) time t window 6 us.
output fork mode changes.
fork(a, b, c) :- link(a, b, _), link(a, c, _), b < c.
"""


@settings(max_examples=15)
@given(links)
def test_rules_of_one_host_are_spread_anew_over_other_buckets(rows):
    facts = Facts("link", SCHEMA, ("a", "b", "t"), "t", 6)
    program = check(read(LOCAL))
    make = lambda: Deduction([facts], Engine(program, Builtins({}), 1_000_000), "fork", "changes", SLIDE)  # noqa: E731
    steps = [(batch([row]), Micros(row[2] - 4)) for row in sorted(rows, key=lambda row: row[2])]
    laws.other_buckets_change_nothing(make, steps, keys=["a"])


def test_a_snapshot_tells_all_that_holds_when_something_changed():
    rows = run(deduction(mode="snapshot"), [(batch([(0, 1, 0), (1, 2, 3)]), Micros(0))])
    assert [row for row in rows if row[0] == 3] == [(3, "+", 0, 1), (3, "+", 0, 2), (3, "+", 1, 2)]


def test_a_fact_without_a_time_that_comes_late_counts_from_the_next_tick():
    program = check(
        read("base name(a: int). base link(a: int, t: time) time t window 6 us. named(a) :- name(a), link(a, _).")
    )
    table, stream = pa.schema({"a": pa.int64()}), pa.schema({"a": pa.int64(), "t": TIMESTAMP})
    facts = [Facts("name", table, ("a",), None, None), Facts("link", stream, ("a", "t"), "t", 6)]
    operator = Deduction(facts, Engine(program, Builtins({}), 1_000_000), "named", "inserts", SLIDE)
    operator.transition(pa.record_batch([pa.array([1, 2]), pa.array([0, 0], TIMESTAMP)], schema=stream), 1)
    operator.transition(pa.record_batch([pa.array([1])], schema=table), 0)
    assert operator.advance(Micros(1)).column("a").to_pylist() == [1]
    operator.transition(pa.record_batch([pa.array([2])], schema=table), 0)
    assert operator.advance(Micros(5)).column("a").to_pylist() == [2]
