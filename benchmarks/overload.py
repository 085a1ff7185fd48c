"""Ten times what a join can sustain, for minutes: lag, memory, and what was shed.

Vehicles are looked for again: two loops of a segment have seen one of the same length, to half an inch, within two
minutes, both in a jam or both not. To find that out a reading is compared with hundreds of others, so the join takes
far more time than reading does.

First it is measured what the view can sustain without shedding: more is offered than it can do, and once windows have
filled, the readings that it takes in a second are as many as it ever can. For more readings a second the simulated
road is played faster. So windows, which go by the road's time, hold the same at every rate, and a reading costs the
same.
Then ten times that rate is offered to the same view with a budget in readings and in lag.

Both parts are processes of their own. The lag of a step is how long its oldest readings had waited when it began; an
answer takes as long as its step besides.

    python benchmarks/overload.py
    python benchmarks/overload.py --runtime spark --max-lag 10
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from _report import Report

from _watched import watched
from skerry.database import Database, Settings, connect
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sink import Sink

_SCRIPT = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, length DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector='sim', kind='traffic', sensors='500', seed='1', rate='{rate}');
CREATE MATERIALIZED VIEW again {options} AS
SELECT a.sensor AS here, b.sensor AS there, a.ts, b.ts AS later, a.length
FROM SLIDING(traffic, ts, INTERVAL '{window}' SECOND) AS a JOIN SLIDING(traffic, ts, INTERVAL '{window}' SECOND) AS b
ON a.segment = b.segment AND floor(a.speed / 40) = floor(b.speed / 40)
WHERE a.sensor <> b.sensor AND b.ts > a.ts AND abs(a.length - b.length) < 0.04;
"""
_SHED = "WITH (on_overload='shed', memory_rows='{memory}', max_lag='{most}s', loss_to='lost')"
_MASTER = "local[2]"
_TOO_MANY = 300_000
"""Readings a second that are too many for the view without shedding."""
_STEP_SECONDS = {"fjord": 1_000_000, "spark": 2_400_000}
"""Of the view without shedding, readings a step times the seconds of its window: more would give more combinations than
a step may. On Spark it has a bucket a core."""


class Counting(Sink):
    """Answers are counted, and forgotten; losses are kept."""

    def __init__(self) -> None:
        self.answers = 0
        self.losses: list[dict[str, Any]] = []

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Nothing to make ready."""

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Count, or keep."""
        if output == "lost":
            self.losses += rows.to_pylist()
        else:
            self.answers += rows.num_rows

    def close(self) -> None:
        """Nothing to finish."""


class Step(NamedTuple):
    """When a step ended, how long its readings had waited when it began, and all that came until then."""

    ended: float
    lag: float
    total: Outcome


def steps(database: Database, sink: Counting, settings: Settings, seconds: float) -> list[Step]:
    """Run for a while."""
    if settings.runtime == "spark":
        return _batches(database, sink, settings, _after(seconds))
    run, total, found = FjordRuntime(database.pipeline(database.plans(), settings), sink), Outcome(), []
    for number, (outcome, answers) in enumerate(run.steps(_after(seconds))):
        for output, rows in answers.items():
            sink.write(output, number, rows)
        total = total.then(outcome)
        found.append(Step(time.monotonic(), outcome.lag_us / 1e6, total))
    return found


def _after(seconds: float) -> Callable[[], bool]:
    """Whether so much time has passed since this was asked first, when a run has begun."""
    asked: list[float] = []

    def late() -> bool:
        asked.append(time.monotonic())
        return asked[-1] - asked[0] > seconds

    return late


def _batches(database: Database, sink: Counting, settings: Settings, stopped: Callable[[], bool]) -> list[Step]:
    """On Spark, where the lag of a batch stands in the position that is logged ahead of it."""
    found: list[Step] = []
    with tempfile.TemporaryDirectory() as folder:
        offsets = Path(folder) / "run" / "spark" / "offsets"

        def watch(total: Outcome) -> None:
            position = json.loads((offsets / str(len(found))).read_text().splitlines()[-1])
            found.append(Step(time.monotonic(), position["lag"] / 1e6, total))

        kept = Settings("spark", _MASTER, Path(folder) / "run", settings.step_rows)
        database.run(sink, kept, stopped=stopped, watch=watch)
    return found


def sustainable(runtime: str, window: int, seconds: float) -> dict[str, float]:
    """How many readings a second the view takes in, offered more than it can."""
    database, sink = connect(), Counting()
    database.execute(_SCRIPT.format(rate=_TOO_MANY, window=window, options=""))
    found = steps(database, sink, Settings(runtime, step_rows=_STEP_SECONDS[runtime] // window), seconds)
    _stop_if_failed(found[-1].total)
    newest = [step.total.newest.get("traffic", 0) for step in found]
    filled = min(filter(None, newest)) + 2 * window * 1_000_000
    full = [step for step, moment in zip(found, newest, strict=True) if moment > filled]
    spent = full[-1].ended - full[0].ended
    return {"rate": (_readings(full[-1]) - _readings(full[0])) / spent, "seconds": spent}


def run_overloaded(
    runtime: str, window: int, rate: float, seconds: float, most: float, memory: int
) -> dict[str, float]:
    """What became of the readings, with shedding."""
    database, sink = connect(), Counting()
    options = _SHED.format(memory=memory, most=f"{most:g}")
    database.execute(_SCRIPT.format(rate=round(rate), window=window, options=options))
    found = steps(database, sink, Settings(runtime), seconds)
    _stop_if_failed(found[-1].total)
    lags = [step.lag for step in found]
    on = next((index for index, lag in enumerate(lags) if lag > most / 2), len(lags) - 1)
    return {
        "readings": _readings(found[-1]),
        "steps": len(found),
        "longest lag": max(lags),
        "longest lag after the first shed step": max(lags[on + 1 :], default=0.0),
        "lag, 99th percentile by time": _percentile(found, 99.0),
        "lag, median by time": _percentile(found, 50.0),
        "longest wait for an answer": max(step.lag + took for step, took in _with_durations(found)),
        "answers": sink.answers,
        **found[-1].total.figures["again"],
        **_sum_losses(sink.losses),
    }


def _sum_losses(losses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The sums of the loss report: of each side, and of both."""
    found: dict[str, float] = {"spans in the loss report": len({row["window_start"] for row in losses})}
    for row in losses:
        for name in ("received", "shed") if row["stream"] else ("received", "shed", "answers", "lost"):
            figure = f"loss report: {name}" + (f" of side {row['stream']}" if row["stream"] else "")
            found[figure] = found.get(figure, 0.0) + (row[name] or 0.0)
    ends = [(row["lost_low"] or 0.0, row["lost_high"] or 0.0) for row in losses if not row["stream"]]
    low, high = sum(low for low, _ in ends), sum(high for _, high in ends)
    return {**found, "loss report: lost, low": low, "loss report: lost, high": high}


def _with_durations(found: Sequence[Step]) -> Iterator[tuple[Step, float]]:
    """Steps after the first, and how long they took, or were waited for."""
    for before, step in pairwise(found):
        yield step, step.ended - before.ended


def _percentile(found: Sequence[Step], percent: float) -> float:
    """The lag that is not exceeded in so much of the time."""
    lags, took = np.array([(step.lag, took) for step, took in _with_durations(found)]).T
    order = np.argsort(lags)
    index = np.searchsorted(np.cumsum(took[order]), took.sum() * percent / 100)
    return float(lags[order][min(index, lags.size - 1)])


def _readings(step: Step) -> int:
    return sum(tally.read for tally in step.total.tallies.values())


def _stop_if_failed(outcome: Outcome) -> None:
    for view, reason in outcome.failures.items():
        raise SystemExit(f"{view} stopped: {reason}")


_UNITS = {"rate": "readings/s", "seconds": "s", "longest": "s", "lag,": "s"}


def _tell(report: Report, found: Mapping[str, float]) -> None:
    for name, value in found.items():
        report.tell(name, value, _UNITS.get(name.split()[0], "tuples"))


def main() -> None:
    """Measure what is sustainable, then offer more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", choices=("fjord", "spark"), default="fjord")
    parser.add_argument("--window", type=int, default=120, help="seconds; the join costs more the longer it is")
    parser.add_argument("--times", type=float, default=10.0, help="what is sustainable is offered so many times")
    parser.add_argument("--seconds", type=float, default=150, help="how long it is offered")
    parser.add_argument("--filling", type=float, default=60, help="seconds to measure what is sustainable")
    parser.add_argument("--max-lag", type=float, default=4, help="seconds that readings may wait")
    parser.add_argument("--memory-rows", type=int, default=20_000)
    parser.add_argument("--rate", type=float, help="readings a second, measured by a process of its own")
    parser.add_argument("--part", choices=("sustainable", "overloaded"), help="only that, in this process, as JSON")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.part == "sustainable":
        print(json.dumps(sustainable(given.runtime, given.window, given.filling)))
    elif given.part == "overloaded":
        offered = given.rate, given.seconds, given.max_lag, given.memory_rows
        print(json.dumps(run_overloaded(given.runtime, given.window, *offered)))
    else:
        _both(given)


def _both(given: argparse.Namespace) -> None:
    """One part after the other, each in a process of its own."""
    report = Report()
    itself = [sys.executable, __file__, "--runtime", given.runtime, "--window", str(given.window)]
    if given.rate is None:
        printed, _ = watched([*itself, "--part", "sustainable", "--filling", str(given.filling)])
        _tell(report, found := json.loads(printed.splitlines()[-1]))
        given.rate = given.times * found["rate"]
    limits = ["--max-lag", str(given.max_lag), "--memory-rows", str(given.memory_rows)]
    offered = ["--rate", str(given.rate), "--seconds", str(given.seconds), *limits]
    report.tell("offered", given.rate, "readings/s")
    printed, held = watched([*itself, "--part", "overloaded", *offered])
    _tell(report, json.loads(printed.splitlines()[-1]))
    report.tell("memory at the most", held / 2**20, "MiB")
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
