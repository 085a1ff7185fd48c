"""Subscriptions come and go while a run goes on: each batch answers those of its version, and no others."""

import os
import random
import signal
import statistics
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine, text

from skerry.catalog import Subscription
from skerry.database import connect

SCRIPT = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, lane INT, speed DOUBLE, occupancy DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH (connector='sim', kind='traffic', sensors='512', seed='5', rate='{rate}');
CREATE MATERIALIZED VIEW readings AS SELECT sensor, ts, segment, lane, speed, occupancy FROM traffic;
"""
_EPOCH = datetime(1970, 1, 1)
_FEWEST_VERSIONS, _PATIENCE_SECONDS = 4, 200.0
COLUMNS = ("segment", "lane", "speed", "occupancy")


class Boxes:
    """Subscriptions as boxes over the columns, by number, for the check afterwards."""

    def __init__(self, count: int, seed: int = 7) -> None:
        random_ = np.random.default_rng(seed)
        low = np.stack(
            [random_.integers(1, 128, count), random_.integers(1, 5, count), random_.uniform(20, 80, count)], 1
        )
        self.low = np.column_stack([low, random_.uniform(0, 0.3, count)])
        self.high = self.low + np.array([2, 1, 2.0, 0.2])

    def subscription(self, number: int) -> Subscription:
        """One of them in words."""
        parts = zip(COLUMNS, self.low[number].tolist(), self.high[number].tolist(), strict=True)
        return Subscription(
            f"q{number}", "traffic", " AND ".join(f"{name} BETWEEN {a!r} AND {b!r}" for name, a, b in parts)
        )

    def matches(self, numbers: np.ndarray, points: np.ndarray) -> set[tuple[int, int]]:
        """Which of some contain which points, one box at a time."""
        inside = [((points >= self.low[n]) & (points <= self.high[n])).all(axis=1) for n in numbers.tolist()]
        return {
            (n, int(row)) for n, found in zip(numbers.tolist(), inside, strict=True) for row in np.flatnonzero(found)
        }


def _started(project: Path) -> subprocess.Popen[bytes]:
    # Nothing is put together: each batch is compared by itself.
    main = "from skerry.sinks import compaction; compaction.MANY = 10**9; from skerry.cli import main; main()"
    options = ["--project", str(project), "--out", str(project / "out"), "--master", "local[2]"]
    with (project / "log").open("wb") as log:
        command = [sys.executable, "-c", main, "run", str(project / "script.sql"), *options]
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def _resident_mib(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def _changed(
    project: Path, boxes: Boxes, there: list[int], new: int, seconds: float, rate: float, process: int
) -> list[float]:
    """Change subscriptions, one at a time, by turns one comes and one goes; give the driver's memory over time.

    It goes on until a few batches have seen changes, however long a busy machine takes for a batch.
    """
    database, resident, begun, changes, seen = connect(project), [], time.monotonic(), 0, 0
    while (passed := time.monotonic() - begun) < seconds or (seen < _FEWEST_VERSIONS and passed < _PATIENCE_SECONDS):
        if changes % 2 == 0:
            database.subscribe([boxes.subscription(new)])
            there.append(new)
            new += 1
        else:
            database.unsubscribe([f"q{there.pop(random.randrange(len(there)))}"])
        changes += 1
        if changes % int(rate) == 0:
            resident.append(_resident_mib(process))
            seen = len({version for _, version in _versions(project)})
        time.sleep(max(0.0, changes / rate - passed))
    return resident


def _parts(folder: Path) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for place in sorted(folder.glob("part-*.parquet")):
        found.setdefault(int(place.stem.split("-")[1]), []).append(place)
    return found


def _table(places: list[Path]):
    return [row for place in places for row in pq.read_table(place).to_pylist()]


def _versions(project: Path) -> list[tuple[int, int]]:
    with create_engine(f"sqlite:///{project / 'skerry.db'}").connect() as connection:
        return [
            tuple(row)
            for row in connection.execute(text("SELECT batch, version FROM subscription_batches ORDER BY batch"))
        ]


def _check_batches(project: Path, boxes: Boxes, some: int) -> tuple[int, int]:
    """Compare some batches with brute force; give how many answers, and how many versions, were compared."""
    log = connect(project).catalog.subscriptions.since(0)
    versions = _versions(project)
    readings, answers = _parts(project / "out/readings"), _parts(project / "out/subscriptions")
    chosen = sorted(random.Random(3).sample(sorted(readings), min(some, len(readings))))
    there: set[int] = set()
    applied = compared = 0
    for batch in chosen:
        version = max(found for first, found in versions if first <= batch)
        for change in log[applied:version]:
            number = int(change.subscription.id[1:])
            (there.discard if change.removed else there.add)(number)
        applied = version
        rows = [row for row in _table(readings[batch]) if row["speed"] is not None]
        points = np.array([[row[name] for name in COLUMNS] for row in rows], float).reshape(-1, 4)
        expected = {
            (f"q{n}", rows[at]["sensor"], rows[at]["ts"], rows[at]["lane"])
            for n, at in boxes.matches(np.array(sorted(there)), points)
        }
        given = [(row["id"], row["sensor"], row["ts"], row["lane"]) for row in _table(answers.get(batch, []))]
        assert len(given) == len(set(given)), f"batch {batch} answers something twice"
        assert set(given) == expected, (
            f"batch {batch}, version {version}: {len(given)} answers, expected {len(expected)}"
        )
        compared += len(given)
    return compared, len({version for _, version in versions})


def _check_counters(project: Path, there: list[int]) -> None:
    """What is counted of each subscription is what its answers say, and nothing is counted of those that are gone."""
    newest: dict[str, list[datetime]] = {}
    for row in _table(sorted((project / "out/subscriptions").glob("part-*.parquet"))):
        newest.setdefault(row["id"], []).append(row["ts"])
    ids = {f"q{number}" for number in there}
    expected = {id_: (len(times), max(times)) for id_, times in newest.items() if id_ in ids}
    counted = [each for each in connect(project).catalog.counters.all("traffic") if each.matches]
    assert {each.id: (each.matches, _EPOCH + timedelta(microseconds=each.last_us)) for each in counted} == expected


def _check_end(code: int, project: Path) -> None:
    """A run that is interrupted ends with an account, without a complaint, and leaves nothing half-written."""
    printed = (project / "log").read_text()
    rows = len(_table(sorted((project / "out/readings").glob("part-*.parquet"))))
    assert code == 0, printed[-2000:]
    first = printed.splitlines()[0]
    assert first.startswith("ran on spark: "), printed[-2000:]
    assert first.endswith("; stopped before its input was used up")
    assert f"  readings: {rows} rows\n" in printed
    assert list((project / "out").rglob("*.tmp")) == []


def _check_changing(
    project: Path, count: int, seconds: float, rate: float, readings_a_second: int, some: int
) -> list[float]:
    boxes, there = Boxes(count + int(max(seconds, _PATIENCE_SECONDS) * rate)), list(range(count))
    script = SCRIPT.format(rate=readings_a_second)
    (project / "script.sql").write_text(script)
    database = connect(project)
    database.execute(script)
    database.subscribe([boxes.subscription(number) for number in there])
    process = _started(project)
    while process.poll() is None and not list((project / "out/readings").glob("part-*")):
        time.sleep(0.1)
    resident = _changed(project, boxes, there, count, seconds, rate, process.pid)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _check_end(process.wait(120), project)
    compared, versions = _check_batches(project, boxes, some)
    assert compared > 100
    assert versions >= _FEWEST_VERSIONS
    _check_counters(project, there)
    return resident


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_subscriptions_that_come_and_go_answer_from_one_batch_to_another(tmp_path: Path) -> None:
    _check_changing(tmp_path, 2_000, seconds=3, rate=20, readings_a_second=2_000, some=30)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_hundred_thousand_subscriptions_change_for_minutes(tmp_path: Path) -> None:
    seconds = float(os.environ.get("SKERRY_SOAK_SECONDS", "180"))
    resident = _check_changing(tmp_path, 100_000, seconds, rate=20, readings_a_second=10_000, some=20)
    # What grew once may be larger batches of a busy machine: a leak goes on growing.
    quarter = len(resident) // 4
    assert statistics.median(resident[-quarter:]) < 1.1 * statistics.median(resident[-2 * quarter : -quarter])
