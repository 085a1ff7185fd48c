"""Views that Spark writes."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from skerry.database import Database, Settings, connect
from skerry.errors import OptionError, RunError
from skerry.model.spark_format import SparkFormat
from skerry.sinks.memory import MemorySink
from skerry.spark.session import session
from skerry.spark.sink import SparkSink

SCHEMA = pa.schema({"id": pa.int64(), "name": pa.string()})
DERBY = "jdbc:derby:{folder}/answers;create=true"
DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
SCRIPT = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts)
    WITH (connector='file', path='road.csv');
    CREATE MATERIALIZED VIEW slow WITH (sink='spark', spark_format='{format}', {options}) AS
    SELECT ts, segment, speed FROM road WHERE speed < 30;
    CREATE MATERIALIZED VIEW fast AS SELECT ts, speed FROM road WHERE speed >= 30"""
FILES = "'spark.path'='{folder}/slow'"


@pytest.fixture
def spark() -> SparkSession:
    return session("local[2]")


class Crash(MemorySink):
    """Breaks the run off when a batch is written, and before it is recorded."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self._left = batches

    def settle(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise RunError("the power has failed")


def rows(*names: str) -> pa.RecordBatch:
    return pa.record_batch([pa.array(range(len(names)), pa.int64()), pa.array(names, pa.string())], schema=SCHEMA)


def opened(options: dict[str, str], format_: str = "parquet", *, run: str = "run", resume_at: int = 0) -> SparkSink:
    sink = SparkSink("v", SparkFormat(format_, options))
    sink.claim(run, resume_at)
    sink.open({"v": SCHEMA}, resume=resume_at > 0)
    return sink


def make_database(folder: Path, format_: str, options: str) -> Database:
    lines = [f"2026-01-01 00:00:{second:02d},{second % 3},{10 + second}" for second in range(40)]
    (folder / "road.csv").write_text("\n".join(["ts,segment,speed", *lines]))
    database = connect(folder)
    database.execute(SCRIPT.format(format=format_, options=options.format(folder=folder)))
    return database


def read_speeds(folder: Path) -> list[float]:
    found = duckdb.sql(f"SELECT speed FROM '{folder}/slow/*/*.parquet' ORDER BY speed").fetchall()
    return [speed for (speed,) in found]


@pytest.mark.spark
@pytest.mark.parametrize("format_", ["parquet", "orc", "json", "csv"])
def test_files_are_written_by_batch_and_replaced(spark, tmp_path, format_):
    sink = opened({"path": str(tmp_path / "v"), "header": "true"}, format_)
    sink.write("v", 0, rows("a", "b"))
    for _ in range(2):
        sink.write("v", 3, rows("c"))
    sink.write("v", 4, rows())
    sink.close()
    read = spark.read.option("header", "true").format(format_).load(str(tmp_path / "v"))
    assert sorted((row["name"], row["batch"]) for row in read.collect()) == [("a", 0), ("b", 0), ("c", 3)]


@pytest.mark.spark
def test_run_that_goes_on_keeps_what_it_has_recorded_and_a_new_one_nothing(spark, tmp_path):
    path = tmp_path / "v"
    sink = opened({"path": str(path)})
    for number in range(3):
        sink.write("v", number, rows("a"))
    (path / "mine.txt").write_text("not of a batch")
    opened({"path": str(path)}, resume_at=2)
    assert sorted(file.name for file in path.iterdir()) == ["batch=00000000", "batch=00000001", "mine.txt"]
    opened({"path": str(path)})
    assert [file.name for file in path.iterdir()] == ["mine.txt"]


@pytest.mark.spark
def test_files_without_rows_have_the_columns(spark, tmp_path):
    opened({"path": str(tmp_path / "v")}).close()
    read = spark.read.parquet(str(tmp_path / "v"))
    assert (read.columns, read.count()) == (["id", "name", "batch"], 0)


@pytest.mark.spark
def test_rows_are_appended_to_a_database(spark, tmp_path):
    options = {"url": DERBY.format(folder=tmp_path), "dbtable": "answers", "driver": DRIVER}
    sink = opened(options, "jdbc")
    sink.write("v", 0, rows("a", "b"))
    sink.write("v", 1, rows("c"))
    read = spark.read.format("jdbc").options(**options).load()
    assert sorted(row["name"] for row in read.collect()) == ["a", "b", "c"]


def test_delta_is_told_which_batch_it_is_of_which_run():
    sink = SparkSink("v", SparkFormat("delta", {"path": "/v"}))
    sink.claim("r1", 0)
    assert sink._identify(7) == {"txnAppId": "skerry r1 v", "txnVersion": "7"}
    assert SparkSink("v", SparkFormat("jdbc"))._identify(7) == {}


@pytest.mark.spark
def test_values_come_in_types_that_spark_has(spark, tmp_path):
    columns = {
        "big": pa.array([2**63], pa.uint64()),
        "when": pa.array([1_500_000], pa.timestamp("us")),
        "at": pa.array([1_000_000], pa.time64("us")),
        "names": pa.array([["a", None]]),
        "price": pa.array([None], pa.decimal128(9, 2)),
    }
    batch = pa.record_batch(columns)
    sink = SparkSink("v", SparkFormat("parquet", {"path": str(tmp_path / "v")}))
    sink.open({"v": batch.schema}, resume=False)
    sink.write("v", 0, batch)
    [row] = spark.read.parquet(str(tmp_path / "v")).select("big", "names", "price", "at").collect()
    assert (int(row["big"]), row["names"], row["price"]) == (2**63, ["a", None], None)
    assert str(row["at"]).startswith("00:00:01")


@pytest.mark.spark
def test_format_that_spark_does_not_have_is_told(spark):
    with pytest.raises(OptionError, match="view 'v': Spark has no format 'delta'; name the package it is in: "):
        opened({}, "delta")


@pytest.mark.spark
def test_what_spark_cannot_write_is_told(spark, tmp_path):
    sink = opened({"url": f"jdbc:derby:{tmp_path}/nothing", "dbtable": "answers", "driver": DRIVER}, "jdbc")
    with pytest.raises(RunError, match="Spark cannot write view 'v' as jdbc: "):
        sink.write("v", 0, rows("a"))


@pytest.mark.spark
def test_view_is_written_by_spark_and_others_as_the_run_says(tmp_path):
    database, sink = make_database(tmp_path, "parquet", FILES), MemorySink()
    outcome = database.run(sink, Settings("spark", "local[2]"))
    database.catalog.close()
    assert read_speeds(tmp_path) == [float(speed) for speed in range(10, 30)]
    assert sink.table("fast").num_rows == 20
    assert "slow" not in sink.outputs()
    assert (outcome.answers["slow"], outcome.answers["fast"]) == (20, 20)


@pytest.mark.spark
def test_batch_that_was_written_and_not_recorded_is_not_there_twice(tmp_path):
    database = make_database(tmp_path, "parquet", FILES)
    settings = Settings("spark", "local[2]", checkpoint=tmp_path / "checkpoint", step_rows=10)
    with pytest.raises(RunError, match="the power has failed"):
        database.run(Crash(2), settings)
    written = read_speeds(tmp_path)
    assert written
    database.run(MemorySink(), settings)
    database.catalog.close()
    assert read_speeds(tmp_path) == [float(speed) for speed in range(10, 30)]


def test_view_that_spark_writes_is_for_spark(tmp_path):
    database = make_database(tmp_path, "parquet", FILES)
    with pytest.raises(OptionError, match="view 'slow' is written by Spark itself; run it with --runtime spark"):
        database.run(MemorySink(), Settings("fjord"))
    database.catalog.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("sink='spark'", "view 'v' needs spark_format"),
        ("sink='fax'", "view 'v': option sink is 'fax'; known are spark"),
        ("spark_format='orc'", "view 'v': option spark_format needs sink='spark'"),
        ("'spark.path'='x'", "view 'v': option spark.path needs sink='spark'"),
    ],
)
def test_options_of_a_sink_are_checked_with_the_statement(options, message):
    database = connect()
    database.execute("CREATE SOURCE s (a INT) WITH (connector='file', path='s.csv')")
    with pytest.raises(OptionError, match=message):
        database.execute(f"CREATE MATERIALIZED VIEW v WITH ({options}) AS SELECT a FROM s")


def test_files_need_a_path():
    with pytest.raises(OptionError, match=r"view 'v' is written as orc, so it needs 'spark.path'"):
        SparkSink("v", SparkFormat("orc"))
