from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import LimitError, OptionError
from skerry.model.batch import join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.joins.make_technique import TECHNIQUES
from skerry.operators.joins.spilling_join import SpillingJoin
from skerry.operators.operator import Operator
from skerry.testing import laws
from skerry.testing.memory_spill import MemorySpill
from tests import oracles
from tests.operators.joins.test_multi_join import SCHEMA, batch_of, readings, rows_of, side, tuples_of

techniques = pytest.mark.parametrize("technique", sorted(TECHNIQUES))
few = settings(max_examples=12)
windows = st.lists(st.integers(0, 6) | st.just(2**62), min_size=2, max_size=4)
budgets = st.integers(1, 20)
END = (batch_of([], SCHEMA.append(pa.field("stream", pa.int64()))), END_OF_TIME)


class Streams(Operator):
    """A join with a small memory whose streams come in one batch, distinguished by a column."""

    def __init__(self, windows, memory_rows, technique="snjoin", keys=("tag",), limit=10**6):
        sides = [side(f"s{stream}", keys, span_us=span) for stream, span in enumerate(windows)]
        self.spill = MemorySpill()
        self.join = SpillingJoin(sides, self.spill, memory_rows, technique, limit)
        self.schema, self._stream_count, self._memory_rows = self.join.schema, len(windows), memory_rows
        self.changes, self.snapshot, self.restore = self.join.changes, self.join.snapshot, self.join.restore

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % self._stream_count
        parts = [batch.filter(pa.array(streams == stream)) for stream in range(self._stream_count)]
        found = [self.join.transition(part.select(SCHEMA.names), stream) for stream, part in enumerate(parts)]
        assert self.join.memory_count <= self._memory_rows
        return join(found, self.schema)

    def advance(self, watermark):
        found = self.join.advance(watermark)
        assert self.join.memory_count <= self._memory_rows
        return found


@st.composite
def steps(draw, readings=readings):
    """Batches with watermarks that rise slowly, some empty; rows are up to 8 ahead of the one before, and numbered."""
    found, newest, count = [], START_OF_TIME, 0
    for watermark in np.cumsum(draw(st.lists(st.integers(0, 3), min_size=1, max_size=8))).tolist():
        rows = [row | {"ts": max(newest, 0) + row["ts"] % 9} for row in draw(st.lists(readings, max_size=4))]
        numbered = [row | {"row": count + index} for index, row in enumerate(rows)]
        count, newest = count + len(rows), Micros(watermark)
        found.append((batch_of(numbered, SCHEMA.append(pa.field("stream", pa.int64()))), newest))
    return found


one_key = st.fixed_dictionaries({"stream": st.integers(0, 3), "ts": st.integers(0, 8), "tag": st.integers(0, 1)})


def run(operator, steps):
    return [
        answer for batch, watermark in steps for answer in (operator.transition(batch), operator.advance(watermark))
    ]


def expect(steps, windows, keys=("tag",)):
    return oracles.combinations(list(tuples_of(steps, windows, keys)), len(windows))


@techniques
@settings(max_examples=100)
@given(steps=steps(one_key), windows=windows, memory_rows=budgets)
def test_answers_agree_with_nested_loops_in_the_end(technique, steps, windows, memory_rows):
    found = run(Streams(windows, memory_rows, technique), [*steps, END])
    assert rows_of(found, len(windows)) == expect(steps, windows)


@pytest.mark.parametrize("keys", [("tag",), ("name",), ("height",), ("tag", "name")], ids="-".join)
@given(steps=steps(), windows=windows, memory_rows=budgets)
def test_any_key_can_be_spilled(keys, steps, windows, memory_rows):
    found = run(Streams(windows, memory_rows, keys=keys), [*steps, END])
    assert rows_of(found, len(windows)) == expect(steps, windows, keys)


@techniques
@few
@given(steps=steps(one_key), windows=windows, memory_rows=budgets)
def test_all_laws_are_kept(technique, steps, windows, memory_rows):
    laws.check_laws(lambda: Streams(windows, memory_rows, technique), steps, time="ts")


@techniques
@settings(max_examples=100)
@given(steps=steps(one_key), windows=windows, memory_rows=budgets)
def test_restored_join_gives_each_answer_in_the_same_step(technique, steps, windows, memory_rows):
    check_restored(lambda: Streams(windows, memory_rows, technique), [[step] for step in [*steps, END]])


@techniques
@pytest.mark.parametrize("seed", range(4))
def test_restored_join_gives_each_answer_in_the_same_step_of_a_long_run(technique, seed):
    random, steps = np.random.default_rng(seed), []
    for step in range(30):
        columns = {"ts": 3 * step + random.integers(0, 9, 20), "tag": random.integers(0, 5, 20)}
        rows = [{"ts": int(ts), "tag": int(tag)} for ts, tag in zip(*columns.values(), strict=True)]
        numbered = [each | {"row": 20 * step + at, "stream": at} for at, each in enumerate(rows)]
        steps.append((batch_of(numbered, SCHEMA.append(pa.field("stream", pa.int64()))), Micros(3 * step)))
    saves = [0, *np.flatnonzero(random.integers(0, 4, 30) == 0), 30]  # time passes between some saves: rows end
    groups = [steps[first:last] for first, last in pairwise(saves)]
    check_restored(lambda: Streams([5, 9], 20, technique), [*groups, [END]])


def check_restored(make, groups):
    operator, saved = make(), {}
    for steps in groups:
        other = make()
        other.restore(dict(saved))
        expected, found = (laws.rows_of(join(run(each, steps), operator.schema)) for each in (operator, other))
        assert found == expected
        laws.apply_changes(operator.changes(), saved)


@techniques
@few
@given(steps=steps(one_key), windows=windows, budgets=st.lists(budgets, min_size=2, max_size=2))
def test_join_goes_on_with_another_budget(technique, steps, windows, budgets):
    found, operator = [], Streams(windows, budgets[0], technique)
    for index, (batch, watermark) in enumerate([*steps, END]):
        found += [operator.transition(batch), operator.advance(watermark)]
        pages, operator = operator.snapshot(), Streams(windows, budgets[index % 2], technique)
        operator.restore(pages)
        assert operator.join.memory_count <= budgets[index % 2]
    assert rows_of(found, len(windows)) == expect(steps, windows)


@techniques
@given(steps=steps(one_key), windows=windows, memory_rows=budgets)
def test_nothing_is_left_at_the_end_of_time(technique, steps, windows, memory_rows):
    operator = Streams(windows, memory_rows, technique)
    run(operator, [*steps, END])
    assert (operator.spill.blobs, operator.join.memory_count) == ({}, 0)


def spilling(memory_rows, span_us=100, limit=10**6, technique="snjoin"):
    sides = [side(name, span_us=span_us) for name in ("s0", "s1")]
    return SpillingJoin(sides, MemorySpill(), memory_rows, technique, limit)


def came(*moments, tag=7):
    return batch_of([{"ts": moment, "tag": tag, "row": moment} for moment in moments])


def test_what_fits_is_joined_at_the_end_of_the_step():
    join = spilling(memory_rows=2)
    assert (join.transition(came(1), 0).num_rows, join.transition(came(2), 1).num_rows) == (0, 0)
    assert join.advance(START_OF_TIME).num_rows == 1
    assert join.spilled_bytes == 0


def test_what_left_memory_meets_what_came_later_when_nothing_comes():
    join = spilling(memory_rows=1)
    join.transition(came(1), 0)
    join.transition(came(2), 1)
    assert join.advance(START_OF_TIME).num_rows == 0
    assert rows_of([join.advance(START_OF_TIME)], 2) == [(1, 2)]
    assert join.advance(START_OF_TIME).num_rows == 0


def test_what_left_memory_meets_what_came_later_when_most_of_it_has_ended():
    join = spilling(memory_rows=1, span_us=10)
    join.transition(came(1), 0)
    join.transition(came(2), 1)
    assert join.advance(Micros(11)).num_rows == 0
    join.transition(came(12, tag=8), 1)
    assert join.advance(Micros(12)).num_rows == 1


def test_what_has_ended_in_memory_still_meets_what_is_on_disk():
    join = SpillingJoin([side("s0", span_us=100), side("s1", span_us=1)], MemorySpill(), memory_rows=1)
    join.transition(came(1), 0)
    join.transition(came(2), 1)
    assert join.advance(Micros(50)).num_rows == 0
    assert join.advance(END_OF_TIME).num_rows == 1


def test_one_partition_is_revisited_at_a_time_when_nothing_comes():
    join = spilling(memory_rows=1)
    for stream in (0, 1):
        for tag in range(4):
            join.transition(came(1, tag=tag), stream)
    join.advance(START_OF_TIME)
    found = [join.advance(START_OF_TIME).num_rows for _ in range(5)]
    assert (sum(found), found[0] < 4, found[-1]) == (4, True, 0)


def test_spilled_rows_and_bytes_are_counted():
    join = spilling(memory_rows=2)
    join.transition(came(1, 2, 3), 0)
    assert join.spilled_rows == 2
    assert join.spilled_bytes > 2 * 6 * 8


def test_file_is_saved_once_and_dropped_when_it_is_not_needed():
    join = spilling(memory_rows=1, span_us=10)
    join.transition(came(1, 2), 0)
    assert [name for name in join.changes().put if name.startswith("disk/")] == ["disk/0"]
    assert [name for name in join.changes().put if name.startswith("disk/")] == []
    join.advance(Micros(30))
    assert "disk/0" in join.changes().drop


def test_limit_holds_for_what_was_spilled():
    join = spilling(memory_rows=2, limit=3)
    join.transition(came(1, 2), 0)
    assert join.transition(came(3, 4), 1).num_rows == 0
    with pytest.raises(LimitError, match=r"tuples on disk make more combinations .* limit is 3"):
        join.advance(END_OF_TIME)


def test_limit_does_not_count_what_was_given_before():
    join, found = spilling(memory_rows=8, limit=32), []
    for moment in range(1, 17):
        found += [join.transition(came(moment), moment % 2), join.advance(START_OF_TIME)]
    found.append(join.advance(END_OF_TIME))
    assert [batch.num_rows for batch in found][-1] == 32
    assert rows_of(found, 2) == sorted((even, odd) for even in range(2, 17, 2) for odd in range(1, 17, 2))


def test_limit_holds_for_all_partitions_together():
    join = spilling(memory_rows=100, limit=3)
    for stream in (0, 1):
        for tag in range(4):
            join.transition(came(1, tag=tag), stream)
    with pytest.raises(LimitError, match="a step gives 4 combinations"):
        join.advance(START_OF_TIME)


@pytest.mark.parametrize(("memory_rows", "window"), [(0, {"span_us": 1}), (1, {"last_rows": 1})])
def test_join_that_cannot_spill_is_refused(memory_rows, window):
    with pytest.raises(OptionError, match="a join spills"):
        SpillingJoin([side("a", **window), side("b", **window)], MemorySpill(), memory_rows)
