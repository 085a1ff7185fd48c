"""Windows that GROUP BY says, and windows with an offset: the answers are DuckDB's over the same rows."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.sinks.memory import MemorySink

SOURCE = """CREATE SOURCE r (sensor VARCHAR, ts TIMESTAMP, temp DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
    WITH (connector='file', path='r.csv');"""
MINUTE = "time_bucket(INTERVAL '1 minute', ts)"
MEANS = f"SELECT sensor, {MINUTE} AS window_start, AVG(temp) AS t FROM r GROUP BY ALL"
NEAR = (
    "FROM r AS a JOIN r AS b ON b.sensor > a.sensor "
    "AND b.ts BETWEEN a.ts - INTERVAL '20' SECOND AND a.ts + INTERVAL '30' SECOND"
)
EVERY = (
    "a AS (SELECT sensor, date_trunc('minute', ts) AS minute, COUNT(*) AS n FROM r GROUP BY 1, 2), "
    "b AS (SELECT sensor, date_trunc('minute', ts) AS minute, MAX(temp) AS m FROM r WHERE temp > 9 GROUP BY ALL)"
)
ALIKE = [
    "SELECT sensor, date_trunc('minute', ts) AS minute, COUNT(*) AS n, MAX(temp) AS m FROM r GROUP BY sensor, minute",
    "SELECT time_bucket(INTERVAL '5 minutes', x.ts) AS b, AVG(temp) AS t FROM r AS x WHERE temp > 3 GROUP BY 1",
    "SELECT sensor, CAST(ts AS DATE) AS day, SUM(temp) AS s FROM r GROUP BY sensor, CAST(ts AS DATE)",
    "SELECT * EXCLUDE (temp) FROM r",
    "SELECT temp * 2 AS twice, twice + 1 AS more, sensor || more AS text FROM r WHERE more > 9",
    "SELECT temp * 2 AS temp, temp + 1 AS more FROM r",
    "SELECT date_trunc('minute', ts) AS t, MAX(temp) AS hi, MIN(temp) AS lo, hi - lo AS spread FROM r GROUP BY t",
    "SELECT temp - LAG(temp) OVER (PARTITION BY sensor ORDER BY ts, temp) AS d, abs(d) AS size FROM r",
    "SELECT a.temp - b.temp AS d, -d AS e FROM r AS a JOIN r AS b ON a.ts = b.ts WHERE e > 0",
    "SELECT * REPLACE (temp * 2 AS temp, upper(sensor) AS sensor) FROM r WHERE temp > 3",
    "SELECT * EXCLUDE (ts) RENAME (temp AS celsius) FROM r",
    "SELECT a.* REPLACE (-a.temp AS temp), b.temp AS other FROM r AS a JOIN r AS b ON a.ts = b.ts",
    "SELECT * REPLACE (temp + 1 AS temp) FROM (SELECT sensor, temp FROM r)",
    "SELECT * REPLACE (temp + 1 AS temp), LAG(temp) OVER (PARTITION BY sensor ORDER BY ts, temp) AS l FROM r",
    "SELECT time_bucket(INTERVAL '7 minutes', ts) AS b, COUNT(*) AS n FROM r GROUP BY b",
    "SELECT time_bucket(INTERVAL '5 minutes', ts, INTERVAL '2 minutes') AS b, COUNT(*) AS n FROM r GROUP BY sensor, 1",
    "SELECT time_bucket(INTERVAL '5 minutes', ts, TIMESTAMP '2026-01-01 00:01:30') AS b, SUM(1) AS n FROM r GROUP BY b",
    "SELECT time_bucket(INTERVAL '3 days', ts, INTERVAL '-1 hour') AS b, COUNT(*) AS n FROM r GROUP BY b",
    "SELECT date_trunc('minute', ts) + INTERVAL '1 minute' AS till, COUNT(*) AS n FROM r GROUP BY till",
    "SELECT ts, COUNT(*) AS n, MAX(temp) AS m FROM r GROUP BY ts HAVING MAX(temp) > 3",
    f"SELECT a.ts, MIN(b.temp) AS m, COUNT(*) AS n {NEAR} GROUP BY a.ts",
    f"SELECT date_trunc('minute', a.ts) AS t, b.sensor, COUNT(*) AS n {NEAR} GROUP BY t, b.sensor HAVING n > 2",
    f"SELECT date_trunc('minute', a.ts) AS t, COUNT(b.temp) AS n {NEAR.replace('JOIN', 'LEFT JOIN')} GROUP BY 1",
    f"WITH {EVERY} SELECT a.sensor, a.minute, a.n, b.m FROM a LEFT JOIN b USING (sensor, minute)",
    f"WITH {EVERY} SELECT a.sensor, b.minute, n, m FROM b FULL JOIN a ON b.minute = a.minute AND b.sensor = a.sensor",
    f"WITH {EVERY} SELECT time_bucket(INTERVAL '5 minutes', minute) AS five, MAX(n) AS m FROM a GROUP BY five",
    f"WITH {EVERY} SELECT minute, SUM(n) AS n FROM a GROUP BY minute HAVING SUM(n) > 1",
    f"WITH {EVERY} SELECT sensor, minute, n - LAG(n) OVER (PARTITION BY sensor ORDER BY minute) AS d FROM a",
    f"SELECT a.sensor, a.ts, COUNT(*) AS n {NEAR} GROUP BY a.sensor, a.ts ORDER BY n DESC, a.sensor",
    f"SELECT b.ts AS t, SUM(a.temp * b.temp) AS s {NEAR} WHERE a.temp > 9 GROUP BY b.ts",
]
SAME = "TUMBLE(r, ts, INTERVAL '1' MINUTE) AS b WHERE b.window_start = a.window_start AND b.temp > 15"
LATER = "r AS b WHERE date_trunc('minute', b.ts) = date_trunc('minute', a.ts) AND b.temp > 15"
TWINS = {
    **{
        f"SELECT a.sensor, a.ts, a.temp FROM TUMBLE(r, ts, INTERVAL '1' MINUTE) AS a WHERE {asked.format(SAME)}": (
            f"SELECT a.sensor, a.ts, a.temp FROM r AS a WHERE {asked.format(LATER)}"
        )
        for asked in (
            "EXISTS (SELECT 1 FROM {} AND b.sensor > a.sensor)",
            "NOT EXISTS (SELECT 1 FROM {} AND b.sensor = a.sensor)",
            "a.sensor IN (SELECT b.sensor FROM {}) AND a.temp < 5",
            "a.sensor NOT IN (SELECT b.sensor FROM {})",
        )
    },
    """SELECT l.sensor, l.n, r.m FROM
        (SELECT sensor, window_start, window_end, COUNT(*) AS n FROM TUMBLE(r, ts, INTERVAL '1' MINUTE)
         GROUP BY sensor, window_start, window_end) AS l
        LEFT JOIN (SELECT sensor, window_start, window_end, MAX(temp) AS m FROM TUMBLE(r, ts, INTERVAL '1' MINUTE)
         WHERE temp > 9 GROUP BY sensor, window_start, window_end) AS r
        ON l.sensor = r.sensor AND l.window_start = r.window_start AND l.window_end = r.window_end""": f"""
        WITH {EVERY} SELECT a.sensor, a.n, b.m FROM a LEFT JOIN b USING (sensor, minute)""",
    f"""SELECT window_start, a.sensor, COUNT(*) AS n, MAX(a.temp) AS m
        {NEAR.replace("r AS a", "TUMBLE(r, ts, INTERVAL '1' MINUTE) AS a")} GROUP BY window_start, a.sensor""": f"""
        SELECT date_trunc('minute', a.ts) AS window_start, a.sensor, COUNT(*) AS n, MAX(a.temp) AS m
        {NEAR} GROUP BY ALL""",
    """WITH a AS (SELECT sensor, window_start, AVG(temp) AS t FROM TUMBLE(r, ts, INTERVAL '1' MINUTE)
       GROUP BY sensor, window_start)
       SELECT window_start, MAX(t) - MIN(t) AS spread, COUNT(*) AS n FROM a GROUP BY window_start""": f"""
       SELECT window_start, MAX(t) - MIN(t) AS spread, COUNT(*) AS n FROM ({MEANS}) GROUP BY window_start""",
    """WITH a AS (SELECT sensor, window_start, window_end, COUNT(*) AS n
       FROM HOP(r, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) GROUP BY ALL_KEYS)
       SELECT window_start, window_end, SUM(n) AS n FROM a GROUP BY window_start, window_end""".replace(
        "ALL_KEYS", "sensor, window_start, window_end"
    ): f"""
       SELECT w AS window_start, w + INTERVAL 2 MINUTE AS window_end, COUNT(*) AS n FROM (
       SELECT unnest([{MINUTE}, {MINUTE} - INTERVAL 1 MINUTE]) AS w FROM r) GROUP BY w""",
    """SELECT window_start, window_end, COUNT(*) AS n
       FROM TUMBLE(r, ts, INTERVAL '1' HOUR, INTERVAL '10' MINUTE) GROUP BY window_start, window_end""": """
       SELECT time_bucket(INTERVAL 1 HOUR, ts, INTERVAL 10 MINUTE) AS window_start,
       window_start + INTERVAL 1 HOUR AS window_end, COUNT(*) AS n FROM r GROUP BY ALL""",
    """SELECT window_start, MIN(temp) AS m
       FROM HOP(r, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE, INTERVAL '-7' SECOND) GROUP BY window_start""": """
       WITH s AS (SELECT *, time_bucket(INTERVAL 1 MINUTE, ts, INTERVAL (-7) SECOND) AS b FROM r),
       w AS (SELECT temp, unnest([b, b - INTERVAL 1 MINUTE]) AS window_start FROM s)
       SELECT window_start, MIN(temp) AS m FROM w GROUP BY window_start""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Readings of three sensors over two hours and a half, a little out of order."""
    folder, random = tmp_path_factory.mktemp("implied"), np.random.default_rng(3)
    seconds = np.sort(random.integers(0, 9_000, 400)) + random.integers(-9, 9, 400)
    times = pa.array((seconds + 1_780_000_000) * 1_000_000).cast(pa.timestamp("us"))
    sensors = pa.array(random.choice(["a", "b", "c"], 400))
    columns = {"sensor": sensors, "ts": times.cast(pa.string()), "temp": pa.array(random.integers(0, 90, 400) / 4)}
    pyarrow.csv.write_csv(pa.table(columns), folder / "r.csv")
    return folder


@pytest.mark.parametrize(("query", "twin"), [*((query, query) for query in ALIKE), *TWINS.items()])
def test_answers_are_those_of_duckdb(folder, query, twin):
    database, sink = Database(Catalog.in_memory(), folder), MemorySink()
    database.execute(f"{SOURCE} CREATE MATERIALIZED VIEW v AS {query}")
    database.run(sink, Settings("fjord", step_rows=50))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE r AS SELECT * FROM read_csv('{folder / 'r.csv'}')")
        wanted = connection.sql(twin).to_arrow_table()
    found = sink.table("v").select(wanted.column_names)
    order = [(name, "ascending") for name in wanted.column_names]
    assert found.sort_by(order).to_pylist() == wanted.cast(found.schema).sort_by(order).to_pylist()


WRONG = {
    "SELECT * EXCLUDE (tmp) FROM r": "unknown column 'tmp'",
    f"SELECT date_trunc('minute', b.ts) AS t, COUNT(*) {NEAR.replace('JOIN', 'LEFT JOIN')} GROUP BY t": "the view",
    "SELECT y AS x, x AS y FROM r": "unknown column",
    f"SELECT temp + temp AS a0, {', '.join(f'a{n} + a{n} AS a{n + 1}' for n in range(40))} FROM r": "give the names in",
    "SELECT * REPLACE (temp + 1 AS tmp) FROM r": "unknown column 'tmp'",
    "SELECT * EXCLUDE (temp) REPLACE (temp + 1 AS temp) FROM r": "leaves column 'temp' out",
    "SELECT sensor, COUNT(*) FROM r GROUP BY sensor, date_trunc('month', ts)": "needs a window",
    "SELECT 1 FROM TUMBLE(r, ts, INTERVAL '1' HOUR) AS a WHERE EXISTS (SELECT 1 "
    "FROM TUMBLE(r, ts, INTERVAL '1' HOUR) AS b WHERE a.sensor = b.sensor)": "a stream is asked over a window of time",
    "SELECT 1 FROM TUMBLE(r, ts, INTERVAL '1' HOUR) AS a WHERE EXISTS (SELECT 1 "
    "FROM TUMBLE(r, ts, INTERVAL '2' HOUR) AS b WHERE a.window_start = b.window_start)": "a stream is asked over",
    "SELECT COUNT(*) FROM TUMBLE(r, ts, INTERVAL '1' HOUR, INTERVAL '1' DAY, INTERVAL '1' DAY)": "3 or 4 arguments",
}


@pytest.mark.parametrize(("query", "message"), WRONG.items())
def test_what_is_no_window_is_refused(folder, query, message):
    database = Database(Catalog.in_memory(), folder)
    with pytest.raises(InputError, match=message):
        database.execute(f"{SOURCE} CREATE MATERIALIZED VIEW v AS {query}")
