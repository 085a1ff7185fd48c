"""Columns that are computed, in every format: the same readings, the same dead letters, the same times of blocks."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.catalog import Catalog
from skerry.catalog.subscriptions import Subscription
from skerry.errors import SqlError
from skerry.lang.sql import Session
from skerry.model.types import TIMESTAMP
from skerry.sensors.pieces import Pieces
from skerry.sources.file import FileConnector
from skerry.sources.source import Split

COLUMNS = (
    "sensor VARCHAR, ts TIMESTAMP AS epoch_ms(sent), sent BIGINT, kmh DOUBLE GENERATED ALWAYS AS (speed * 2) STORED, "
    "speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
)
ROWS = [{"sensor": "a", "sent": number * 250 if number % 9 else None, "speed": number / 2} for number in range(200)]


def declare(columns, path="s.csv"):
    session = Session(Catalog.in_memory())
    session.execute(f"CREATE SOURCE s ({columns}) WITH (connector='file', path='{path}')")
    [source] = session.catalog.sources()
    return source


def write(path):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=20)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        lines = [",".join("" if value is None else str(value) for value in row.values()) for row in ROWS]
        path.write_text("\n".join(["sensor,sent,speed", *lines]) + "\n")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_computed_columns_and_times_of_every_format(tmp_path, suffix):
    path = tmp_path / f"s{suffix}"
    write(path)
    connector = replace(FileConnector.open(declare(COLUMNS, path), tmp_path), block_bytes=300)
    [lane] = connector.lanes()
    parts = list(connector.read(Split("s", lane.name, 0, lane.count())))
    rows = [row for part in parts for row in part.readings.to_pylist()]
    assert [(row["ts"].timestamp() - row["ts"].replace(microsecond=0).timestamp(), row["kmh"]) for row in rows] == [
        (row["sent"] % 1000 / 1000, row["speed"] * 2) for row in ROWS if row["sent"] is not None
    ]
    assert {reason for part in parts for reason in part.rejects["reason"].to_pylist()} == {"ts is missing"}
    assert len(rows) + sum(part.rejects.num_rows for part in parts) == len(ROWS)
    ends = [(lane.first(unit), lane.last(unit)) for unit in range(lane.count())]
    assert len(ends) > 5
    assert ends == sorted(ends)
    assert lane.times_after(2, 3).size == lane.times_before(2, 3).size == 3


def test_computed_column_has_the_type_of_its_expression_unless_one_is_declared():
    source = declare("a INT, b AS a + 1, c VARCHAR AS a * 2, d TIMESTAMPTZ AS to_timestamp(a), WATERMARK FOR d AS d")
    assert [field.type for field in source.schema] == [pa.int32(), pa.int32(), pa.string(), TIMESTAMP]
    assert source.stored_schema.names == ["a"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a INT, b INT AS c + 1", "column 'b': unknown column 'c'"),
        ("a INT, b INT AS random()", "column 'b': the function 'random' is not available"),
        ("a INT, b UUID AS a", "column 'b' has type UUID; known are"),
        ("a INT, b INT AS sum(a)", "column 'b': the aggregate SUM cannot stand here"),
    ],
)
def test_wrong_expressions_are_refused_with_their_column(columns, message):
    with pytest.raises(SqlError, match=message):
        declare(columns)


def test_sensors_are_asked_for_what_a_computed_column_is_made_of():
    (piece,) = Pieces(declare(COLUMNS)).of_subscription(Subscription("q", "s", "kmh > 3 AND speed < 9"))
    assert piece.columns == {"sensor", "sent", "speed"}
    assert [name for name, _ in piece.sides] == ["speed"]


def test_event_times_of_parquet_may_be_numbers_in_a_unit(tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "s.parquet", row_group_size=50)
    columns = "sent TIMESTAMP, speed DOUBLE, WATERMARK FOR sent AS sent"
    source = replace(declare(columns), options={"path": "s.parquet", "event_time_unit": "ms"})
    connector = FileConnector.open(source, tmp_path)
    [lane] = connector.lanes()
    parts = list(connector.read(Split("s", lane.name, 0, lane.count())))
    found = [moment for part in parts for moment in part.readings["sent"].cast(pa.int64()).to_pylist()]
    assert found == [row["sent"] * 1000 for row in ROWS if row["sent"] is not None]
    assert (lane.first(0), lane.last(0)) == (250_000, 49 * 250_000)
