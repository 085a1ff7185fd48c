"""What discovery proposes for files of all kinds is a script that reads them."""

import gzip
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from skerry import MemorySink, Settings, connect
from skerry.cli import app
from skerry.errors import InputError

AT = datetime(2026, 3, 14, 9, 5)


def proposed(path):
    result = CliRunner().invoke(app, ["sensors", "discover", str(path)])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def readings(path):
    """The rows that the proposed script gives."""
    database, sink = connect(), MemorySink()
    database.execute(proposed(path))
    database.run(sink, Settings(runtime="fjord"))
    (view,) = [name for name in sink.outputs() if name.endswith("_readings")]
    return sink.table(view).to_pylist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("device;at;temp\na;2026-03-14 09:05:00;18.5\n", {"device": "a", "at": AT, "temp": 18.5}),
        ("device\tat\ttemp\na\t2026-03-14 09:05:00\t18.5\n", {"device": "a", "at": AT, "temp": 18.5}),
        ("device|at|temp\na|2026-03-14 09:05:00|18.5\n", {"device": "a", "at": AT, "temp": 18.5}),
        ("\ufeffdevice,at,temp\na,2026-03-14 09:05:00,18.5\n", {"device": "a", "at": AT, "temp": 18.5}),
        ("a,2026-03-14 09:05:00,18.5\n", {"column1": "a", "ts": AT, "column3": 18.5}),
        ("at;temp\n2026-03-14 09:05:00;18,5\n", {"at": AT, "temp": "18,5", "temp_number": 18.5}),
        ("Datum;temp\n14.03.2026 09:05:00;18.5\n", {"Datum": "14.03.2026 09:05:00", "temp": 18.5, "ts": AT}),
        ("Time,temp\n3/14/2026 9:05 AM,18.5\n", {"Time": "3/14/2026 9:05 AM", "temp": 18.5, "ts": AT}),
        ("day,clock,temp\n2026-03-14,09:05,18.5\n", {"day": "2026-03-14", "clock": "09:05", "temp": 18.5, "ts": AT}),
    ],
)
def test_csv_of_any_kind_is_read_as_proposed(tmp_path, text, expected):
    (tmp_path / "air.csv").write_text(text)
    assert readings(tmp_path / "air.csv") == [expected]


def test_compressed_csv_is_read_as_proposed(tmp_path):
    (tmp_path / "air.csv.gz").write_bytes(gzip.compress(b"at,temp\n2026-03-14 09:05:00,18.5\n"))
    assert readings(tmp_path / "air.csv.gz") == [{"at": AT, "temp": 18.5}]


def test_parquet_is_read_as_proposed_with_its_types(tmp_path):
    columns = {
        "at": pa.array([AT], pa.timestamp("ns")),
        "n": pa.array([7], pa.int16()),
        "place": pa.array([{"x": 1}]),
    }
    pq.write_table(pa.table(columns), tmp_path / "air.parquet")
    assert "-- columns that cannot be read: place\n" in proposed(tmp_path / "air.parquet")
    assert "  n SMALLINT,\n" in proposed(tmp_path / "air.parquet")
    assert readings(tmp_path / "air.parquet") == [{"at": AT, "n": 7}]


@pytest.mark.parametrize(
    ("encoding", "told"), [("utf-16", "not UTF-8 but UTF-16"), ("utf-16-le", "UTF-16LE"), ("latin1", "LATIN1")]
)
def test_other_encoding_is_named_with_the_command_that_changes_it(tmp_path, encoding, told):
    (tmp_path / "air.csv").write_bytes("Gerät,at\na,2026-03-14 09:05:00\n".encode(encoding))
    with pytest.raises(InputError, match=f"{told}.*; convert it: iconv -f "):
        proposed(tmp_path / "air.csv")
    database = connect()
    database.execute(
        f"CREATE SOURCE s (device VARCHAR) WITH (connector='file', path='{tmp_path}/air.csv');"
        "CREATE MATERIALIZED VIEW v AS SELECT device FROM s"
    )
    with pytest.raises(InputError, match=f"{told}.*; convert it: iconv -f "):
        database.run(MemorySink(), Settings(runtime="fjord"))


def test_list_of_json_is_told_to_be_split(tmp_path):
    (tmp_path / "air.json").write_text('[{"at": "2026-03-14 09:05:00"}]')
    with pytest.raises(InputError, match=r"JSON has one object per line: jq -c '\.\[\]' FILE.json > FILE.jsonl"):
        proposed(tmp_path / "air.json")
