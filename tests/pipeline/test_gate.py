from itertools import accumulate, pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.catalog import Source
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.pipeline.gate import Gate
from skerry.pipeline.outcome import Tally
from skerry.pipeline.watermark import watermark
from tests.oracles.gate import in_order, out_of_order

SCHEMA = pa.schema({"ts": TIMESTAMP, "row": pa.int64()})

moments = st.lists(st.integers(-30, 30) | st.sampled_from([-(2**61), 2**61]), max_size=30)
newests = st.just(START_OF_TIME) | st.integers(-30, 30).map(Micros)
cuts = st.lists(st.integers(0, 30), max_size=3)
delays = st.none() | st.integers(0, 20).map(Micros)
counts = st.integers(0, 2**40)
tallies = st.builds(Tally, counts, counts, counts)


def source(delay_us: Micros | None, event_time: str | None = "ts") -> Source:
    return Source("s", SCHEMA, "given", event_time=event_time, delay_us=delay_us)


def batch(times: list[int], first: int = 0) -> pa.RecordBatch:
    columns = [pa.array(times, TIMESTAMP), pa.array(range(first, first + len(times)), pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def admitted(gate: Gate, pieces: list[list[int]]) -> tuple[list[int], list[int]]:
    """The rows let through and the late ones, of batches that pass a gate one after the other."""
    ends = [0, *accumulate(map(len, pieces))]
    told = [gate.admit(batch(times, first)) for times, first in zip(pieces, ends, strict=False)]
    accepted, late = ([row for part in side for row in part["row"].to_pylist()] for side in zip(*told, strict=True))
    return accepted, late


def split_at(rows: list[int], places: list[int]) -> list[list[int]]:
    bounds = [0, *sorted(place % (len(rows) + 1) for place in places), len(rows)]
    return [rows[start:stop] for start, stop in pairwise(bounds)]


@pytest.mark.parametrize(("ordered", "twin"), [(True, in_order), (False, out_of_order)])
@given(times=moments, newest=newests, delay=delays, places=cuts)
def test_gate_agrees_with_one_reading_at_a_time(ordered, twin, times, newest, delay, places):
    gate = Gate(source(delay), newest, ordered=ordered)
    accepted, late = admitted(gate, split_at(times, places))
    marks, newest_after = twin(times, newest, delay)
    assert accepted == [row for row, mark in enumerate(marks) if not mark]
    assert late == [row for row, mark in enumerate(marks) if mark]
    assert gate.newest == newest_after


@given(times=moments, delay=st.integers(0, 20))
def test_disorder_within_the_delay_makes_nothing_late(times, delay):
    within = [max(moment, newest - delay) for moment, newest in zip(times, accumulate(times, max), strict=True)]
    accepted, late = admitted(Gate(source(Micros(delay)), START_OF_TIME), [within])
    assert (accepted, late) == (list(range(len(times))), [])


def test_reading_on_the_watermark_is_in_time():
    gate = Gate(source(Micros(5)), Micros(10))
    accepted, late = admitted(gate, [[5, 4]])
    assert (accepted, late) == ([0], [1])


def test_late_reading_stays_whole():
    gate = Gate(source(Micros(0)), Micros(10))
    _, late = gate.admit(batch([9], first=7))
    assert late.equals(batch([9], first=7))


def test_late_reading_does_not_move_the_newest_moment():
    gate = Gate(source(Micros(0)), Micros(10))
    gate.admit(batch([9]))
    assert gate.newest == 10


def test_without_a_declared_watermark_nothing_is_late():
    undeclared = source(None, event_time=None)
    accepted, late = admitted(Gate(undeclared, START_OF_TIME), [[10, -10], [2**61, 0]])
    assert (accepted, late) == ([0, 1, 2, 3], [])


@pytest.mark.parametrize("ordered", [True, False])
def test_what_passes_whole_is_not_copied(ordered):
    given_batch = batch([1, 2, 3])
    accepted, late = Gate(source(Micros(0)), START_OF_TIME, ordered=ordered).admit(given_batch)
    assert accepted is given_batch
    assert late.num_rows == 0
    assert late.schema == SCHEMA


@given(first=tallies, second=tallies)
def test_tallies_add_up_part_by_part(first, second):
    both = first + second
    assert both.accepted == first.accepted + second.accepted
    assert both.late == first.late + second.late
    assert both.rejected == first.rejected + second.rejected


@given(tally=tallies)
def test_what_was_read_is_accepted_or_late_or_rejected(tally):
    assert tally.read == tally.accepted + tally.late + tally.rejected


@given(tally=tallies)
def test_an_empty_tally_adds_nothing(tally):
    assert tally + Tally() == Tally() + tally == tally


def test_watermark_is_the_newest_moment_less_the_delay():
    assert watermark(source(Micros(5)), Micros(12)) == 7


def test_watermark_stays_at_the_start_until_a_reading_comes():
    assert watermark(source(Micros(5)), START_OF_TIME) == START_OF_TIME


def test_watermark_without_a_declaration_waits_for_the_end():
    assert watermark(source(None), Micros(12)) == START_OF_TIME


@pytest.mark.parametrize("delay", [None, Micros(5)])
def test_watermark_goes_to_the_end_when_the_input_does(delay):
    assert watermark(source(delay), END_OF_TIME) == END_OF_TIME
