"""A run that is killed and started again gives what an undisturbed run gives, byte for byte."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.sinks.files import FileSink

SCRIPT = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, flow INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH (connector='sim', kind='traffic', sensors='16', seed='5', duration='{minutes}min', disorder='4s', garbled='0.002');
INSERT INTO subscriptions (id, stream, predicate) VALUES
  ('slow', 'traffic', 'speed < 55'), ('odd', 'traffic', 'speed > segment * 20'),
  ('busy', 'traffic', 'flow > 1 OR sensor LIKE ''%-03-u''');
CREATE MATERIALIZED VIEW mean WITH (late_to='too_late') AS
SELECT segment, window_start, AVG(speed) AS speed, STDDEV(speed) AS spread, COUNT(DISTINCT sensor) AS sensors
FROM HOP(traffic, ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW slow AS SELECT sensor, ts, speed FROM traffic WHERE speed < 60;
CREATE MATERIALIZED VIEW alike AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '8' SECOND) AS a
JOIN SLIDING(traffic, ts, INTERVAL '4' SECOND) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
WHERE a.sensor <> b.sensor AND a.ts < b.ts;
CREATE MATERIALIZED VIEW together AS
SELECT key, sensor, ts, arity, members
FROM GATHER(traffic, key => floor(speed), across => sensor, within => INTERVAL '2' SECOND, min_arity => 4) AS g;
CREATE MATERIALIZED VIEW bounded WITH (on_overload='shed', memory_rows='200', loss_to='bounded_loss') AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS a
JOIN SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
WHERE a.sensor <> b.sensor;
CREATE MATERIALIZED VIEW calmest AS
SELECT window_start, MAX(speed) AS speed FROM TUMBLE(mean, window_start, INTERVAL '2' MINUTE) GROUP BY window_start;
CREATE MATERIALIZED VIEW alone AS
SELECT a.sensor, a.ts, a.speed FROM SLIDING(traffic, ts, INTERVAL '3' SECOND) AS a
WHERE a.speed < 60 AND NOT EXISTS
(SELECT 1 FROM SLIDING(traffic, ts, INTERVAL '5' SECOND) AS b
WHERE b.segment = a.segment AND floor(b.speed) = floor(a.speed) + 1);
CREATE MATERIALIZED VIEW jams WITH (rules='jams.dl', output='stretch');
"""
RULES = """
base traffic(segment: int, speed: float, ts: time) time ts window 20 s slide 10 s.
output stretch mode changes.
slow(a) :- traffic(a, v, _), v < 55.0.
jam(a, b) :- slow(a), slow(b), b = a + 1.
jam(a, c) :- jam(a, b), jam(b, c).
within(a, b) :- jam(a, b), jam(c, d), c <= a, b <= d, b - a < d - c.
stretch(a, b, t) :- jam(a, b), NOT within(a, b), traffic(a, v, t), v < 55.0.
"""


def _command(folder: Path, out: str, *more: str) -> list[str]:
    # -c, not the console script: the tests need no installed entry point.
    main = "from skerry.cli import main; main()"
    options = ["--format", "csv", "--master", "local[2]", "--batch-rows", "2500"]
    kept = ["--out", str(folder / out), "--checkpoint", str(folder / f"{out}-checkpoint")]
    return [sys.executable, "-c", main, "run", str(folder / "script.sql"), *options, *kept, *more]


def _run_whole(folder: Path) -> None:
    """The same without a disturbance, in this process: it need not be killed."""
    database = Database(Catalog.in_memory(), folder)
    database.execute((folder / "script.sql").read_text())
    database.run(
        FileSink(folder / "whole", "csv"), Settings("spark", "local[2]", folder / "whole-kept", step_rows=2500)
    )


def _answers(folder: Path) -> dict[str, bytes]:
    return {str(part.relative_to(folder)): part.read_bytes() for part in sorted(folder.rglob("part-*"))}


def _batches(folder: Path) -> int:
    return len(list(folder.glob("mean/part-*")))


def _killed_after(process: subprocess.Popen[bytes], out: Path, batches: int) -> bool:
    """Kill at some moment after so many batches are out; say whether the run was still going."""
    while process.poll() is None and _batches(out) < batches:
        time.sleep(0.05)
    time.sleep(random.random() * 0.5)
    going = process.poll() is None
    process.kill()
    process.wait()
    return going


def _check_killed_run(tmp_path: Path, attempts: int, most: int, minutes: int) -> None:
    """Kill a run so often, each time at most so many batches further on; a batch has five minutes of traffic."""
    (tmp_path / "script.sql").write_text(SCRIPT.format(minutes=minutes))
    (tmp_path / "jams.dl").write_text(RULES)
    _run_whole(tmp_path)
    kills, last = 0, _batches(tmp_path / "whole") - 1
    for _ in range(attempts):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(_command(tmp_path, "cut"), cwd=tmp_path, **quiet)
        further = _batches(tmp_path / "cut") + random.randint(1, most)
        kills += _killed_after(process, tmp_path / "cut", min(further, last))
    command = _command(tmp_path, "cut")
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert kills >= 2
    assert "too_late" in done.stdout
    assert "bounded_loss" in done.stdout
    assert "jams: ticks" in done.stdout
    assert _answers(tmp_path / "cut") == _answers(tmp_path / "whole")


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    _check_killed_run(tmp_path, attempts=2, most=2, minutes=15)


def _rows(folder: Path) -> dict[str, Counter[str]]:
    """The lines of each output, whichever files they are in, without their heads."""
    found: dict[str, Counter[str]] = {}
    for part in folder.rglob("part-*"):
        found.setdefault(str(part.parent.relative_to(folder)), Counter()).update(part.read_text().splitlines()[1:])
    return found


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_killed_run_goes_on_with_other_buckets(tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text(SCRIPT.format(minutes=25))
    (tmp_path / "jams.dl").write_text(RULES)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    subprocess.run(_command(tmp_path, "whole"), check=True, timeout=500, **quiet)
    for buckets in ("2", "3", "1"):
        process = subprocess.Popen(_command(tmp_path, "cut", "--buckets", buckets), **quiet)
        assert _killed_after(process, tmp_path / "cut", _batches(tmp_path / "cut") + 1)
    subprocess.run(_command(tmp_path, "cut", "--buckets", "4"), check=True, timeout=500, **quiet)
    assert _rows(tmp_path / "cut") == _rows(tmp_path / "whole")


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("round_", range(8))
def test_killed_run_goes_on_where_it_was_many_times(tmp_path: Path, round_: int) -> None:
    _check_killed_run(tmp_path, attempts=6, most=3, minutes=25)
