"""A live stream whose join, or whose reading, is too slow; in simulated time, which work makes go on."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

from skerry.fjord import runtime
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.replay.replay import Replay
from skerry.sinks.memory import MemorySink
from skerry.testing.sources import GivenConnector
from tests.fjord.given import SCHEMA, views

SECONDS, READINGS, SEGMENTS = 60, 200, 8
PAIRS = """CREATE MATERIALIZED VIEW pairs
WITH (on_overload='shed', shed_policy='pattern', loss_to='gone', max_lag='4s') AS
SELECT a.speed, b.speed AS other FROM SLIDING(road, ts, INTERVAL '1' SECOND) AS a
JOIN SLIDING(road, ts, INTERVAL '1' SECOND) AS b USING (segment)"""


@dataclass
class Clock:
    now: float = 0.0

    def sleep(self, seconds):
        self.now += seconds

    def monotonic(self):
        return self.now


class Live(GivenConnector):
    """A tenth of a second a unit; a unit is there when its time has come."""

    live = True

    def __init__(self, definition, clock):
        random, count = np.random.default_rng(7), READINGS // 10
        units = [self._unit(random, unit, count) for unit in range(10 * SECONDS)]
        super().__init__(definition, [units])
        self._clock = clock

    def lanes(self):
        [lane] = super().lanes()
        lane.count = lambda: min(int(10 * self._clock.now), 10 * SECONDS)
        return [lane]

    @staticmethod
    def _unit(random, unit, count):
        moments = 100_000 * unit + np.sort(random.integers(0, 100_000, count))
        columns = [moments.astype("datetime64[us]"), random.integers(0, SEGMENTS, count), random.random(count)]
        cast = [pa.array(column).cast(field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(cast, schema=SCHEMA)


class Timed(Pipeline):
    def plan_steps(self, views=None):
        clock = self.connectors[0]._clock
        return Replay(self.connectors, self.step_rows, self.most_lags, clock=lambda: clock.now)


def worked(monkeypatch, a_reading, an_answer, until=SECONDS):
    """The outcomes of all steps, where each reading, and each answer until a moment, takes so many seconds."""
    clock = Clock(now=1.0)
    monkeypatch.setattr(runtime, "time", clock)
    found = views(PAIRS)
    given = Timed((Live(found[0].feeds[0].source, clock),), found, 10**6)
    steps = []
    for outcome, answers in FjordRuntime(given, MemorySink()).steps(lambda: clock.now >= SECONDS):
        answered = outcome.answers.get("pairs", 0) if clock.now < until else 0
        clock.sleep(a_reading * outcome.tallies["road"].read + an_answer * answered)
        steps.append((outcome, answers))
    return steps


def shed_share(steps):
    """How much of what came was given up, and in how many steps the lag was not the view's."""
    figures = reduce(Outcome.then, (outcome for outcome, _ in steps)).figures["pairs"]
    assert figures["received"] == figures["kept"] + figures.get("expired", 0) + figures.get("shed", 0)
    return figures.get("shed", 0) / figures["received"], figures.get("lagged_elsewhere", 0)


def test_lag_stays_in_bounds_where_the_join_is_too_slow(monkeypatch):
    steps = worked(monkeypatch, a_reading=0.0002, an_answer=0.0005)
    lags = [outcome.lag_us / 1e6 for outcome, _ in steps]
    shed, elsewhere = shed_share(steps)
    assert max(lags) > 2.0
    assert max(lags[len(lags) // 4 :]) < 4.0
    assert shed > 0.2
    assert elsewhere < len(steps) / 5
    lost = pa.Table.from_batches([answers["gone"] for _, answers in steps if "gone" in answers]).to_pylist()
    assert sum(row["shed"] for row in lost if row["stream"] is None) > 0


def test_all_is_taken_in_again_when_the_join_is_no_longer_too_slow(monkeypatch):
    steps = worked(monkeypatch, a_reading=0.0002, an_answer=0.001, until=20.0)
    shed = [outcome.figures["pairs"].get("shed", 0) for outcome, _ in steps]
    assert sum(shed) > 0
    assert sum(shed[-len(shed) // 4 :]) == 0


def test_hardly_anything_is_given_up_where_reading_is_too_slow(monkeypatch):
    steps = worked(monkeypatch, a_reading=1.3 / READINGS, an_answer=0.0)
    shed, elsewhere = shed_share(steps)
    assert max(outcome.lag_us for outcome, _ in steps) > 4_000_000
    assert shed < 0.15
    assert elsewhere > 0
