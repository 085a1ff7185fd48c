"""Columns of every type, from csv, JSON lines and Parquet: the same values, and the same that do not fit."""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.sources.file import FileConnector
from skerry.sources.source import Split

COLUMNS = {
    "price": ("DECIMAL(10, 2)", "12.345", Decimal("12.35"), "x"),
    "day": ("DATE", "2026-01-31", date(2026, 1, 31), "soon"),
    "clock": ("TIME", "10:00:00.5", time(10, 0, 0, 500_000), "25:00:00"),
    "seen": ("TIMESTAMPTZ", "2026-01-31T10:00:00+02:00", datetime(2026, 1, 31, 8, tzinfo=UTC), "2026-13-01"),
    "span": ("INTERVAL", "5 minutes", timedelta(minutes=5), "long"),
    "counts": ("INT[]", "[1, 2]", [1, 2], '["x"]'),
    "names": ("VARCHAR[]", '["x", "y, z"]', ["x", "y, z"], "x"),
    "grid": ("TINYINT[][]", "[[1], []]", [[1], []], "[[300]]"),
    "tiny": ("TINYINT", "-128", -128, "128"),
    "byte": ("UTINYINT", "255", 255, "-1"),
    "port": ("USMALLINT", "65535", 65535, "65536"),
    "word": ("UINTEGER", "4294967295", 2**32 - 1, "1.5"),
    "big": ("UBIGINT", "18446744073709551615", 2**64 - 1, "18446744073709551616"),
    "real": ("REAL", "1.5", 1.5, "1,5"),
    "payload": ("JSON", '{"a": [1]}', '{"a": [1]}', "{bad"),
}


def declare(path):
    columns = ", ".join(f"{name} {type_}" for name, (type_, *_) in COLUMNS.items())
    session = Session(Catalog.in_memory())
    session.execute(f"CREATE SOURCE s ({columns}) WITH (connector='file', path='{path}')")
    [source] = session.catalog.sources()
    return source


def read(path):
    connector = FileConnector.open(declare(path), path.parent)
    [lane] = connector.lanes()
    [decoded] = connector.read(Split("s", lane.name, 0, lane.count()))
    return decoded


def write_text(path, rows):
    if path.suffix == ".csv":
        quoted = [
            ",".join('"' + (row.get(name) or "").replace('"', '""') + '"' if name in row else "" for name in COLUMNS)
            for row in rows
        ]
        path.write_text("\n".join([",".join(COLUMNS), *quoted]) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def as_values(row):
    found = {name: value for name, value in row.items() if value is not None}
    if "span" in found:
        found["span"] = timedelta(microseconds=found["span"].nanoseconds // 1000)
    return found


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_texts_are_read_as_the_declared_types_or_are_dead_letters(tmp_path, suffix):
    path = tmp_path / f"s{suffix}"
    wrong = [{name: bad} for name, (_, _, _, bad) in COLUMNS.items() if suffix == ".csv" or name != "payload"]
    write_text(
        path, [{name: text for name, (_, text, *_) in COLUMNS.items() if suffix == ".csv" or name != "payload"}, *wrong]
    )
    found = read(path)
    [row] = found.readings.to_pylist()
    assert as_values(row) == {name: value for name, (_, _, value, _) in COLUMNS.items() if name in as_values(row)}
    assert len(as_values(row)) >= len(COLUMNS) - 1
    reasons = [
        f"column {name}: '{each[name]}' is not {COLUMNS[name][0].replace('REAL', 'FLOAT')}"
        for each in wrong
        for name in each
    ]
    assert [reason.partition(";")[0] for reason in found.rejects["reason"].to_pylist()] == reasons


def test_json_values_of_any_kind_are_json(tmp_path):
    path = tmp_path / "s.jsonl"
    values = [{"a": [1]}, [1, "x"], "text", 1.5, True, None]
    path.write_text("".join(json.dumps({"payload": value, "tiny": 1}) + "\n" for value in values))
    found = read(path).readings.column("payload").to_pylist()
    assert [text if text is None else json.loads(text) for text in found] == values


def test_columns_of_parquet_are_read_as_they_are_or_cast(tmp_path):
    typed = ", ".join(f"CAST('{text}' AS {type_}) AS {name}" for name, (type_, text, *_) in COLUMNS.items())
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        table = connection.sql(f"SELECT {typed}").to_arrow_table()
    wider = {"tiny": pa.int64(), "counts": pa.list_(pa.int64()), "price": pa.float64(), "day": pa.timestamp("ms")}
    for number, schema in enumerate(
        [table.schema, pa.schema([(f.name, wider.get(f.name, f.type)) for f in table.schema])]
    ):
        path = tmp_path / f"s{number}.parquet"
        stored = table.cast(schema).drop_columns("span").append_column("span", pa.array(["5 minutes"]))
        pq.write_table(stored, path)
        [row] = read(path).readings.to_pylist()
        assert as_values(row) == {name: value for name, (_, _, value, _) in COLUMNS.items()}


def read_spans(path):
    session = Session(Catalog.in_memory())
    session.execute(f"CREATE SOURCE s (span INTERVAL, spans INTERVAL[]) WITH (connector='file', path='{path}')")
    connector = FileConnector.open(*session.catalog.sources(), path.parent)
    [lane] = connector.lanes()
    [decoded] = connector.read(Split("s", lane.name, 0, lane.count()))
    return decoded.readings.to_pylist()


def test_intervals_of_parquet_are_read(tmp_path):
    rows = "(INTERVAL '14 months 3 days 4.005 seconds', [INTERVAL 1 MONTH, NULL]), (NULL, NULL), (INTERVAL 1 HOUR, [])"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM (VALUES {rows}) AS v (span, spans)) TO '{tmp_path}/s.parquet'")
    assert read_spans(tmp_path / "s.parquet") == [
        {
            "span": pa.MonthDayNano([14, 3, 4_005_000_000]),
            "spans": [pa.MonthDayNano([1, 0, 0]), None],
        },
        {"span": None, "spans": None},
        {"span": pa.MonthDayNano([0, 0, 3_600_000_000_000]), "spans": []},
    ]


def test_durations_that_answers_have_in_parquet_are_read_as_intervals(tmp_path):
    minute = timedelta(minutes=-1)
    spans = pa.table(
        {
            "span": pa.array([minute, None], pa.duration("us")),
            "spans": pa.array([[minute], []], pa.list_(pa.duration("us"))),
        }
    )
    pq.write_table(spans, tmp_path / "s.parquet")
    minus = pa.MonthDayNano([0, 0, -60_000_000_000])
    assert read_spans(tmp_path / "s.parquet") == [{"span": minus, "spans": [minus]}, {"span": None, "spans": []}]
