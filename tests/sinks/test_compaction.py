import threading
from functools import partial
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import OptionError
from skerry.sinks import compaction
from skerry.sinks.compaction import MANY, Compaction, choose
from skerry.sinks.files import FileSink
from skerry.sinks.formats import FORMATS, merge_files
from skerry.sinks.parts import find_parts, name_part

SCHEMA = pa.schema({"batch": pa.int64(), "text": pa.string()})
READERS = {"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_json"}


def rows(batch: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"batch": [batch, batch], "text": ['a "b"\n', None]}, schema=SCHEMA)


def opened(folder: Path, format_: str = "csv", *, recorded: int = 0) -> FileSink:
    sink = FileSink(folder, format_)
    sink.claim("run-7", recorded)
    sink.open({"v": SCHEMA}, resume=recorded > 0)
    return sink


def batches(folder: Path, format_: str) -> list[int]:
    pattern = str(folder / "v" / f"*.{format_}")
    return [batch for (batch,) in duckdb.sql(f"SELECT batch FROM {READERS[format_]}('{pattern}')").fetchall()]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "v").iterdir())


@pytest.mark.parametrize("format_", FORMATS)
def test_many_small_files_become_few_with_all_rows_in_order(tmp_path, format_):
    sink = opened(tmp_path, format_)
    for batch in range(200):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    assert len(names(tmp_path)) < 2 * MANY
    assert batches(tmp_path, format_) == [batch for batch in range(200) for _ in range(2)]


@pytest.mark.parametrize("format_", FORMATS)
def test_each_listing_of_the_folder_has_each_row_once(tmp_path, format_):
    sink, done, wrong = opened(tmp_path, format_), threading.Event(), []

    def look() -> None:
        while not done.is_set():
            found = [(part.first, part.last) for part in find_parts(tmp_path / "v")]
            if any(after[0] != before[1] + 1 for before, after in pairwise(found)) or (found and found[0][0]):
                wrong.append(found)

    reader = threading.Thread(target=look)
    reader.start()
    for batch in range(400):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    done.set()
    reader.join()
    assert wrong == []
    assert any(part.is_merged for part in find_parts(tmp_path / "v"))


def test_files_of_runs_that_were_restarted_often_become_few(tmp_path):
    for start in range(0, 80, 5):
        sink = opened(tmp_path, recorded=start)
        for batch in range(start, start + 5):
            sink.write("v", batch, rows(batch))
            sink.settle()
        sink.close()
    assert len(names(tmp_path)) < 2 * MANY
    assert batches(tmp_path, "csv") == [batch for batch in range(80) for _ in range(2)]


def test_batch_that_runs_again_after_it_was_merged_is_there_once(tmp_path):
    sink = opened(tmp_path)
    for batch in range(40):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    again = opened(tmp_path, recorded=40)
    for batch in range(5, 41):
        again.write("v", batch, rows(batch))
    again.close()
    assert batches(tmp_path, "csv") == [batch for batch in range(41) for _ in range(2)]


def test_batches_that_a_killed_run_had_begun_are_settled_before_they_are_merged(tmp_path):
    sink = opened(tmp_path)
    for batch in range(5 * MANY):
        sink.write("v", batch, rows(batch))
        if batch < MANY:
            sink.settle()
    again = opened(tmp_path, recorded=5 * MANY)  # so many have begun; all but the first are done again
    for batch in range(MANY, 5 * MANY):
        again.write("v", batch, rows(batch))
    compacted = again._compaction._pending.get(tmp_path / "v")
    if compacted:
        compacted.result()
    again.settle()
    again.close()
    assert batches(tmp_path, "csv") == [batch for batch in range(5 * MANY) for _ in range(2)]


def test_files_that_are_not_recorded_yet_stay_as_they_are(tmp_path):
    sink = opened(tmp_path)
    for batch in range(4 * MANY):
        sink.write("v", batch, rows(batch))
    sink.settle()  # finds all of them
    assert len(names(tmp_path)) == 4 * MANY
    for batch in range(4 * MANY, 6 * MANY):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    assert len(names(tmp_path)) < 2 * MANY
    assert batches(tmp_path, "csv") == [batch for batch in range(6 * MANY) for _ in range(2)]


def test_run_that_goes_on_drops_only_the_batch_that_was_not_recorded(tmp_path):
    sink = opened(tmp_path)
    for batch in range(40):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    opened(tmp_path, recorded=39)
    assert batches(tmp_path, "csv") == [batch for batch in range(39) for _ in range(2)]


def test_checkpoint_that_is_older_than_merged_answers_is_refused(tmp_path):
    sink = opened(tmp_path)
    for batch in range(40):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    with pytest.raises(OptionError, match=r"goes on with batch 3, and '.*' holds batches up to \d+: it is older"):
        opened(tmp_path, recorded=3)


@pytest.mark.parametrize("fails", ["exchange", "sync"])
def test_compaction_that_breaks_off_leaves_the_folder_as_it_was(tmp_path, monkeypatch, fails):
    sink = opened(tmp_path)
    for batch in range(MANY - 1):
        sink.write("v", batch, rows(batch))
        sink.settle()
    before = names(tmp_path)

    def die(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compaction, fails, die)
    merge = Compaction(tmp_path / ".w", partial(merge_files, format_="csv"), synced=True)
    (tmp_path / "v" / f"{name_part(MANY)}.csv").write_bytes((tmp_path / "v" / before[0]).read_bytes())
    with pytest.raises(KeyboardInterrupt):
        merge.compact(tmp_path / "v", MANY + 1)
    assert names(tmp_path) == [*before, f"{name_part(MANY)}.csv"]


def test_system_that_cannot_exchange_folders_keeps_all_files(tmp_path, monkeypatch, caplog):
    def refuse(*_args: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(compaction, "exchange", refuse)
    sink = opened(tmp_path)
    for batch in range(40):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    assert len(names(tmp_path)) == 40
    assert "are not put together: Invalid argument" in caplog.text


def test_file_that_is_removed_meanwhile_does_not_come_back(tmp_path):
    sink = opened(tmp_path)
    for batch in range(MANY - 1):
        sink.write("v", batch, rows(batch))
        sink.settle()
    (tmp_path / "v" / f"{name_part(MANY)}.csv").write_bytes(next((tmp_path / "v").iterdir()).read_bytes())

    def merge_while_one_goes(parts: list[Path], merged: Path) -> None:
        merge_files(parts, merged, "csv")
        parts[0].unlink()

    Compaction(tmp_path / ".w", merge_while_one_goes, synced=False).compact(tmp_path / "v", MANY + 1)
    assert names(tmp_path)[0] == f"{name_part(1)}.csv"
    assert len(names(tmp_path)) == MANY - 1


def test_files_of_others_are_kept(tmp_path):
    sink = opened(tmp_path)
    (tmp_path / "v" / "notes.txt").write_text("mine")
    for batch in range(40):
        sink.write("v", batch, rows(batch))
        sink.settle()
    sink.close()
    assert (tmp_path / "v" / "notes.txt").read_text() == "mine"


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.sampled_from([10, 1 << 16, 1 << 19, 1 << 26]), max_size=60), data=st.data())
def test_what_is_chosen_is_whole_batches_in_a_row(tmp_path_factory, sizes, data):
    folder, first = tmp_path_factory.mktemp("parts"), 0
    for size in sizes:
        last = first + data.draw(st.integers(0, 2))
        with (folder / f"{name_part(first, last)}.csv").open("wb") as file:
            file.truncate(size)
        first = last + 1
    parts = find_parts(folder)
    chosen = choose(parts)
    assert not chosen or list(chosen) == parts[parts.index(chosen[0]) : parts.index(chosen[-1]) + 1]
    assert not chosen or len(chosen) >= MANY


@pytest.mark.parametrize("count", [MANY - 1, MANY])
def test_files_of_one_level_become_one_as_soon_as_there_are_many(tmp_path, count):
    for number in range(count):
        (tmp_path / f"{name_part(number)}.csv").write_text("x")
    assert len(choose(find_parts(tmp_path))) == (count if count == MANY else 0)
