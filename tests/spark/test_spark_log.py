"""What Spark's log and our record must have in common before a run goes on: looked at without Spark."""

import pytest

from skerry.errors import CheckpointError
from skerry.pipeline.outcome import Outcome
from skerry.spark import spark_log
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.spark_log import SparkLog


def broken_off(folder, *, planned: int, recorded: int, committed: int) -> None:
    """A checkpoint as a run leaves it that breaks off after these batches."""
    checkpoint = Checkpoint(folder, 2, "script", kept=False)
    for name, last in (("offsets", planned), ("commits", committed)):
        (folder / "spark" / name).mkdir(parents=True)
        for batch in range(last + 1):
            (folder / "spark" / name / str(batch)).write_text(f'v1\n{{}}\n"{name} of {batch}"')
    (folder / "spark" / "metadata").write_text("{}")
    for batch in range(recorded + 1):
        checkpoint.progress.record(batch, Outcome(batches=1), checkpoint.log.digest(batch))


@pytest.mark.parametrize("last", [0, 1, 2, 7])
@pytest.mark.parametrize(("recorded", "committed"), [(0, 0), (0, -1), (-1, -1)])
def test_run_goes_on_wherever_it_broke_off(tmp_path, last, recorded, committed):
    broken_off(tmp_path, planned=last, recorded=last + recorded, committed=last + committed)
    found = Checkpoint(tmp_path, 2, "script")
    assert (found.begun, found.resumed) == (True, last + recorded >= 0)


LOST = [
    ("run.json", "run.json' is missing"),
    ("progress.json", "progress.json' is missing, while Spark's log has batch 4"),
    ("spark/metadata", "metadata' is missing"),
    ("spark/offsets/4", "offsets/4' is missing"),
    ("spark/offsets/3", "offsets/3' is missing"),
    ("spark/offsets", "offsets/3' is missing"),
    ("spark/commits", "commits/3' is missing"),
    ("spark", "metadata' is missing|offsets/3' is missing"),
]


@pytest.mark.parametrize(("name", "told"), LOST)
def test_what_is_missing_is_named(tmp_path, name, told):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    (tmp_path / name).rename(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match=told):
        Checkpoint(tmp_path, 2, "script")


def test_batch_of_which_spark_has_lost_only_the_end_runs_again(tmp_path):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    (tmp_path / "spark" / "commits" / "4").unlink()
    assert Checkpoint(tmp_path, 2, "script").resumed


def test_record_older_than_the_log_is_refused(tmp_path):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    older = tmp_path / "older"
    broken_off(older, planned=2, recorded=2, committed=2)
    files = Checkpoint(tmp_path, 2, "script").files
    files.write("progress.json", Checkpoint(older, 2, "script").files.read("progress.json"))
    with pytest.raises(CheckpointError, match="knows batches up to 2, while Spark's log has batch 4"):
        Checkpoint(tmp_path, 2, "script")


@pytest.mark.parametrize("batch", [3, 4])
def test_other_positions_than_those_recorded_are_refused(tmp_path, batch):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    (tmp_path / "spark" / "offsets" / str(batch)).write_text("of another run")
    with pytest.raises(CheckpointError, match=f"offsets/{batch}' is damaged"):
        Checkpoint(tmp_path, 2, "script")


def test_state_without_its_description_is_refused(tmp_path):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    (tmp_path / "spark" / "state" / "0" / "_metadata" / "v2").mkdir(parents=True)
    with pytest.raises(CheckpointError, match="_metadata' is missing, or has no file"):
        Checkpoint(tmp_path, 2, "script")


def test_damaged_checksum_of_whole_positions_is_named(tmp_path):
    broken_off(tmp_path, planned=4, recorded=4, committed=4)
    (tmp_path / "spark" / "offsets" / ".4.crc").write_bytes(b"crc\0\0\0\2\0\7")
    with pytest.raises(CheckpointError, match=r"offsets/\.4\.crc' is damaged: it does not fit '4'"):
        Checkpoint(tmp_path, 2, "script")


@pytest.mark.parametrize("name", ["run.json", "progress.json"])
def test_file_of_another_run_is_refused(tmp_path, name):
    for run in ("one", "other"):
        broken_off(tmp_path / run, planned=4, recorded=4, committed=4)
    (tmp_path / "other" / name).replace(tmp_path / "one" / name)
    with pytest.raises(CheckpointError, match=r"progress\.json' belongs to another run"):
        Checkpoint(tmp_path / "one", 2, "script")


@pytest.mark.parametrize("content", ["", "v1", "v1\n{}", "v1\n{}\n{", "\0" * 100])
def test_positions_that_were_not_on_the_disk_whole_are_found_anew(tmp_path, content):
    broken_off(tmp_path, planned=4, recorded=3, committed=3)
    last = tmp_path / "spark" / "offsets" / "4"
    last.write_text(content)
    assert Checkpoint(tmp_path, 2, "script").resumed
    assert not last.exists()


def test_whole_positions_of_a_batch_under_way_stay(tmp_path):
    broken_off(tmp_path, planned=4, recorded=3, committed=3)
    assert Checkpoint(tmp_path, 2, "script").resumed
    assert (tmp_path / "spark" / "offsets" / "4").exists()


def test_folder_with_other_files_can_become_a_checkpoint(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert not Checkpoint(tmp_path, 2, "script").begun


def test_positions_and_state_of_a_batch_are_synced(tmp_path, monkeypatch):
    broken_off(tmp_path, planned=4, recorded=3, committed=3)
    bucket = tmp_path / "spark" / "state" / "0" / "1"
    bucket.mkdir(parents=True)
    for name in ("4.changelog", "5.changelog", ".5.changelog.crc", "5.zip"):
        (bucket / name).touch()
    synced = []
    monkeypatch.setattr(spark_log, "sync", synced.extend)
    SparkLog(tmp_path / "spark", synced=True).settle(4)
    names = {str(path.relative_to(tmp_path / "spark")) for path in synced}
    state = {f"state/0/1/{name}" for name in ("5.changelog", ".5.changelog.crc", "5.zip")}
    assert names == {"metadata", "offsets/4", "commits/3"} | state
