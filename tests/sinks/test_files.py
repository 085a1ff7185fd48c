import csv
import json
import math
import pickle
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.errors import OptionError
from skerry.sinks import files
from skerry.sinks.files import FileSink
from skerry.sinks.formats import FORMATS

SCHEMA = pa.schema({"a": pa.int64(), "b": pa.string()})
MEMBERS = pa.list_(pa.struct({"sensor": pa.string(), "ts": pa.timestamp("us"), "gas": pa.float64()}))
SPANS = [timedelta(days=2, seconds=1.5), timedelta(seconds=-90), None]
INTERVALS = [
    None if span is None else (0, span.days, span.seconds * 10**9 + span.microseconds * 1000) for span in SPANS
]
TEXTS = ['a "b"', "c,d", "e\nf\r\ng", "Größe 測 🌊", "", " h ", "'", "\\", "\t", "NULL"]
NUMBERS = pa.array([1.5, math.nan, math.inf, -math.inf, 0.1, 1e300])
DECIMALS = pa.array([Decimal(10) ** 30, Decimal(-3), Decimal(0), None], pa.decimal128(38, 0))
NESTED = [[{"sensor": 'ü"', "ts": datetime(2026, 1, 1), "gas": math.nan}], []]
PLAIN = [[{"sensor": 'ü"', "ts": "2026-01-01 00:00:00.000000", "gas": "NaN"}], []]


def rows(*numbers: int) -> pa.RecordBatch:
    columns = [pa.array(numbers, pa.int64()), pa.array(["x"] * len(numbers), pa.string())]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def opened(folder: Path, format_: str = "csv", *, resume: bool = False) -> FileSink:
    sink = FileSink(folder, format_)
    sink.open({"v": SCHEMA}, resume=resume)
    return sink


def parts(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "v").iterdir())


def staged(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(".staged/v/*"))


def written(folder: Path, format_: str, column: pa.Array) -> Path:
    """The file of a batch with this column, and one beside it."""
    batch = pa.record_batch({"value": column, "row": pa.array(range(len(column)), pa.int64())})
    sink = FileSink(folder, format_)
    sink.open({"v": batch.schema}, resume=False)
    sink.write("v", 0, batch)
    return folder / "v" / f"part-00000000.{format_}"


def as_csv(folder: Path, column: pa.Array) -> list[str]:
    with written(folder, "csv", column).open(newline="") as file:
        return [row["value"] for row in csv.DictReader(file)]


def as_jsonl(folder: Path, column: pa.Array) -> list[object]:
    def refuse(word: str) -> object:
        raise ValueError(f"{word} is no JSON")

    lines = written(folder, "jsonl", column).read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    return [json.loads(line, parse_constant=refuse)["value"] for line in lines]


def as_parquet(folder: Path, column: pa.Array) -> pa.ChunkedArray:
    return pq.read_table(written(folder, "parquet", column)).column("value")


@pytest.mark.parametrize("read", [as_csv, as_jsonl])
def test_time_has_all_six_digits(tmp_path, read):
    times = pa.array([0, -1, 1_767_225_600_500_000, -62_135_596_800_000_000], pa.timestamp("us"))
    texts = ["1970-01-01 00:00:00.000000", "1969-12-31 23:59:59.999999", "2026-01-01 00:00:00.500000"]
    assert read(tmp_path, times) == [*texts, "0001-01-01 00:00:00.000000"]


@pytest.mark.parametrize(
    "spans", [pa.array(SPANS), pa.array(INTERVALS, pa.month_day_nano_interval())], ids=["duration", "interval"]
)
def test_span_is_told_in_hours(tmp_path, spans):
    assert as_csv(tmp_path, spans) == ["48:00:01.500000", "-00:01:30.000000", ""]
    assert as_jsonl(tmp_path, spans) == ["48:00:01.500000", "-00:01:30.000000", None]


def test_span_is_a_duration_in_parquet(tmp_path):
    assert as_parquet(tmp_path, pa.array(INTERVALS, pa.month_day_nano_interval())).to_pylist() == SPANS


def test_any_text_survives_csv(tmp_path):
    assert as_csv(tmp_path, pa.array(TEXTS)) == TEXTS


def test_any_text_survives_jsonl(tmp_path):
    assert as_jsonl(tmp_path, pa.array(TEXTS)) == TEXTS


def test_json_line_holds_letters_as_they_are(tmp_path):
    assert "Größe 測" in written(tmp_path, "jsonl", pa.array(TEXTS)).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "type_", [pa.int32(), pa.float64(), pa.string(), pa.timestamp("us"), pa.bool_(), MEMBERS], ids=str
)
def test_null_is_empty_in_csv_and_null_in_jsonl(tmp_path, type_):
    assert as_csv(tmp_path, pa.array([None], type_)) == [""]
    assert as_jsonl(tmp_path, pa.array([None], type_)) == [None]


def test_null_and_the_empty_text_differ_in_csv(tmp_path):
    path = written(tmp_path, "csv", pa.array([None, ""]))
    assert path.read_text().splitlines() == ['"value","row"', ",0", '"",1']


def test_null_alone_in_its_row_is_no_empty_line(tmp_path):
    sink, batch = FileSink(tmp_path, "csv"), pa.record_batch({"value": pa.array([1.5, None])})
    sink.open({"v": batch.schema}, resume=False)
    sink.write("v", 0, batch)
    with (tmp_path / "v" / "part-00000000.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["value"], ["1.5"], [""]]


def test_unusual_numbers_are_words_in_csv(tmp_path):
    assert as_csv(tmp_path, NUMBERS) == ["1.5", "nan", "inf", "-inf", "0.1", "1e+300"]


def test_unusual_numbers_leave_jsonl_valid(tmp_path):
    assert as_jsonl(tmp_path, NUMBERS) == [1.5, "NaN", "Infinity", "-Infinity", 0.1, 1e300]


def test_whole_decimals_keep_all_digits(tmp_path):
    assert as_csv(tmp_path, DECIMALS) == ["1" + "0" * 30, "-3", "0", ""]
    assert as_jsonl(tmp_path, DECIMALS) == [10**30, -3, 0, None]


def test_fractions_of_decimals_keep_all_digits(tmp_path):
    prices = pa.array([Decimal("1.50"), Decimal("-0.01")], pa.decimal128(20, 2))
    assert as_csv(tmp_path, prices) == as_jsonl(tmp_path, prices) == ["1.50", "-0.01"]


def test_nested_value_is_json_in_csv(tmp_path):
    assert list(map(json.loads, as_csv(tmp_path, pa.array(NESTED, MEMBERS)))) == PLAIN


def test_nested_value_stays_nested_in_jsonl(tmp_path):
    assert as_jsonl(tmp_path, pa.array(NESTED, MEMBERS)) == PLAIN


def test_truth_is_spelled_in_small_letters(tmp_path):
    assert as_csv(tmp_path, pa.array([True, False])) == ["true", "false"]
    assert as_jsonl(tmp_path, pa.array([True, False])) == [True, False]


@pytest.mark.parametrize(
    "column",
    [NUMBERS, DECIMALS, pa.array(TEXTS), pa.array(NESTED, MEMBERS), pa.array([0], pa.timestamp("us"))],
    ids=["numbers", "decimals", "texts", "nested", "times"],
)
def test_parquet_keeps_types_and_values(tmp_path, column):
    found = as_parquet(tmp_path, column)
    assert found.type == column.type
    assert repr(found.to_pylist()) == repr(column.to_pylist())


@pytest.mark.parametrize("format_", FORMATS)
def test_file_is_named_by_its_batch(tmp_path, format_):
    opened(tmp_path, format_).write("v", 7, rows(1))
    assert parts(tmp_path) == [f"part-00000007.{format_}"]


@pytest.mark.parametrize("format_", FORMATS)
def test_batch_that_runs_again_leaves_what_one_run_leaves(tmp_path, format_):
    sink = opened(tmp_path, format_)
    sink.write("v", 3, rows(1, 2))
    once = (tmp_path / "v" / f"part-00000003.{format_}").read_bytes()
    sink.write("v", 3, rows(1, 2))
    assert parts(tmp_path) == [f"part-00000003.{format_}"]
    assert (tmp_path / "v" / f"part-00000003.{format_}").read_bytes() == once


def test_batch_that_has_no_rows_the_second_time_has_no_file(tmp_path):
    sink = opened(tmp_path)
    sink.write("v", 3, rows(1))
    sink.write("v", 3, rows())
    assert parts(tmp_path) == []


def test_batch_that_runs_again_in_another_format_is_there_once(tmp_path):
    opened(tmp_path, "csv").write("v", 3, rows(1))
    opened(tmp_path, "jsonl", resume=True).write("v", 3, rows(1))
    assert parts(tmp_path) == ["part-00000003.jsonl"]


def test_writing_that_fails_leaves_no_half_of_a_file(tmp_path):
    sink = opened(tmp_path, "jsonl")
    times = pa.record_batch({"day": pa.array([[0], [2**62]], pa.list_(pa.timestamp("us")))})
    with pytest.raises(OverflowError):
        sink.write("v", 0, times)
    assert parts(tmp_path) == []


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("name", [".part-00000003.csv.4711", ".part-00000003-1.csv.4711", ".part-00000003-1.csv"])
def test_unfinished_file_that_a_killed_run_left_is_removed(tmp_path, name, resume):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / name).write_text('"a","b"\n1')
    opened(tmp_path, resume=resume)
    assert parts(tmp_path) == []


def test_rows_of_a_part_are_unseen_until_their_batch_is_written(tmp_path):
    sink = opened(tmp_path)
    sink.part_writer().write_part("v", 3, 1, rows(1))
    assert (parts(tmp_path), staged(tmp_path)) == ([], ["part-00000003-1.csv"])
    sink.write("v", 3, rows(2), parts=[1])
    assert parts(tmp_path) == ["part-00000003-1.csv", "part-00000003.csv"]


def test_batch_whose_rows_are_all_in_parts_has_no_file_of_its_own(tmp_path):
    sink = opened(tmp_path)
    sink.part_writer().write_part("v", 3, 1, rows(1))
    sink.write("v", 3, rows(), parts=[1])
    assert parts(tmp_path) == ["part-00000003-1.csv"]


def test_batch_that_runs_again_in_other_tasks_leaves_their_files_alone(tmp_path):
    sink = opened(tmp_path)
    for tasks in ([1, 2], [2, 5]):
        for task in tasks:
            sink.part_writer().write_part("v", 3, task, rows(task))
        sink.write("v", 3, rows(), parts=tasks)
    assert parts(tmp_path) == ["part-00000003-2.csv", "part-00000003-5.csv"]


def test_part_writer_travels(tmp_path):
    sink = opened(tmp_path)
    pickle.loads(pickle.dumps(sink.part_writer())).write_part("v", 0, 0, rows(1))
    sink.write("v", 0, rows(), parts=[0])
    assert (tmp_path / "v" / "part-00000000-0.csv").read_text() == '"a","b"\n1,"x"\n'


def test_parts_of_an_earlier_run_are_removed_whatever_their_format(tmp_path):
    for format_ in FORMATS:
        opened(tmp_path, format_, resume=True).write("v", len(format_), rows(1))
    opened(tmp_path, "csv")
    assert parts(tmp_path) == []


def test_parts_of_an_earlier_run_stay_when_it_goes_on(tmp_path):
    opened(tmp_path).write("v", 0, rows(1))
    opened(tmp_path, resume=True).write("v", 1, rows(2))
    assert parts(tmp_path) == ["part-00000000.csv", "part-00000001.csv"]


@pytest.mark.parametrize("name", ["notes.csv", "part-list.csv", "part-00000001.txt", "part-1.csv", ".part.tmp"])
def test_files_of_others_stay(tmp_path, name):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / name).write_text("mine")
    opened(tmp_path).write("v", 1, rows(1))
    assert parts(tmp_path) == sorted([name, "part-00000001.csv"])


def test_folders_of_other_outputs_stay(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "part-00000000.csv").write_text("mine")
    opened(tmp_path)
    assert (tmp_path / "w" / "part-00000000.csv").exists()


@pytest.mark.parametrize(("format_", "content"), [("csv", b'"a","b"\n'), ("jsonl", b"")])
def test_output_without_rows_is_one_empty_file(tmp_path, format_, content):
    opened(tmp_path, format_).close()
    assert parts(tmp_path) == [f"part-00000000.{format_}"]
    assert (tmp_path / "v" / f"part-00000000.{format_}").read_bytes() == content


def test_parquet_without_rows_still_shows_its_columns(tmp_path):
    opened(tmp_path, "parquet").close()
    assert pq.read_schema(tmp_path / "v" / "part-00000000.parquet").equals(SCHEMA)


def test_output_with_rows_gets_no_empty_file(tmp_path):
    sink = opened(tmp_path)
    sink.write("v", 5, rows(1))
    sink.close()
    assert parts(tmp_path) == ["part-00000005.csv"]


def test_output_may_lie_in_a_folder_of_its_kind(tmp_path):
    sink = FileSink(tmp_path / "deep" / "er", "csv")
    sink.open({"dead_letters/road": SCHEMA}, resume=False)
    sink.write("dead_letters/road", 0, rows(1))
    assert (tmp_path / "deep" / "er" / "dead_letters" / "road" / "part-00000000.csv").exists()


def test_unknown_format_is_told():
    with pytest.raises(OptionError, match=r"unknown format 'xml'; known are parquet, csv, jsonl"):
        FileSink(Path(), "xml")


def test_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "v").write_text("a file")
    with pytest.raises(OptionError, match=r"cannot write answers to '.*/v': there is a file, not a folder"):
        opened(tmp_path)


@pytest.mark.parametrize("column", [pa.array([-(2**63), 2**63 - 1, None]), pa.array([3, -1], pa.timestamp("us"))])
def test_whole_numbers_and_times_are_stored_by_their_differences(tmp_path, column):
    chunk = pq.read_metadata(written(tmp_path, "parquet", column)).row_group(0).column(0)
    assert "DELTA_BINARY_PACKED" in chunk.encodings
    assert as_parquet(tmp_path, column).to_pylist() == column.to_pylist()


def claimed(folder: Path, batches: int, run: str = "run-7", format_: str = "csv") -> FileSink:
    """The sink of a run that has recorded some batches."""
    sink = FileSink(folder, format_)
    sink.claim(run, batches)
    sink.open({"v": SCHEMA}, resume=batches > 0)
    return sink


def test_run_goes_on_with_its_own_answers_without_what_it_has_not_recorded(tmp_path):
    first = claimed(tmp_path, 0)
    for batch in range(3):
        first.write("v", batch, rows(batch))
    claimed(tmp_path, 2)
    assert parts(tmp_path) == ["part-00000000.csv", "part-00000001.csv"]


def test_run_that_goes_on_elsewhere_is_refused(tmp_path):
    claimed(tmp_path / "a", 0).write("v", 0, rows(1))
    with pytest.raises(OptionError, match=r"the answers that the checkpoint goes on from are not in '.*b': name the"):
        claimed(tmp_path / "b", 1)


@pytest.mark.parametrize("other", [lambda folder: opened(folder), lambda folder: claimed(folder, 0, "run-8")])
def test_run_whose_answers_another_has_replaced_is_refused(tmp_path, other):
    claimed(tmp_path, 0).write("v", 0, rows(1))
    other(tmp_path)
    with pytest.raises(OptionError, match="the answers that the checkpoint goes on from are not in"):
        claimed(tmp_path, 1)


def test_run_that_goes_on_in_another_format_is_refused(tmp_path):
    claimed(tmp_path, 0).write("v", 0, rows(1))
    with pytest.raises(OptionError, match=r"the answers in '.*' are csv so far; go on with --format csv"):
        claimed(tmp_path, 1, format_="parquet")
    assert parts(tmp_path) == ["part-00000000.csv"]


def test_answers_of_a_run_that_may_go_on_are_synced_with_their_folders(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "sync", lambda paths: synced.extend(sorted(path.name for path in paths)))
    sink = claimed(tmp_path, 0)
    sink.part_writer().write_part("v", 3, 1, rows(1))
    sink.write("v", 3, rows(1), [1])
    sink.settle()
    sink.settle()
    assert synced == ["part-00000003-1.csv", "part-00000003-1.csv", "part-00000003.csv"]


def test_answers_of_a_run_that_cannot_go_on_are_not_waited_for(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "sync", synced.extend)
    sink = opened(tmp_path)
    sink.part_writer().write_part("v", 3, 1, rows(1))
    sink.write("v", 3, rows(1), [1])
    sink.settle()
    assert synced == []


def test_last_batch_is_that_of_the_newest_part_of_some_outputs(tmp_path):
    sink, rows = FileSink(tmp_path, "csv"), pa.record_batch({"speed": [1.0]})
    assert sink.last_batch(["slow"]) == -1
    sink.open({"slow": rows.schema, "fast": rows.schema}, resume=False)
    sink.write("slow", 3, rows)
    sink.write("fast", 7, rows)
    assert (sink.last_batch(["slow"]), sink.last_batch(["slow", "fast"])) == (3, 7)
