import json
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Source
from skerry.model.batch import empty
from skerry.model.time import START_OF_TIME, Micros
from skerry.replay.replay import Replay
from skerry.sources.arrival import cut
from skerry.sources.source import REJECTS, Connector, Decoded, Lane

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "row": pa.int64()})


class ListLane(Lane):
    """Units that are lists of event times; the planner sees the first and the last of each."""

    def __init__(self, name, units, come=None):
        self.name, self.units, self.arrived = name, units, come

    def count(self):
        return len(self.units) if self.arrived is None else self.arrived

    def first(self, unit):
        return Micros(self.units[unit][0]) if self.units[unit] else START_OF_TIME

    def last(self, unit):
        return Micros(self.units[unit][-1]) if self.units[unit] else START_OF_TIME

    def weight(self, unit):
        return len(self.units[unit])


@dataclass(frozen=True)
class ListConnector(Connector):
    """Lanes in memory; a row is known by its place in its lane."""

    definition: Source
    by_name: dict[str, ListLane]
    live: bool = False

    def lanes(self):
        return list(self.by_name.values())

    def read(self, split):
        units = self.by_name[split.lane].units
        for unit in range(split.start, split.stop):
            first = sum(len(earlier) for earlier in units[:unit])
            rows = range(first, first + len(units[unit]))
            batch = pa.RecordBatch.from_arrays(
                [pa.array(units[unit], SCHEMA[0].type), pa.array(rows, pa.int64())], schema=SCHEMA
            )
            after = split.after if unit == split.start else None
            until = split.until if unit == split.stop - 1 else None
            yield Decoded(cut(batch, "ts", after, until), empty(REJECTS))


def connector(name, lanes, live=False):
    named = {f"{name}{place}": ListLane(f"{name}{place}", units) for place, units in enumerate(lanes)}
    return ListConnector(Source(name, SCHEMA, "list", event_time="ts"), named, live)


def replayed(connectors, step_rows):
    """Go on to the end; give the positions passed, and for each step the rows that each lane handed over."""
    plan = Replay(connectors, step_rows)
    positions, steps = [plan.start()], []
    while not positions[-1]["done"]:
        positions.append(json.loads(json.dumps(plan.next(positions[-1]))))
        steps.append(handed_over(connectors, plan.splits(*positions[-2:])))
    return positions, steps


def handed_over(connectors, splits):
    by_name = {found.definition.name: found for found in connectors}
    return {
        split.lane: [row for unit in by_name[split.source].read(split) for row in unit.readings["row"].to_pylist()]
        for split in splits
    }


def rows_of(steps, lane):
    return [row for step in steps for row in step.get(lane.name, [])]


disordered = st.lists(st.lists(st.integers(-20, 60), max_size=5), max_size=5)
sources = st.lists(st.lists(disordered, max_size=3), min_size=1, max_size=3)
step_sizes = st.integers(1, 40)


@settings(max_examples=300, deadline=None)
@given(lanes=sources, step_rows=step_sizes)
def test_every_row_comes_once_and_in_stored_order(lanes, step_rows):
    connectors = [connector(chr(97 + place), found) for place, found in enumerate(lanes)]
    _, steps = replayed(connectors, step_rows)
    for lane in (lane for found in connectors for lane in found.lanes()):
        assert rows_of(steps, lane) == list(range(sum(len(unit) for unit in lane.units)))


@settings(max_examples=100, deadline=None)
@given(lanes=sources, step_rows=step_sizes)
def test_a_step_is_planned_again_in_the_same_way(lanes, step_rows):
    connectors = [connector(chr(97 + place), found) for place, found in enumerate(lanes)]
    positions, steps = replayed(connectors, step_rows)
    for before, after, step in zip(positions, positions[1:], steps, strict=False):
        plan = Replay(connectors, step_rows)
        assert plan.next(before) == after
        assert handed_over(connectors, plan.splits(before, after)) == step


@settings(max_examples=100, deadline=None)
@given(lanes=sources, step_rows=step_sizes)
def test_two_steps_at_once_read_what_the_two_read(lanes, step_rows):
    connectors = [connector(chr(97 + place), found) for place, found in enumerate(lanes)]
    positions, steps = replayed(connectors, step_rows)
    plan = Replay(connectors, step_rows)
    whole = handed_over(connectors, plan.splits(positions[0], positions[-1]))
    for lane in (lane for found in connectors for lane in found.lanes()):
        assert whole.get(lane.name, []) == rows_of(steps, lane)


def sorted_units(times):
    return [sorted(times)[place : place + 3] for place in range(0, len(times), 3)]


ordered = st.lists(st.integers(0, 60), max_size=15).map(sorted_units)


@settings(max_examples=200, deadline=None)
@given(lanes=st.lists(ordered, min_size=2, max_size=4), step_rows=step_sizes)
def test_no_lane_is_ahead_of_another_by_more_than_its_unit(lanes, step_rows):
    found = connector("a", lanes)
    times = {lane.name: [time for unit in lane.units for time in unit] for lane in found.lanes()}
    units = {lane.name: [unit for unit in lane.units for _ in unit] for lane in found.lanes()}
    read = dict.fromkeys(times, 0)
    for step in replayed([found], step_rows)[1]:
        read = {name: read[name] + len(step.get(name, [])) for name in times}
        waiting = {name: times[name][read[name]] for name in times if read[name] < len(times[name])}
        for name in (name for name in times if read[name]):
            others = [moment for other, moment in waiting.items() if other != name]
            assert units[name][read[name] - 1][0] <= min(others, default=60)


@given(
    units=st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=8),
    step_rows=st.integers(2, 6),
)
def test_a_step_has_about_as_many_rows_as_asked_for(units, step_rows):
    ordered_units = [[10 * place + time for time in sorted(unit)] for place, unit in enumerate(units)]
    _, steps = replayed([connector("a", [ordered_units])], step_rows)
    assert all(len(rows) <= step_rows for step in steps for rows in step.values())


def test_sources_without_lanes_are_done_at_once():
    positions, steps = replayed([connector("a", [])], 10)
    assert positions[-1]["done"]
    assert steps == [{}]


def test_a_position_does_not_change_once_it_is_done():
    found = [connector("a", [[[1, 2]]])]
    positions, _ = replayed(found, 10)
    assert Replay(found, 10).next(positions[-1]) == positions[-1]


def test_older_readings_of_a_live_lane_do_not_bring_back_what_was_read():
    old, live = connector("a", [[[1, 5, 9, 20]]]), connector("b", [[[10], [5], [30]]], live=True)
    [lane] = live.lanes()
    plan, steps = Replay([old, live], 1), []
    position = plan.start()
    for lane.arrived in (1, 2, 3, 3, 3):
        after = plan.next(position)
        steps.append(handed_over([old, live], plan.splits(position, after)))
        position = after
    assert rows_of(steps, old.lanes()[0]) == [0, 1, 2, 3]
    assert rows_of(steps, lane) == [0, 1, 2]


def test_ten_thousand_lanes_are_planned_quickly():
    found = connector("a", [[[place]] for place in range(10_000)])
    plan = Replay([found], 3_000)
    position, count = plan.start(), 0
    while not position["done"]:
        position, count = plan.next(position), count + 1
    assert count == 4


def live_position(plan, lane, comes):
    """Where a plan stands after so many units of a lane had come, step by step."""
    position = plan.start()
    for lane.arrived in comes:
        position = plan.next(position)
    return position


def test_lag_is_how_long_readings_had_waited_when_a_step_began():
    live = connector("a", [[[1], [2], [4], [9]]], live=True)
    [lane] = live.lanes()
    assert live_position(Replay([live], 100), lane, [1])["lag"] == 0
    assert live_position(Replay([live], 100), lane, [1, 4])["lag"] == 8
    lane.speed = 2.0
    assert live_position(Replay([live], 100), lane, [1, 4])["lag"] == 4


def test_live_source_that_has_not_begun_does_not_lag():
    live, table = connector("a", [[[1], [9]]], live=True), connector("t", [[[0, 5]]])
    [lane] = live.lanes()
    positions = [live_position(Replay([table, live], 100), lane, comes) for comes in ([0], [0, 1], [0, 1, 2])]
    assert [position["lag"] for position in positions] == [0, 0, 8]


def test_view_that_may_not_lag_takes_less_in_until_it_has_caught_up():
    live = connector("a", [[[moment] for moment in range(20)]], live=True)
    [lane] = live.lanes()
    plan = Replay([live], 100, {"v": Micros(4)}, clock=lambda: 0.0)
    assert live_position(plan, lane, [1])["shares"] == {"v": 1.0}
    assert live_position(plan, lane, [1, 9])["shares"] == {"v": 0.5}
    assert live_position(plan, lane, [1, 9, *range(10, 20)])["shares"] == {"v": 1.0}


def test_bounded_source_never_lags():
    positions, _ = replayed([connector("a", [[[1, 2], [50]]])], 1)
    assert {position["lag"] for position in positions} == {0}
