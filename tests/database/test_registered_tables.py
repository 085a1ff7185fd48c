import gc
import os
from datetime import datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from skerry.database import Database, Settings, connect
from skerry.database.registered_tables import to_table
from skerry.errors import CatalogError, InputError, SqlError
from skerry.sinks.memory import MemorySink

ROOMS = pa.table({"id": ["a", "b"], "room": [1, 2]})
SCRIPT = """CREATE SOURCE road (sensor VARCHAR, speed INT) WITH (connector='file', path='road.csv');
    CREATE MATERIALIZED VIEW known AS SELECT r.speed, d.room FROM road AS r JOIN devices AS d ON d.id = r.sensor"""
LIVE = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, WATERMARK FOR ts AS ts)
    WITH (connector='sim', kind='traffic', sensors='8', speedup='50');
    CREATE MATERIALIZED VIEW known AS SELECT d.room FROM road AS r JOIN devices AS d ON d.segment = r.segment"""


class OtherFrame:
    """What any other library of frames offers, Polars for one."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def opened(folder: Path, frame: object = ROOMS) -> Database:
    (folder / "road.csv").write_text("sensor,speed\na,10\nb,20\nc,30\n")
    database = connect(folder)
    database.register("devices", frame)
    return database


def answers(database: Database, settings: Settings | None = None) -> list[tuple[object, ...]]:
    sink = MemorySink()
    database.run(sink, settings or Settings("fjord"))
    return sorted(tuple(row.values()) for row in sink.table("known").to_pylist())


@pytest.mark.parametrize(
    "frame",
    [ROOMS, ROOMS.to_batches()[0], ROOMS.to_pandas(), OtherFrame(ROOMS)],
    ids=["table", "batch", "pandas", "other"],
)
def test_stream_is_joined_with_a_registered_frame(tmp_path, frame):
    database = opened(tmp_path, frame)
    database.execute(SCRIPT)
    assert answers(database) == [(10, 1), (20, 2)]
    database.catalog.close()


@pytest.mark.spark
def test_registered_table_reaches_sparks_workers(tmp_path):
    database = opened(tmp_path)
    database.execute(SCRIPT)
    assert answers(database, Settings("spark", "local[2]")) == [(10, 1), (20, 2)]
    database.catalog.close()


def test_registered_table_is_queried(tmp_path):
    database = opened(tmp_path)
    assert database.sql("SELECT count(*) AS n, max(room) AS m FROM devices").to_arrow().to_pylist() == [
        {"n": 2, "m": 2}
    ]
    joined = database.sql("SELECT d.id, t.columns FROM devices d, sources t WHERE t.name = 'devices' AND room = 1")
    assert joined.to_arrow().to_pylist() == [{"id": "a", "columns": ["id", "room"]}]
    database.catalog.close()


def test_declared_table_is_queried(tmp_path):
    (tmp_path / "speeds.csv").write_text("speed\n10\n20\n")
    database = connect(tmp_path)
    database.execute("CREATE TABLE speeds (speed INT) WITH (connector='file', path='speeds.csv')")
    assert database.sql("SELECT sum(speed) AS s FROM speeds").to_arrow().to_pylist() == [{"s": 30}]
    database.catalog.close()


def test_stream_is_not_queried(tmp_path):
    database = opened(tmp_path)
    database.execute(SCRIPT)
    with pytest.raises(SqlError, match="a SELECT by itself gives no answers"):
        database.sql("SELECT * FROM road")
    database.catalog.close()


def test_registered_table_stays_with_its_project(tmp_path):
    opened(tmp_path).catalog.close()
    again = connect(tmp_path)
    assert again.sql("SELECT * FROM devices").to_arrow() == ROOMS
    again.catalog.close()


def test_without_a_project_the_rows_go_with_the_database():
    database = connect()
    database.register("devices", ROOMS)
    assert database.sql("SELECT * FROM devices").to_arrow() == ROOMS
    [source] = database.catalog.sources()
    assert os.path.exists(source.options["path"])
    del database
    gc.collect()
    assert not os.path.exists(source.options["path"])


def test_replaced_frame_is_seen_while_a_pipeline_runs():
    database = connect()
    database.register("devices", pa.table({"segment": range(1, 9), "room": [0] * 8}))
    database.execute(LIVE)
    with database.start() as pipeline:
        assert set(pipeline.view("known").wait(timeout=250)["room"].to_pylist()) == {0}
        database.register("devices", pa.table({"segment": range(1, 9), "room": [1] * 8}))
        assert any(1 in batch["room"].to_pylist() for batch in database.view("known").stream())


def test_frame_may_be_replaced_by_one_with_other_columns(tmp_path):
    database = opened(tmp_path)
    database.register("devices", pa.table({"name": ["x"]}))
    assert database.sql("SELECT * FROM devices").to_arrow().to_pylist() == [{"name": "x"}]
    database.catalog.close()


def test_replacing_what_a_view_reads_by_what_it_cannot_read_changes_nothing(tmp_path):
    database = opened(tmp_path)
    database.execute(SCRIPT)
    with pytest.raises(CatalogError, match="cannot replace 'devices'; view 'known' reads it"):
        database.register("devices", pa.table({"name": ["x"]}))
    assert answers(database) == [(10, 1), (20, 2)]
    assert [file.name for file in (tmp_path / "tables").iterdir()] == ["devices.parquet"]
    database.catalog.close()


def test_name_of_a_stream_is_refused(tmp_path):
    database = opened(tmp_path)
    database.execute(SCRIPT)
    with pytest.raises(CatalogError, match="cannot replace the TABLE 'road'; it is a SOURCE"):
        database.register("road", ROOMS)
    database.catalog.close()


def test_table_is_dropped_with_its_rows(tmp_path):
    database = opened(tmp_path)
    database.unregister("devices")
    assert list((tmp_path / "tables").iterdir()) == []
    with pytest.raises(CatalogError, match="there is no 'devices' to drop"):
        database.unregister("devices")
    database.catalog.close()


def test_table_that_is_read_is_not_dropped(tmp_path):
    database = opened(tmp_path)
    database.execute(SCRIPT)
    with pytest.raises(CatalogError, match="'devices' is read by known"):
        database.unregister("devices")
    assert answers(database) == [(10, 1), (20, 2)]
    database.catalog.close()


def test_names_are_those_of_sql():
    database = connect()
    database.register("Devices", pa.table({"Id": [1], 'a "b" c': [2]}))
    found = database.sql('SELECT id, "a ""b"" c" AS other FROM DEVICES').to_arrow().to_pylist()
    assert [list(row.values()) for row in found] == [[1, 2]]


@pytest.mark.parametrize("name", ["../up", "a/b", "", "x'; DROP TABLE y"])
def test_name_that_could_leave_its_folder_is_refused(name):
    with pytest.raises(SqlError, match="cannot be a name"):
        connect().register(name, ROOMS)


def test_columns_come_in_types_that_sql_has():
    frame = pd.DataFrame({"when": pd.to_datetime(["2026-01-01"]), "kind": pd.Categorical(["loop"]), "text": ["x"]})
    frame["small"] = pd.array([1], "int8")
    table = to_table(frame.set_index(pd.Index([7])), "t")
    assert table.schema.types == [pa.timestamp("us"), pa.string(), pa.string(), pa.int16()]
    assert table.to_pylist() == [{"when": datetime(2026, 1, 1), "kind": "loop", "text": "x", "small": 1}]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "registered from a pandas or Polars frame or an Arrow table, got list"),
        (pa.table({"x": [{"a": 1}]}), "column 'x' of table 't' is struct<a: int64>, which no column can be"),
        (pa.table({"x": [1], "X": [2]}), "column 'x' is declared twice"),
        (pa.table({}), "needs its columns"),
        (pa.table({"t": pa.array([1], pa.timestamp("ns"))}), "would lose data"),
    ],
)
def test_frame_that_cannot_be_a_table_is_refused(frame, message):
    with pytest.raises(InputError, match=message):
        connect().register("t", frame)
