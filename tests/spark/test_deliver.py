"""A batch is recorded as done when all that it wrote is on the disk: seen without Spark, by what the disk is asked."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from skerry.model.batch import pack
from skerry.pipeline.outcome import Outcome, Tally
from skerry.sinks.files import FileSink
from skerry.sources.tables import Tables
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.deliver import Deliver
from skerry.spark.envelope import TALLY
from skerry.spark.tables import TableStore

ROWS = pa.record_batch({"speed": [1.0, 2.0]})
OUTPUTS = {"slow": ROWS.schema, "late": ROWS.schema}
PIPELINE = SimpleNamespace(outputs=lambda: OUTPUTS, registry=None, foreign=(), copies_of=lambda output: ())


class Frame:
    """What a batch gives: its account, and two rows for each output, of which one was written by a task."""

    def __init__(self) -> None:
        self.sparkSession = SimpleNamespace(sparkContext=SimpleNamespace(setLocalProperty=lambda *_: None))

    def toArrow(self) -> pa.Table:
        tally = json.dumps(asdict(Outcome({"road": Tally(2)}))).encode()
        names, blobs, counts = [TALLY, "slow", "late"], [tally, bytes(pack(ROWS)), None], [None, None, 2]
        zeros = pa.array([0, 0, 0])
        columns = {"name": names, "grp": zeros, "bucket": zeros, "task": zeros, "row_count": counts, "blob": blobs}
        return pa.table(columns)


def lay_out_log(folder: Path, batch: int) -> None:
    """Spark's files of a batch, as they are when the batch is delivered."""
    names = ["metadata", f"offsets/{batch}", f"offsets/.{batch}.crc", f"state/0/1/{batch + 1}.changelog"]
    for name in [*names, *([f"commits/{batch - 1}"] if batch else [])]:
        path = folder / "spark" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("v1")


@pytest.fixture
def calls(monkeypatch):
    """What is asked of the disk, in order: a file or folder is synced, or gets its name."""
    found = []
    rename = os.replace

    def replace(before, after):
        found.append(("move", str(after)))
        rename(before, after)

    monkeypatch.setattr(os, "fsync", lambda file: found.append(("sync", os.readlink(f"/proc/self/fd/{file}"))))
    monkeypatch.setattr(os, "replace", replace)
    return found


def deliver_batches(folder: Path, count: int, *, kept: bool) -> Outcome:
    checkpoint = Checkpoint(folder / "checkpoint", 2, "script", kept=kept)
    sink = FileSink(folder / "out", "csv")
    if kept:
        sink.claim(checkpoint.run, 0)
    sink.open(OUTPUTS, resume=False)
    deliver = Deliver(PIPELINE, sink, checkpoint, TableStore(checkpoint.part("tables"), Tables([], folder)), None)
    for batch in range(count):
        lay_out_log(checkpoint.folder, batch)
        sink.part_writer().write_part("late", batch, 0, ROWS)
        deliver(Frame(), batch)
    return checkpoint.progress.total


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a descriptor has no name here")
def test_batch_is_recorded_after_all_it_wrote_is_on_the_disk(tmp_path, calls):
    deliver_batches(tmp_path, 2, kept=True)
    recorded = [
        index for index, call in enumerate(calls) if call == ("move", str(tmp_path / "checkpoint/progress.json"))
    ]
    synced = {Path(path).relative_to(tmp_path) for done, path in calls[recorded[0] : recorded[1]] if done == "sync"}
    answers = {
        Path("out", output, name) for output, name in (("slow", "part-00000001.csv"), ("late", "part-00000001-0.csv"))
    }
    log = {"metadata", "offsets/1", "offsets/.1.crc", "commits/0", "state/0/1/2.changelog"}
    files = answers | {Path("checkpoint/spark", name) for name in log}
    assert files | {path.parent for path in files} <= synced
    assert calls[recorded[1] + 1] == ("sync", str(tmp_path / "checkpoint"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a descriptor has no name here")
def test_run_that_cannot_go_on_waits_for_no_disk(tmp_path, calls):
    deliver_batches(tmp_path, 2, kept=False)
    assert [path for done, path in calls if done == "sync"] == []


def test_batch_is_counted_with_the_rows_that_tasks_wrote(tmp_path):
    assert deliver_batches(tmp_path, 2, kept=False).answers == {"slow": 4, "late": 4}
