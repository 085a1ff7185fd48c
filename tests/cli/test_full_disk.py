"""A disk that is full under a run: the command ends with a word that names the file."""

import shlex
import subprocess

import pytest

from tests.cli.commands import SKERRY

SCRIPT = """
CREATE SOURCE road (sensor INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector='file', path='road.csv');
CREATE MATERIALIZED VIEW seen AS SELECT sha256(sensor::VARCHAR) AS hash, ts FROM road;
"""


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_run_that_cannot_write_answers_says_which_and_why(tmp_path, format_):
    rows = [f"{n},2026-01-01 {n // 60:02}:{n % 60:02}:00" for n in range(1000)]
    (tmp_path / "road.csv").write_text("\n".join(["sensor,ts", *rows]) + "\n")
    (tmp_path / "road.sql").write_text(SCRIPT)
    command = [*SKERRY, "run", "road.sql", "--runtime", "fjord", "--format", format_]
    limited = f"ulimit -f 8; {shlex.join(command)}"  # no file may be longer than 8 KiB
    done = subprocess.run(
        ["bash", "-c", limited], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    path = tmp_path / "out" / "seen" / f"part-00000000.{format_}"
    # Before that it may be told that compiled kernels are not kept.
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"error: {path}: File too large")
    assert "Traceback" not in done.stderr
    assert [file.name for file in path.parent.iterdir()] == []
