import os
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.catalog import Catalog, Source
from skerry.database import Database, Settings
from skerry.errors import InputError, OptionError, SourceError
from skerry.pipeline.outcome import Tally
from skerry.sinks.memory import MemorySink
from skerry.sources.spark import is_live

FILES, ROWS = 3, 50
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "segment": pa.int32(), "speed": pa.float64()})
SPARK_OPTIONS = "connector='spark', spark_format='parquet', 'spark.path'='{folder}', 'spark.maxFilesPerTrigger'='1'"
FILE_OPTIONS = "connector='file', path='{folder}/*.parquet'"
SCRIPT = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH ({options});
CREATE MATERIALIZED VIEW mean AS SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) AS n
    FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW slow AS SELECT ts, segment, speed FROM road WHERE speed < 20;"""


def write_file(folder: Path, number: int) -> None:
    """Readings in order, some without a time."""
    start = datetime(2026, 1, 1) + timedelta(minutes=number)
    times = [None if row % 10 == 7 else start + timedelta(seconds=row) for row in range(ROWS)]
    columns = {"ts": times, "segment": [row % 3 for row in range(ROWS)], "speed": [float(row) for row in range(ROWS)]}
    pq.write_table(pa.table(columns, SCHEMA), folder / f"{number}.parquet")
    os.utime(folder / f"{number}.parquet", (start.timestamp(), start.timestamp()))  # Spark reads the oldest file first


def answered(options: str, runtime: str) -> tuple[Tally, dict[str, Counter[str]]]:
    database, sink = Database(Catalog.in_memory(), Path("/")), MemorySink()
    database.execute(SCRIPT.format(options=options))
    shares: list[float | None] = []
    outcome = database.run(sink, Settings(runtime, "local[2]"), watch=lambda total: shares.append(total.share))
    assert (None in shares) == ("spark_format" in options), "what Spark reads itself, nobody can count"
    tables = {output: Counter(map(repr, sink.table(output).to_pylist())) for output in ("mean", "slow")}
    assert sink.table("dead_letters/road").num_rows == outcome.tallies["road"].rejected
    return outcome.tallies["road"], tables


@pytest.mark.spark
def test_files_that_spark_reads_give_what_files_give(tmp_path):
    for number in range(FILES):
        write_file(tmp_path, number)
    found = answered(SPARK_OPTIONS.format(folder=tmp_path), "spark")
    assert found == answered(FILE_OPTIONS.format(folder=tmp_path), "fjord")
    assert found[0] == Tally(FILES * 45, 0, FILES * 5)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ("spark_format='papyrus'", SourceError, "source 'road': Spark has no format 'papyrus'; name the package"),
        ("spark_format='parquet', 'spark.path'='/nowhere'", SourceError, "Spark cannot open source 'road': .*nowhere"),
        ("spark_format='rate'", SourceError, "source 'road' has no column 'ts'; it has timestamp, value"),
        ("'spark.path'='/nowhere'", OptionError, "source 'road' needs spark_format, such as 'kafka' or 'parquet'"),
        ("spark_format='rate', path='x'", OptionError, "has no option 'path'; known are spark_format, spark_packages"),
    ],
)
def test_source_that_spark_cannot_open_is_told_in_one_line(options, kind, message):
    with pytest.raises(InputError, match=message) as raised:
        answered(f"connector='spark', {options}", "spark")
    assert raised.type is kind
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("format_", "live"), [("parquet", False), ("CSV", False), ("kafka", True), ("rate", True)])
def test_sources_of_files_have_an_end(format_, live):
    assert is_live(Source("s", SCHEMA, "spark", {"spark_format": format_})) is live
