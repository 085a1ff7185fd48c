"""A live source that is wholly quiet: time goes on, and the silence of its sensors is noticed."""

import socket
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.sinks.memory import MemorySink

OF_SPARK = """CREATE SOURCE m (value VARCHAR, timestamp TIMESTAMP, WATERMARK FOR timestamp AS timestamp)
    WITH (connector='spark', spark_format='socket', 'spark.host'='127.0.0.1', 'spark.port'='{port}',
          'spark.includeTimestamp'='true', idle_timeout='1s');
    CREATE MATERIALIZED VIEW quiet AS
    SELECT value FROM SILENCE(m, timestamp, INTERVAL '2' SECOND, across => value) AS s"""

OF_A_FOLDER = """CREATE SOURCE m (ts TIMESTAMP, sensor INT, WATERMARK FOR ts AS ts)
    WITH (connector='folder', path='*.csv', idle_timeout='1s');
    CREATE MATERIALIZED VIEW quiet AS
    SELECT sensor, ts FROM SILENCE(m, ts, INTERVAL '2' SECOND, across => sensor) AS s"""

pytestmark = pytest.mark.spark


def until_silent(sink, polls=600):
    """Stop when the silences are there, or when they have not come for long."""
    left = iter(range(polls))
    return lambda: sink.table("quiet").num_rows >= 2 or next(left, None) is None


def test_silence_of_all_sensors_is_noticed(tmp_path):
    now = datetime.now(UTC).replace(tzinfo=None)
    (tmp_path / "m.csv").write_text(f"sensor,ts\n1,{now}\n2,{now}\n")
    database, sink = Database(Catalog.in_memory(), tmp_path), MemorySink()
    database.execute(OF_A_FOLDER)
    database.run(sink, Settings("spark", "local[2]"), stopped=until_silent(sink))
    assert sorted(sink.table("quiet").column("sensor").to_pylist()) == [1, 2]


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_silence_is_noticed_of_a_source_that_spark_reads():
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=say_two_words, args=(server,), daemon=True).start()
        database, sink = Database(Catalog.in_memory(), Path()), MemorySink()
        database.execute(OF_SPARK.format(port=server.getsockname()[1]))
        database.run(sink, Settings("spark", "local[2]"), stopped=until_silent(sink))
    assert sorted(sink.table("quiet").column("value").to_pylist()) == ["a", "b"]


def say_two_words(server):
    """Send two lines to whoever comes, and nothing more."""
    callers = []
    while True:
        try:
            callers.append(server.accept()[0])
        except OSError:
            return
        callers[-1].sendall(b"a\nb\n")
