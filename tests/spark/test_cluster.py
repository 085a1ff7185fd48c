"""Runs on a real cluster: a standalone master, and workers whose executors are killed while they work."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from skerry.testing.cluster import Cluster
from tests.spark.test_recovery import RULES, SCRIPT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


def command(folder: Path, out: str, *options: str) -> list[str]:
    main = "from skerry.cli import main; main()"
    kept = ["--format", "csv", "--batch-rows", "1200", "--out", str(folder / out)]
    return [sys.executable, "-c", main, "run", str(folder / "script.sql"), *kept, *options]


def answers(folder: Path) -> dict[str, Counter[str]]:
    """The rows of each output, without their heads. What a view sheds is not the same in process."""
    found: dict[str, Counter[str]] = {}
    for part in folder.rglob("part-*.csv"):
        found.setdefault(str(part.parent.relative_to(folder)), Counter()).update(part.read_text().splitlines()[1:])
    return {output: rows for output, rows in found.items() if not output.startswith("bounded")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A script, and its answers as they are found in one process."""
    found = tmp_path_factory.mktemp("cluster")
    (found / "script.sql").write_text(SCRIPT.format(minutes=12))
    (found / "jams.dl").write_text(RULES)
    whole = command(found, "whole", "--runtime", "fjord")
    subprocess.run(whole, check=True, capture_output=True, timeout=300, cwd=found)
    return found


def wait_for_batches(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Wait until so many batches are written; the run must go on still."""
    while process.poll() is None and len(list(out.glob("mean/part-*"))) < count:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[1]


def test_executor_and_then_a_worker_that_are_killed_change_nothing(folder):
    out, checkpoint = folder / "out", folder / "checkpoint"
    with Cluster(workers=2, cores=1) as cluster:
        where = ["--master", cluster.url, "--checkpoint", str(checkpoint)]
        process = subprocess.Popen(command(folder, "out", *where), cwd=folder, stderr=subprocess.PIPE, text=True)
        wait_for_batches(process, out, 1)
        cluster.kill_executor(0)
        wait_for_batches(process, out, 2)
        cluster.kill_worker(1)
        _, complaint = process.communicate(timeout=600)
    assert process.returncode == 0, complaint
    assert answers(out) == answers(folder / "whole")
    buckets = {path.name for path in (checkpoint / "spark" / "state" / "0").glob("[0-9]*")}
    assert buckets == {"0", "1"}, "a bucket for each core"
