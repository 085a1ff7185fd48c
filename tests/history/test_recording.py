import threading
from collections import Counter
from datetime import datetime, timedelta

import duckdb
import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import RunError
from skerry.history.folder import HistoryFolder
from skerry.history.recording import Recording
from skerry.history.retention import Retention
from skerry.model.arrival import STAMPS
from skerry.model.time import MICROS, Micros
from skerry.sinks.compaction import MANY

SCHEMA = pa.schema({"n": pa.int64(), "ts": pa.timestamp("us")})
ROAD = Source("road", SCHEMA, "file", event_time="ts", delay_us=Micros(0))
START = datetime(2026, 1, 1, 23, 0)


def begin(folder, batch: int = 0, run: str = "run-1", retention: Retention | None = None, *, kept: bool = True):
    return Recording(HistoryFolder(folder), [ROAD], {"road": retention or Retention()}, run, batch, kept=kept)


def rows(*numbers: int, minutes: int = 10) -> pa.RecordBatch:
    """Readings so many minutes after each other, by their numbers."""
    times = [START + timedelta(minutes=minutes * number) for number in numbers]
    columns = [pa.array(numbers, pa.int64()), pa.array(times, pa.timestamp("us")), *([pa.array(numbers)] * 2)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema([*SCHEMA, *STAMPS]))


def commit(recording: Recording, batch: int, by_task: dict[int, pa.RecordBatch]) -> None:
    for task, readings in by_task.items():
        recording.writer.write_part("road", batch, task, [readings])
    recording.commit(batch, {"road": list(by_task)})


def numbers(folder) -> list[int]:
    pattern = str(folder / "history" / "road" / "*" / "*.parquet")
    return sorted(number for (number,) in duckdb.sql(f"SELECT n FROM read_parquet('{pattern}')").fetchall())


def files(folder) -> list[str]:
    return sorted(str(path.relative_to(folder / "history" / "road")) for path in folder.rglob("part-*.parquet"))


def test_batch_is_unseen_until_it_is_committed(tmp_path):
    recording = begin(tmp_path)
    recording.writer.write_part("road", 0, 3, [rows(1)])
    assert not (tmp_path / "history").exists()
    recording.commit(0, {"road": [3]})
    assert files(tmp_path) == ["day=2026-01-01/part-00000000-3.parquet"]
    recording.close()


def test_readings_are_in_the_folder_of_their_day(tmp_path):
    recording = begin(tmp_path)
    commit(recording, 0, {1: rows(5, 6, 7)})
    assert files(tmp_path) == [f"day=2026-01-0{day}/part-00000000-1.parquet" for day in (1, 2)]
    recording.close()


def test_batch_that_runs_again_in_other_tasks_is_there_once(tmp_path):
    recording = begin(tmp_path)
    commit(recording, 0, {1: rows(1), 2: rows(2)})
    commit(recording, 0, {0: rows(1, 2)})
    assert numbers(tmp_path) == [1, 2]
    recording.close()


def test_task_that_failed_leaves_nothing(tmp_path):
    recording = begin(tmp_path)
    recording.writer.write_part("road", 0, 7, [rows(9)])
    commit(recording, 0, {1: rows(1)})
    assert numbers(tmp_path) == [1]
    recording.close()


def test_run_that_goes_on_drops_the_batch_it_has_not_recorded(tmp_path):
    recording = begin(tmp_path)
    for batch in range(3):
        commit(recording, batch, {0: rows(batch)})
    recording.release()
    again = begin(tmp_path, 2)
    assert numbers(tmp_path) == [0, 1]
    commit(again, 2, {0: rows(2)})
    again.close()
    assert numbers(tmp_path) == [0, 1, 2]


def test_batch_that_was_recorded_and_runs_again_is_there_once(tmp_path):
    recording = begin(tmp_path)
    for batch in range(2):
        commit(recording, batch, {0: rows(batch)})
    recording.release()
    begin(tmp_path, run="run-2", kept=False).close()
    again = begin(tmp_path, 2)
    for batch in (1, 2):
        commit(again, batch, {3: rows(batch)})
    again.close()
    assert numbers(tmp_path) == [0, 1, 2]


def test_another_run_keeps_what_is_there(tmp_path):
    for run in ("run-1", "run-2"):
        recording = begin(tmp_path, run=run)
        commit(recording, 0, {0: rows(1)})
        recording.close()
    assert numbers(tmp_path) == [1, 1]


def test_run_that_goes_on_after_another_drops_only_what_is_its_own(tmp_path):
    first = begin(tmp_path)
    for batch in range(3):
        commit(first, batch, {0: rows(batch)})
    first.release()
    other = begin(tmp_path, run="run-2", kept=False)
    for batch in range(40):
        commit(other, batch, {0: rows(100)})
    other.close()
    assert len(files(tmp_path)) < 40
    begin(tmp_path, 2).close()
    assert Counter(numbers(tmp_path)) == {0: 1, 1: 1, 100: 40}


def test_steps_in_process_are_written_together_and_settle_on_the_disk(tmp_path):
    recording = begin(tmp_path)
    for batch in range(5):
        recording.add(batch, {"road": [rows(batch)]})
    recording.settle()
    assert numbers(tmp_path) == [0, 1, 2, 3, 4]
    assert len(files(tmp_path)) < 5
    recording.close()


def test_second_run_of_a_project_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("skerry.model.folder_lock._PATIENCE_SECONDS", 0.0)
    recording = begin(tmp_path)
    with pytest.raises(RunError, match=r"the history '.*' is in use by process"):
        begin(tmp_path, run="run-2")
    recording.close()


def test_many_batches_become_few_files_while_duckdb_reads_each_row_once(tmp_path):
    recording, done, wrong = begin(tmp_path, kept=False), threading.Event(), []
    commit(recording, 0, {0: rows(0, minutes=0)})

    def look() -> None:
        while not done.is_set():
            try:
                found = numbers(tmp_path)
            except duckdb.IOException:  # a file that was listed has been put together with others: look again
                continue
            if found != list(range(len(found))):
                wrong.append(found)

    reader = threading.Thread(target=look)
    reader.start()
    for batch in range(1, 200):
        commit(recording, batch, {0: rows(batch, minutes=0)})
    recording.close()
    done.set()
    reader.join()
    assert wrong == []
    assert numbers(tmp_path) == list(range(200))
    assert len(files(tmp_path)) < 2 * MANY


@pytest.mark.parametrize(
    ("retention", "kept"),
    [
        (Retention(), 30),
        (Retention(for_us=Micros(MICROS["HOUR"])), 7),
        (Retention(for_us=Micros(0)), 1),
        (Retention(most_bytes=0), 0),
        (Retention(most_bytes=10**9), 30),
    ],
)
def test_old_readings_and_too_many_bytes_are_given_up(tmp_path, monkeypatch, retention, kept):
    monkeypatch.setattr("skerry.history.recording.Compaction.note", lambda *args, **kwargs: None)
    recording = begin(tmp_path, retention=retention)
    for batch in range(30):
        commit(recording, batch, {0: rows(batch)})
    recording.close()
    assert (numbers(tmp_path) if files(tmp_path) else []) == list(range(30 - kept, 30))
    assert all(any(day.iterdir()) for day in (tmp_path / "history" / "road").iterdir())


def test_bytes_that_are_kept_are_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr("skerry.history.recording.Compaction.note", lambda *args, **kwargs: None)
    recording = begin(tmp_path)
    commit(recording, 0, {0: rows(0)})
    one = next(tmp_path.rglob("part-*.parquet")).stat().st_size
    recording.close()
    recording = begin(tmp_path, 1, retention=Retention(most_bytes=one * 5 + one // 2))
    for batch in range(1, 20):
        commit(recording, batch, {0: rows(batch)})
    recording.close()
    assert numbers(tmp_path) == list(range(15, 20))
