"""Runs on a real cluster: a standalone master, and workers whose executors are killed while they work."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skerry.testing.cluster import Cluster
from tests.spark.test_recovery import RULES, SCRIPT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

BATCHES = 2
"""So many batches are written before something is killed."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(workers=2, cores=1) as started:
        yield started


def command(folder: Path, out: str, *options: str) -> list[str]:
    main = "from skerry.cli import main; main()"
    kept = ["--format", "csv", "--batch-rows", "1200", "--out", str(folder / out)]
    return [sys.executable, "-c", main, "run", str(folder / "script.sql"), *kept, *options]


def answers(folder: Path) -> dict[str, Counter[str]]:
    """The rows of each output, without their heads."""
    found: dict[str, Counter[str]] = {}
    for part in folder.rglob("part-*.csv"):
        found.setdefault(str(part.parent.relative_to(folder)), Counter()).update(part.read_text().splitlines()[1:])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A script, and its answers as they are found in one process."""
    found = tmp_path_factory.mktemp("cluster")
    (found / "script.sql").write_text(SCRIPT.format(minutes=15))
    (found / "jams.dl").write_text(RULES)
    whole = command(found, "whole", "--runtime", "fjord")
    subprocess.run(whole, check=True, capture_output=True, timeout=300, cwd=found)
    return found


def run_and_kill(cluster: Cluster, folder: Path, out: str, kill: Callable[[], None]) -> None:
    """Run on the cluster, and kill something once some batches are written; the run ends well all the same."""
    where = ["--master", cluster.url, "--checkpoint", str(folder / f"{out}-checkpoint")]
    process = subprocess.Popen(command(folder, out, *where), cwd=folder, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(list((folder / out).glob("mean/part-*"))) < BATCHES:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[1]
    kill()
    _, complaint = process.communicate(timeout=600)
    assert process.returncode == 0, complaint
    assert answers(folder / out) == answers(folder / "whole")


def test_executor_that_is_killed_changes_nothing(cluster, folder):
    assert cluster.executors(0) == []
    run_and_kill(cluster, folder, "executor", lambda: cluster.kill_executor(0))
    buckets = {path.name for path in (folder / "executor-checkpoint" / "spark" / "state" / "0").glob("[0-9]*")}
    assert buckets == {"0", "1"}, "a bucket for each core"


def test_worker_that_is_killed_changes_nothing(cluster, folder):
    run_and_kill(cluster, folder, "worker", lambda: cluster.kill_worker(0))
    assert cluster.executors(0) == []
