"""The command line as its users meet it, in a folder with a script and some data.

A process of its own takes a second to load: only tests of what a process alone shows (signals, its end) start one.
"""

import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from skerry.cli import run_command

# -c, not the console script: the tests need no installed entry point.
SKERRY = [sys.executable, "-c", "from skerry.cli import main; main()"]

DATA = """sensor,ts,speed
a,2026-01-01 00:00:01,60
b,2026-01-01 00:00:02,40
c,2026-01-01 00:00:11,20
"""
SCRIPT = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector='file', path='road.csv');
CREATE MATERIALIZED VIEW mean AS SELECT window_start, AVG(speed) AS speed
    FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY window_start;
CREATE MATERIALIZED VIEW seen AS SELECT sensor FROM road;
"""
LIVE = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (connector='sim', sensors='2', speedup='20');
CREATE MATERIALIZED VIEW seen AS SELECT sensor, ts FROM road;
"""


def laid_out(folder: Path, script: str | bytes = SCRIPT, data: str = DATA) -> Path:
    """A folder with a script and the data that it reads."""
    (folder / "script.sql").write_bytes(script if isinstance(script, bytes) else script.encode())
    (folder / "road.csv").write_text(data)
    return folder


def skerry(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, as one that is started in a folder and whose output goes into pipes."""
    printed, complaints = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(printed), redirect_stderr(complaints):
        code = run_command(arguments)
    return subprocess.CompletedProcess(arguments, code, printed.getvalue(), complaints.getvalue())


def start_skerry(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run([*SKERRY, *arguments], cwd=folder, capture_output=True, text=True, timeout=100)


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the folder's script on fjord, with answers as csv."""
    return skerry(folder, "run", "script.sql", "--runtime", "fjord", "--format", "csv", *options)


def answers(folder: Path, output: str) -> list[str]:
    """The lines of an output's files, quotes and headers left out, in order."""
    parts = sorted((folder / "out" / output).glob("part-*.csv"))
    return [line.replace('"', "") for part in parts for line in part.read_text().splitlines()[1:]]
