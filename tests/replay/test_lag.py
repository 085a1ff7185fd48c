"""A live stream in simulated time: the planner as it is, and a model of how long its steps take."""

from dataclasses import dataclass, field
from random import Random

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Source
from skerry.model.time import MICROS, Micros, seconds
from skerry.replay.replay import Replay
from skerry.sources.source import Connector, Lane

UNIT_US, UNIT_ROWS = 20_000, 2_000
MOST = seconds(4)
SCHEMA = pa.schema({"ts": pa.timestamp("us")})


@dataclass
class Clock:
    now: float = 0.0


class LiveLane(Lane):
    """Units of 20 ms, each there when its time has come."""

    name = "road"

    def __init__(self, clock):
        self._clock = clock

    def count(self):
        return int(self._clock.now * 1e6) // UNIT_US

    def first(self, unit):
        return Micros(unit * UNIT_US)

    def last(self, unit):
        return Micros((unit + 1) * UNIT_US - 1)

    def weight(self, unit):
        return UNIT_ROWS


@dataclass
class LiveConnector(Connector):
    clock: Clock
    definition: Source = field(default_factory=lambda: Source("road", SCHEMA, "list", event_time="ts"))
    live: bool = True

    def lanes(self):
        return [LiveLane(self.clock)]

    def read(self, split):
        return iter(())


def positions(joining, reading=0.1, overhead=0.01, most_us=MOST, until=60.0, power=1.0, luck=lambda: 1.0):
    """The moments at which steps begin, and their positions.

    ``joining`` gives the load of all there is at a moment, ``luck`` by what it differs from step to step. Where windows
    have room for more, that of a share is less than in proportion: its ``power``.
    """
    clock = Clock()
    plan = Replay([LiveConnector(clock)], 10**6, {"view": most_us}, clock=lambda: clock.now)
    position, found = plan.start(), []
    while clock.now < until:
        following = plan.next(position)
        if following == position:
            clock.now += 0.05
            continue
        found.append((clock.now, following))
        load = reading + luck() * joining(clock.now) * following["shares"]["view"] ** power
        clock.now += overhead + load * following["span"] / MICROS["SECOND"]
        position = following
    return found


def lags(found, since=0.0):
    return [position["lag"] / MICROS["SECOND"] for moment, position in found if moment >= since]


def shares(found, since=0.0):
    return [position["shares"]["view"] for moment, position in found if moment >= since]


def filling(whole, fill):
    """Windows fill for so many seconds, and the load of the join with them."""
    return lambda moment: whole * min(1.0, 0.1 + moment / fill)


@settings(max_examples=25, deadline=None)
@given(
    whole=st.floats(1.5, 20.0), fill=st.floats(1.0, 20.0), reading=st.floats(0.0, 0.6), overhead=st.floats(0.0, 0.05)
)
def test_lag_never_passes_what_is_allowed_however_much_there_is(whole, fill, reading, overhead):
    found = positions(filling(whole, fill), reading, overhead)
    assert max(lags(found)) < 4.0
    taken = shares(found, since=40.0)
    assert 0.4 * (1.0 - reading) / whole < sum(taken) / len(taken) < 1.1 / whole
    assert not any(position["blameless"] for _, position in found)


@settings(max_examples=25, deadline=None)
@given(whole=st.floats(2.0, 15.0), power=st.floats(1.0, 2.0), overhead=st.floats(0.0, 0.05), seed=st.integers(0, 1000))
def test_lag_stays_in_bounds_where_steps_differ_and_half_costs_less_than_half(whole, power, overhead, seed):
    drawn = Random(seed)
    found = positions(filling(whole, 5.0), 0.2, overhead, power=power, luck=lambda: drawn.choice([0.5, 1.0, 2.0]))
    assert max(lags(found)) < 4.0
    taken = shares(found, since=40.0)
    assert 0.1 * whole ** -(1.0 / power) < sum(taken) / len(taken) < 1.5 * whole ** -(1.0 / power)


@settings(max_examples=20, deadline=None)
@given(before=st.floats(0.0, 0.5), after=st.floats(2.0, 15.0), at=st.floats(5.0, 20.0), overhead=st.floats(0.0, 0.05))
def test_lag_stays_in_bounds_when_the_load_jumps(before, after, at, overhead):
    found = positions(lambda moment: before if moment < at else after, overhead=overhead)
    assert set(shares([step for step in found if step[0] < at])) == {1.0}
    assert max(lags(found)) < 4.0


@settings(max_examples=20, deadline=None)
@given(whole=st.floats(2.0, 15.0), later=st.floats(0.0, 0.7), overhead=st.floats(0.0, 0.05))
def test_shedding_stops_when_the_overload_is_over(whole, later, overhead):
    found = positions(lambda moment: whole if moment < 30.0 else later, overhead=overhead)
    assert max(shares([step for step in found if 20.0 < step[0] < 30.0])) < 1.0
    assert set(shares(found, since=45.0)) == {1.0}
    assert max(lags(found, since=45.0)) < 1.0


@settings(max_examples=20, deadline=None)
@given(whole=st.floats(1.5, 15.0), overhead=st.floats(0.3, 0.7))
def test_lag_stays_in_bounds_where_any_step_takes_its_time(whole, overhead):
    found = positions(filling(whole, 10.0), overhead=overhead, most_us=seconds(10))
    assert max(lags(found)) < 10.0
    taken = shares(found, since=40.0)
    assert sum(taken) / len(taken) > 0.2 / whole


def test_first_steps_are_short_as_long_as_it_is_not_known_what_they_take():
    found = positions(lambda moment: 10.0, overhead=0.0)
    spans = [position["span"] / MICROS["SECOND"] for _, position in found]
    assert sum(spans[:3]) <= 0.7


def test_steps_are_as_long_as_they_like_where_no_view_may_not_lag():
    clock = Clock(now=100.0)
    plan = Replay([LiveConnector(clock)], 10**8, clock=lambda: clock.now)
    assert plan.next(plan.start())["until"] == {"road": Micros(100_000_000 - 1)}
