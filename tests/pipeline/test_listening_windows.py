"""Queries that come and go reach the sensors that they need, and no other, within two of their listening windows."""

import random

import pytest

from skerry.catalog import Catalog, Subscription
from skerry.lang.sql import Session
from skerry.model.time import Micros
from skerry.pipeline.sensors_at_work import SensorsAtWork
from skerry.sources.sim.motes import Faults, Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether
from skerry.testing.simulated_receiving import SimulatedReceiving

START = Micros(1_780_000_000_000_000)
SOURCE = """CREATE SOURCE town (sensor VARCHAR, ts TIMESTAMP, pm25 DOUBLE, no2 DOUBLE, moisture DOUBLE,
WATERMARK FOR ts AS ts) WITH (connector='mqtt', topic='town/{sensor}/data', sequence='seq');"""
COMES_S, GOES_S, ENDS_S = 15.0, 28.0, 40.0


class Town:
    """Motes, and the proxies of a run, in simulated time."""

    def __init__(self, seed, kinds, **wanted):
        self.ether, self.catalog = Ether(seed), Catalog.in_memory()
        session = Session(self.catalog)
        session.execute(SOURCE)
        self.fleet = Fleet(FleetSettings(kinds, "town", seed, **wanted), None, start_us=START, ether=self.ether)
        at_work = SensorsAtWork(self.catalog, session.plans(), self.ether.tell_seconds)
        at_work.begin({"town": SimulatedReceiving(self.ether, "town", START)})
        self.ether.repeat(0.05, at_work.look)

    def at(self, seconds, act):
        """Do something at a time, and give what motes had counted then, once it has come."""
        counted = {}

        def do():
            counted.update({mote.name: (mote.windows, mote.control) for mote in self.fleet.motes})
            act()

        self.ether.plan(seconds, do)
        return counted

    def list_awake(self):
        return {mote.name for mote in self.fleet.motes if not mote.is_asleep}


def list_late(fleet, counted, concerned):
    """Motes that took control later than in the second window since, or without need."""
    late = []
    for mote in fleet.motes:
        windows, control = counted[mote.name]
        if (mote.control != control) != (mote.name in concerned) or (
            mote.control != control and mote.taken_in_window - windows > 2
        ):
            late.append((mote.name, windows, mote.taken_in_window, control, mote.control))
    return late


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(6, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_query_wakes_what_it_needs_within_two_windows_and_leaves_no_trace_when_it_goes(seed):
    random_ = random.Random(seed)
    town = Town(seed, {"air": 5, "soil": 3})
    kept, asked = (set(random_.sample([mote.name for mote in town.fleet.motes], random_.randint(1, 4))) for _ in "ab")
    town.catalog.subscriptions.add([Subscription("kept", "town", predicate(kept))])
    query = Subscription("q", "town", f"{predicate(asked)} AND pm25 > {random_.randint(5, 50)}")
    comes_s = COMES_S + random_.random() * 3
    before = town.at(comes_s, lambda: town.catalog.subscriptions.add([query]))
    awake, late = [], []

    def look():
        awake.append(town.list_awake())
        late.extend(list_late(town.fleet, before, asked - kept))

    town.at(GOES_S, look)
    after = town.at(GOES_S, lambda: town.catalog.subscriptions.remove(["q"]))
    town.fleet.run(ENDS_S)
    assert (awake, late) == ([kept | asked], [])
    assert (town.list_awake(), list_late(town.fleet, after, asked - kept)) == (kept, [])
    assert sum(mote.outside for mote in town.fleet.motes) == 0


def predicate(names):
    return f"sensor IN ({', '.join(repr(name) for name in sorted(names))})"


@pytest.mark.soak
@pytest.mark.whole
@pytest.mark.timeout(1200)
def test_two_thousand_motes_hear_no_control_outside_of_their_windows():
    """Motes die and come back, messages are doubled and reordered, and queries come and go all the time."""
    kinds = {"traffic": 1000, "air": 500, "soil": 250, "vibration": 250}
    town, random_ = Town(1, kinds, faults=Faults(0.05, 30.0, 0.01, 0.01, 0.01, 0.01)), random.Random(1)
    names = [mote.name for mote in town.fleet.motes]
    for number in range(20):
        query = Subscription(f"q{number}", "town", predicate(random_.sample(names, 100)))
        town.at(3.0 * number, lambda query=query: town.catalog.subscriptions.add([query]))
        town.at(3.0 * number + 31.0, lambda query=query: town.catalog.subscriptions.remove([query.id]))
    tally = town.fleet.run(100.0)
    assert tally.controls["outside"] == sum(mote.outside for mote in town.fleet.motes) == 0
    assert tally.controls["taken"] > 4_000
    assert not town.list_awake()
