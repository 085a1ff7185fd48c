"""Files that appear and grow: each line once, whatever happens in between."""

import glob
import json
import random
from types import SimpleNamespace

import pyarrow as pa
import pytest

from skerry.catalog import Catalog, Source
from skerry.errors import OptionError, SourceError
from skerry.lang.sql import Session
from skerry.model.time import Micros
from skerry.sources.file.options import FileOptions
from skerry.sources.folder import FolderConnector, watch
from skerry.sources.folder.watch import FolderReceiving
from skerry.sources.folder.watched_file import Reach, read_on
from skerry.sources.source import Split
from skerry.sources.spool.decode import Decoder

SCHEMA = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("us"), "speed": pa.float64()})
HEADER = "sensor,ts,speed\n"


def declare(path="in/*.csv", **options):
    return Source("road", SCHEMA, "folder", {"path": path, **options}, event_time="ts")


class Watched:
    """A folder that is looked at when it is asked to, as after a restart each time."""

    def __init__(self, tmp_path, path="in/*.csv", **options):
        self.folder, self._spool, self._now = tmp_path / "in", tmp_path / "spool", 0
        self.folder.mkdir(exist_ok=True)
        self._definition, self._base = declare(path, **options), tmp_path
        self.connector = FolderConnector.open(self._definition, tmp_path).spool_in(self._spool)

    def look(self, *, is_settled=False):
        options = FileOptions.parse({"path": self._definition.options["path"]})
        receiving = FolderReceiving(
            self._definition, options, self._base, self._spool, Micros(0 if is_settled else 10**9)
        )
        self._now += 1
        while receiving._look(Micros(self._now)):
            self._now += 1
        receiving._look(Micros(self._now + 1))
        receiving.take_heard()
        receiving.settle_heard()
        receiving._writer.close()

    def read(self):
        [lane] = self.connector.lanes()
        return list(self.connector.read(Split("road", lane.name, 0, lane.count())))

    def speeds(self):
        return [speed for decoded in self.read() for speed in decoded.readings.column("speed").to_pylist()]

    def reasons(self):
        return [reason for decoded in self.read() for reason in decoded.rejects.column("reason").to_pylist()]


def line(number):
    return f"s1,2026-01-01 00:00:00,{number}\n"


@pytest.mark.parametrize("seed", range(5))
def test_files_that_grow_by_pieces_are_read_once(tmp_path, seed):
    watched, random_ = Watched(tmp_path), random.Random(seed)
    texts = {name: HEADER + "".join(map(line, range(first, first + 40))) for name, first in (("a", 0), ("b", 100))}
    while any(texts.values()):
        name = random_.choice([name for name, text in texts.items() if text])
        size = random_.randint(1, 200)
        with open(watched.folder / f"{name}.csv", "a") as file:
            file.write(texts[name][:size])
        texts[name] = texts[name][size:]
        watched.look()
    assert sorted(watched.speeds()) == [*range(40), *range(100, 140)]
    assert watched.reasons() == []


def test_json_lines_may_have_any_keys(tmp_path):
    watched = Watched(tmp_path, "in/*.jsonl")
    rows = [{"SPEED": 1, "ts": "2026-01-01", "other": [1]}, {"speed": "x", "ts": "2026-01-01"}, [1]]
    (watched.folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n?\n")
    watched.look()
    assert watched.speeds() == [1]
    assert sorted(watched.reasons()) == ["column speed: 'x' is not DOUBLE", "not a JSON object", "not a JSON object"]


def test_last_line_without_an_end_counts_when_the_file_has_settled(tmp_path):
    watched = Watched(tmp_path)
    (watched.folder / "a.csv").write_text(HEADER + line(1) + line(2).rstrip())
    watched.look()
    assert watched.speeds() == [1]
    watched.look(is_settled=True)
    assert watched.speeds() == [1, 2]


@pytest.mark.parametrize(("later", "reasons"), [("5\n", 1), ("\n", 0), ("\r\n", 0)])
def test_rest_of_a_line_that_counted_as_whole_is_a_dead_letter(tmp_path, later, reasons):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    file.write_text(HEADER + line(1) + line(2).rstrip())
    watched.look(is_settled=True)
    file.write_text(HEADER + line(1) + line(2).rstrip() + later + line(3))
    watched.look()
    assert watched.speeds() == [1, 2, 3]
    assert len(watched.reasons()) == reasons
    assert all(reason.startswith("the rest of a line that was read without it") for reason in watched.reasons())


def test_file_that_cannot_be_read_now_is_read_later(tmp_path, caplog):
    watched = Watched(tmp_path)
    (watched.folder / "a.csv").symlink_to("a.csv")
    (watched.folder / "b.csv").write_text(HEADER + line(1))
    watched.look()
    assert watched.speeds() == [1]
    assert "cannot read" in caplog.text
    assert caplog.text.count("a.csv") == 1
    (watched.folder / "a.csv").unlink()
    (watched.folder / "a.csv").write_text(HEADER + line(2))
    watched.look()
    assert watched.speeds() == [1, 2]


def test_record_of_several_lines_is_waited_for(tmp_path):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    file.write_text(HEADER + line(1) + '"s\n')
    watched.look()
    file.write_text(HEADER + line(1) + '"s\n2",2026-01-01,7\n')
    watched.look()
    assert watched.speeds() == [1, 7]
    assert watched.reasons() == []


def test_file_that_is_replaced_is_read_from_its_start(tmp_path):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    file.write_text(HEADER + line(1) + line(2))
    watched.look()
    file.unlink()
    watched.look()
    file.write_text(HEADER + line(3))
    watched.look()
    assert watched.speeds() == [1, 2, 3]


def test_file_that_is_emptied_is_read_from_its_start_again(tmp_path):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    file.write_text(HEADER + line(1) + line(2))
    watched.look()
    file.write_text("")
    watched.look()
    file.write_text(HEADER + line(3))
    watched.look()
    assert (watched.speeds(), watched.reasons()) == ([1, 2, 3], [])


def test_files_that_are_rotated_are_read_on_under_their_new_names(tmp_path):
    watched = Watched(tmp_path)
    log, first, second = (watched.folder / name for name in ("log.csv", "log.1.csv", "log.2.csv"))
    for number in (1, 3, 5):
        first.replace(second) if first.exists() else None
        log.replace(first) if log.exists() else None
        if first.exists():
            with open(first, "a") as file:
                file.write(line(number - 1))
        log.write_text(HEADER + line(number))
        watched.look()
    assert sorted(watched.speeds()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("moment", ["after the names are listed", "before the file is opened"])
def test_file_that_is_rotated_during_a_look_is_read_once(tmp_path, monkeypatch, moment):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    file.write_text(HEADER + line(1))
    watched.look()

    def rotate():
        if not (watched.folder / "a-1.csv").exists():
            with file.open("a") as old:
                old.write(line(2))
            file.rename(watched.folder / "a-1.csv")
            file.write_text(HEADER + line(3))

    def list_names(*given, **options):
        names = glob.glob(*given, **options)
        rotate()
        return names

    def open_late(*given, **options):
        rotate()
        return read_on(*given, **options)

    if moment == "after the names are listed":
        monkeypatch.setattr(watch, "glob", SimpleNamespace(glob=list_names))
    else:
        monkeypatch.setattr(watch, "read_on", open_late)
    watched.look()
    assert sorted(watched.speeds()) == [1, 2, 3]


def test_file_that_is_replaced_by_a_longer_one_that_begins_alike_is_read_on(tmp_path):
    watched = Watched(tmp_path)
    (watched.folder / "a.csv").write_text(HEADER + line(1))
    watched.look()
    (watched.folder / "new").write_text(HEADER + line(1) + line(2))
    (watched.folder / "new").replace(watched.folder / "a.csv")
    watched.look()
    assert watched.speeds() == [1, 2]


def test_another_file_of_the_same_name_and_start_is_read_from_its_start(tmp_path):
    watched = Watched(tmp_path)
    alike = HEADER + line(0) * 20
    (watched.folder / "a.csv").write_text(alike + line(1))
    watched.look()
    (watched.folder / "a.csv").write_text(alike + line(2) + line(3))
    watched.look()
    assert [speed for speed in watched.speeds() if speed] == [1, 2, 3]


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_file_is_read_once_it_is_whole(tmp_path, suffix):
    watched = Watched(tmp_path, f"in/*.csv.{suffix}")
    packed = pa.compress((HEADER + line(1) + line(2)).encode(), {"gz": "gzip", "zst": "zstd"}[suffix], asbytes=True)
    (watched.folder / f"a.csv.{suffix}").write_bytes(packed)
    watched.look()
    assert watched.speeds() == []
    for _ in range(3):
        watched.look(is_settled=True)
    (watched.folder / f"a.csv.{suffix}").replace(watched.folder / f"b.csv.{suffix}")
    watched.look(is_settled=True)
    assert (watched.speeds(), watched.reasons()) == ([1, 2], [])


def test_compressed_file_that_is_broken_is_one_dead_letter(tmp_path):
    watched = Watched(tmp_path, "in/*.csv.gz")
    packed = pa.compress((HEADER + line(1)).encode(), "gzip", asbytes=True)
    (watched.folder / "a.csv.gz").write_bytes(b"no gzip" + packed)
    (watched.folder / "b.csv.gz").write_bytes(packed)
    for _ in range(3):
        watched.look(is_settled=True)
    assert watched.speeds() == [1]
    assert ["cannot be unpacked" in reason for reason in watched.reasons()] == [True]


def test_file_that_does_not_fit_is_a_dead_letter_and_others_are_read(tmp_path):
    watched = Watched(tmp_path)
    (watched.folder / "a.csv").write_text("sensor,speed\ns1,5\n")
    (watched.folder / "b.csv").write_text(HEADER + line(1))
    watched.look()
    assert watched.speeds() == [1]
    assert ["has no column 'ts'" in reason for reason in watched.reasons()] == [True]


def test_file_that_does_not_fit_is_one_dead_letter_though_it_grows(tmp_path):
    watched = Watched(tmp_path)
    file = watched.folder / "a.csv"
    for number in range(3):
        file.write_text("sensor,ts\n" + "s1,2026-01-01\n" * number)
        watched.look()
    assert len(watched.reasons()) == 1


def test_times_may_be_numbers_or_those_of_arrival(tmp_path):
    watched = Watched(tmp_path, "in/*.jsonl", event_time_unit="ms", arrival_time="true")
    rows = [{"ts": 1_700_000_000_123}, {"ts": "2026-01-01"}, {}, {"ts": 1.5}, {"ts": "soon"}]
    (watched.folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    watched.look()
    [decoded] = watched.read()
    moments = decoded.readings.column("ts").cast(pa.int64()).to_pylist()
    assert moments == [1_700_000_000_123_000, 1_767_225_600_000_000, 1, 1_500]
    assert watched.reasons() == ["column ts: 'soon' is not TIMESTAMP"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "in/*"}, "has none of .csv, .json"),
        ({"path": "in/*.csv", "settle": "soon"}, "settle"),
        ({"path": "in/*.csv", "speed": "1"}, "unknown option 'speed' of connector 'folder'"),
    ],
)
def test_wrong_options_are_told(tmp_path, options, message):
    with pytest.raises((OptionError, SourceError), match=message):
        FolderConnector.open(Source("road", SCHEMA, "folder", options), tmp_path)


def test_json_and_generated_columns_of_a_watched_csv(tmp_path):
    session = Session(Catalog.in_memory())
    columns = "sent BIGINT, payload JSON, counts INT[], ts TIMESTAMP AS epoch_ms(sent), WATERMARK FOR ts AS ts"
    session.execute(f"CREATE SOURCE s ({columns}) WITH (connector='folder', path='*.csv')")
    [source] = session.catalog.sources()
    (tmp_path / "a.csv").write_text('sent,payload,counts\n1000,"{""a"": 1}","[1, 2]"\n,{},\n')
    options = FileOptions.parse({"path": "*.csv"})
    path, number = str(tmp_path / "a.csv"), (tmp_path / "a.csv").stat().st_ino
    received, _ = read_on(path, number, Reach(), source, options, Micros(0), is_settled=True)
    found = Decoder(source).decode(received)
    [row] = found.readings.to_pylist()
    assert (json.loads(row["payload"]), row["counts"], row["ts"].second) == ({"a": 1}, [1, 2], 1)
    assert found.rejects["reason"].to_pylist() == ["ts is missing"]
