"""Random queries from a grammar over the SQL that is offered: both runtimes, and DuckDB over the same rows at once."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.sinks.files import FileSink
from tests.grammar import Query, make_query

_STREAM = (
    "CREATE SOURCE {} ({}, WATERMARK FOR ts AS ts - INTERVAL '6' SECOND) WITH (connector='file', path='{}.parquet');"
)
SOURCES = (
    _STREAM.format("r", "k VARCHAR, ts TIMESTAMP, x DOUBLE, n INT, s VARCHAR", "r")
    + _STREAM.format("e", "k VARCHAR, ts TIMESTAMP, y DOUBLE, m INT", "e")
    + "CREATE TABLE d (k VARCHAR, site VARCHAR, lim DOUBLE) WITH (connector='file', path='d.parquet');"
)
_ORDER_MATTERS = 9
"""How many digits of doubles count: sums in another order differ in the last ones."""


def write_rows(folder: Path, random: Random) -> None:
    """Readings that are out of order within the delay, with NULLs, NaN and letters beyond ASCII."""
    start = datetime(2026, 2, 28, 23, 59, 40, tzinfo=UTC).replace(tzinfo=None)

    def times(count: int) -> list[datetime]:
        moments = sorted(random.sample(range(60_000), count))
        late = sorted(moments, key=lambda moment: moment + random.randint(0, 5000))
        return [start + timedelta(milliseconds=moment) for moment in late]

    keys, texts = ["a", "b", "ä", "日本", None], ["ab", "abba", "ß", "x'y", "", None]
    doubles = [None, float("nan"), -1.5, 0.0, 0.25, 1.75, 3.5, 100.0]
    count, events = 60, 40
    readings = {"k": random.choices(keys, k=count), "ts": pa.array(times(count), pa.timestamp("us"))}
    readings |= {"x": pa.array(random.choices(doubles, k=count), pa.float64())}
    readings |= {
        "n": pa.array(random.choices([None, -1, 0, 1, 2, 3], k=count), pa.int32()),
        "s": random.choices(texts, k=count),
    }
    pq.write_table(pa.table(readings), folder / "r.parquet")
    others = {"k": random.choices(keys, k=events), "ts": pa.array(times(events), pa.timestamp("us"))}
    others |= {"y": pa.array(random.choices(doubles[2:], k=events), pa.float64())}
    others |= {"m": pa.array(random.choices([0, 1, 2, 3], k=events), pa.int32())}
    pq.write_table(pa.table(others), folder / "e.parquet")
    table = {"k": ["a", "ä", "ab", "c"], "site": ["n", "ü", "n", None], "lim": [0.5, 2.0, 1.5, 9.0]}
    pq.write_table(pa.table(table), folder / "d.parquet")


def compare(folder: Path, queries: list[Query], settings: Settings) -> list[str]:
    """Run all queries as views of one script; say which differ from DuckDB's answers."""
    database = Database(Catalog.in_memory(), folder)
    database.execute(SOURCES + "".join(f"CREATE MATERIALIZED VIEW q{n} AS {q.ours};" for n, q in enumerate(queries)))
    outcome = database.run(FileSink(folder / "out", "parquet"), settings)
    assert not outcome.failures
    assert all(tally.late == tally.rejected == 0 for tally in outcome.tallies.values())
    with duckdb.connect(config={"threads": 1}) as connection:
        for name in "red":
            connection.execute(f"CREATE TABLE {name} AS FROM '{folder / name}.parquet'")
        return [
            f"{query.ours}\n  missing {list_some(wanted - found)}, surplus {list_some(found - wanted)}"
            for number, query in enumerate(queries)
            if (wanted := ask(connection, query.duckdb)) != (found := read(connection, folder / "out" / f"q{number}"))
        ]


def list_some(rows: Counter[str]) -> list[str]:
    return sorted(rows.elements())[:4]


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> Counter[str]:
    return Counter(
        json.dumps([normalize(value) for value in row], default=str) for row in connection.execute(query).fetchall()
    )


def read(connection: duckdb.DuckDBPyConnection, folder: Path) -> Counter[str]:
    """The answers of a view, none if it gave no rows."""
    files = [str(file) for file in folder.glob("*.parquet")]
    return ask(connection, f"FROM read_parquet({files})") if files else Counter()


def normalize(value: object) -> object:
    """A value as it is compared: numbers of all types by their digits."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return f"{float(value):.{_ORDER_MATTERS}g}" if hasattr(value, "__float__") else value


def draw(seed: int, count: int) -> list[Query]:
    random = Random(seed)
    return [make_query(random) for _ in range(count)]


@pytest.mark.parametrize("step_rows", [pytest.param(7, marks=pytest.mark.soak), 1_000_000])
def test_random_queries_agree_with_duckdb(tmp_path, step_rows):
    write_rows(tmp_path, Random(1))
    assert compare(tmp_path, draw(1, 100), Settings("fjord", step_rows=step_rows)) == []


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_random_queries_on_spark_agree_with_duckdb(tmp_path):
    write_rows(tmp_path, Random(1))
    assert compare(tmp_path, draw(1, 100), Settings("spark", "local[2]", step_rows=40)) == []


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_random_queries_agree_with_duckdb(tmp_path, seed):
    write_rows(tmp_path, Random(seed))
    assert compare(tmp_path, draw(seed, 100), Settings("fjord", step_rows=11)) == []


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_random_queries_on_spark_agree_with_duckdb(tmp_path, seed):
    write_rows(tmp_path, Random(seed))
    assert compare(tmp_path, draw(seed, 100), Settings("spark", "local[2]", step_rows=20)) == []
