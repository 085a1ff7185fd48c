"""Chains of views that give changes, and what they must come to: the net of all ``+`` and ``-`` is the final answer."""

import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
from hypothesis import strategies as st

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.sinks.memory import MemorySink

COLUMNS = "sensor VARCHAR, ts TIMESTAMP, segment INT, speed INT, heat DOUBLE"
_SOURCES = "".join(
    f"CREATE SOURCE {name} ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) "
    f"WITH (connector='file', path='{name}.csv');\n"
    for name in ("road", "rail")
)
_KINDS = "CREATE TABLE kinds (sensor VARCHAR, kind VARCHAR) WITH (connector='file', path='kinds.csv');\n"

ENDLESS = {
    "per": "SELECT sensor, COUNT(*) AS n, COUNT(speed) AS c, SUM(speed) AS s, MIN(speed) AS low, MAX(segment) AS high "
    "FROM road GROUP BY sensor",
    "busy": "SELECT n, sensor FROM per WHERE n > 1",
    "spread": "SELECT n, COUNT(*) AS sensors, MIN(sensor) AS first, MAX(s) AS s, SUM(low) AS low FROM per GROUP BY n",
    "often": "SELECT sensors, COUNT(*) AS k, AVG(n) AS n FROM spread GROUP BY sensors HAVING COUNT(*) > 0",
    "whole": "SELECT COUNT(*) AS sensors, SUM(n) AS n, MEDIAN(n) AS mid, COUNT(DISTINCT low) AS lows FROM per",
    "known": "SELECT k.kind, COUNT(*) AS n, SUM(r.speed) AS s FROM road AS r "
    "JOIN kinds AS k ON k.sensor = r.sensor GROUP BY k.kind",
    "named": "SELECT p.n, p.high, k.kind FROM per AS p LEFT JOIN kinds AS k ON k.sensor = p.sensor",
    "first": "SELECT sensor, n FROM per ORDER BY n DESC, sensor LIMIT 2",
    "fastest": "SELECT sensor, speed, ts FROM road WHERE speed > 0 ORDER BY speed DESC, ts, sensor LIMIT 3 OFFSET 1",
    "different": "SELECT DISTINCT segment, speed FROM road",
    "all_of": "SELECT sensor, n FROM per UNION ALL SELECT sensor, segment FROM rail",
    "counted": "SELECT sensor, SUM(n) AS n FROM all_of GROUP BY sensor",
    "nested": "WITH x AS (SELECT segment, COUNT(*) AS n FROM road GROUP BY segment) SELECT MAX(n) AS n FROM x",
}
"""Without a window: DuckDB says what they come to."""
WINDOWED = {
    "minute": "SELECT sensor, window_start, window_end, COUNT(*) AS n, SUM(speed) AS s, AVG(heat) AS heat, "
    "MEDIAN(speed) AS mid, FIRST(segment) AS first, VAR_POP(heat) AS v "
    "FROM TUMBLE(road, ts, INTERVAL '1' MINUTE) GROUP BY sensor, window_start, window_end",
    "many": "SELECT sensor, window_start, n > 1 AS many, heat FROM minute WHERE n < 4",
    "hops": "SELECT window_start, segment, SUM(heat) AS heat, MAX(speed) AS most, COUNT(DISTINCT sensor) AS sensors "
    "FROM HOP(road, ts, INTERVAL '1' MINUTE, INTERVAL '3' MINUTE) GROUP BY window_start, segment",
    "over_minutes": "SELECT window_start, SUM(n) AS n, MAX(s) AS most, COUNT(*) AS c, AVG(heat) AS heat, "
    "MIN(mid) AS low, FIRST(n) AS first, APPROX_QUANTILE(s, 0.5) AS q, "
    "STRING_AGG(sensor, '/' ORDER BY sensor, n) AS all_of "
    "FROM TUMBLE(minute, window_end, INTERVAL '3' MINUTE) GROUP BY window_start",
    "over_hops": "SELECT window_start, COUNT(*) AS n, SUM(heat) AS heat FROM HOP(hops, window_start, "
    "INTERVAL '2' MINUTE, INTERVAL '4' MINUTE) GROUP BY window_start",
    "trips": "SELECT sensor, window_start, window_end, COUNT(*) AS n, SUM(heat) AS heat "
    "FROM SESSION_WINDOW(road, ts, INTERVAL '30' SECOND) GROUP BY sensor, window_start, window_end",
    "over_trips": "SELECT window_start, COUNT(*) AS trips, SUM(n) AS n "
    "FROM TUMBLE(trips, window_end, INTERVAL '2' MINUTE) GROUP BY window_start",
    "left_of": "SELECT a.sensor, a.ts, a.speed, b.speed AS other FROM SLIDING(road, ts, INTERVAL '40' SECOND) AS a "
    "LEFT JOIN SLIDING(rail, ts, INTERVAL '20' SECOND) AS b ON b.sensor = a.sensor AND b.speed >= a.speed",
    "either": "SELECT a.sensor, a.ts, b.sensor AS second, b.ts AS later "
    "FROM TUMBLE(road, ts, INTERVAL '1' MINUTE) AS a FULL JOIN TUMBLE(rail, ts, INTERVAL '1' MINUTE) AS b "
    "ON b.segment = a.segment",
    "right_of": "SELECT b.ts, b.segment, a.speed FROM SLIDING(road, ts, INTERVAL '30' SECOND) AS a "
    "RIGHT JOIN SLIDING(rail, ts, INTERVAL '30' SECOND) AS b ON b.segment = a.segment",
    "over_left": "SELECT window_start, COUNT(*) AS n, COUNT(other) AS others, SUM(other) AS s, MIN(other) AS low "
    "FROM TUMBLE(left_of, ts, INTERVAL '1' MINUTE) GROUP BY window_start",
    "beside": "SELECT m.sensor, m.window_end, m.n, b.ts FROM SLIDING(minute, window_end, INTERVAL '2' MINUTE) AS m "
    "JOIN SLIDING(rail, ts, INTERVAL '1' MINUTE) AS b ON b.sensor = m.sensor",
    "tops": "SELECT window_start, sensor, COUNT(*) AS n FROM TUMBLE(road, ts, INTERVAL '1' MINUTE) "
    "GROUP BY window_start, sensor ORDER BY n DESC, sensor LIMIT 1",
    "leading": "SELECT window_start, ts, sensor, speed FROM TUMBLE(road, ts, INTERVAL '2' MINUTE) "
    "ORDER BY speed DESC, ts, sensor, heat LIMIT 2",
    "since": "SELECT sensor, window_start, COUNT(*) AS n, AVG(heat) AS heat, LAST(speed) AS last "
    "FROM LANDMARK(road, ts, TIMESTAMP '2026-01-01 00:01:00') GROUP BY sensor",
}
"""What they come to is what they give with ``emit='final'``."""

_HEATS = (0.1, 2.5, -7.25, 1e200, None, float("inf"), float("-inf"), float("nan"), -0.0, 0.0)
_READING = st.tuples(
    st.sampled_from("abc"),
    st.integers(0, 59),
    st.one_of(st.none(), st.integers(1, 3)),
    st.one_of(st.none(), st.integers(0, 5)),
    st.sampled_from(_HEATS),
)


@st.composite
def readings(draw, most: int = 25) -> list[tuple]:
    """Readings in the order of their arrival, none behind the watermark."""
    found, newest = [], 0
    for sensor, back, segment, speed, heat in draw(st.lists(_READING, max_size=most)):
        newest += draw(st.sampled_from((0, 1, 7, 25, 50)))
        found.append((sensor, max(newest - back, 0), segment, speed, heat))
    return found


def run(script: str, roads: list[tuple], rails: list[tuple], settings: Settings) -> MemorySink:
    """Run a script over both sources."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, rows in (("road", roads), ("rail", rails)):
            lines = [",".join(part.split()[0] for part in COLUMNS.split(", ")), *map(_write, rows)]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (folder / "kinds.csv").write_text("sensor,kind\na,cam\nb,loop\nb,radar\n")
        database, sink = Database(Catalog.in_memory(), folder), MemorySink()
        database.execute(_SOURCES + _KINDS + script)
        outcome = database.run(sink, settings)
        assert not outcome.failures
        return sink


def _write(row: tuple) -> str:
    sensor, second, *values = row
    return ",".join([sensor, _moment(second), *("" if value is None else repr(value) for value in values)])


def _moment(second: int) -> str:
    return f"2026-01-01 00:{second // 60:02}:{second % 60:02}"


def script_of(views: dict[str, str], emit: str | None, prefix: str = "") -> str:
    """Statements that make views, each under a prefix, those they read too; a view over a view says nothing of emit."""
    return "".join(
        f"CREATE MATERIALIZED VIEW {prefix}{name}{_emit(name, emit)} AS {_rename(select, views, prefix)};\n"
        for name, select in views.items()
    )


_INHERITED = ("busy", "named", "many", "beside")
"""They change since what they read does."""


def _emit(name: str, emit: str | None) -> str:
    return f" WITH (emit='{emit}')" if emit and name not in _INHERITED else ""


def _rename(select: str, views: dict[str, str], prefix: str) -> str:
    words = select.replace("(", "( ").replace(",", " ,").split(" ")
    return (
        " ".join(
            prefix + word if word in views and before.endswith(("FROM", "(", "JOIN")) else word
            for before, word in zip(["", *words], words, strict=False)
        )
        .replace("( ", "(")
        .replace(" ,", ",")
    )


def net(sink: MemorySink, view: str) -> Counter:
    """What is left of a view's changes; after no batch was more taken back than given."""
    table, left = sink.table(view), Counter()
    for row in table.to_pylist():
        op = row.pop("_op")
        left[_spell(row.values())] += {"+": 1, "-": -1}[op]
    assert all(count >= 0 for count in left.values()), f"{view}: taken back and not given: {-left}"
    return +left


def final(sink: MemorySink, view: str) -> Counter:
    """All rows of a view."""
    return Counter(_spell(row.values()) for row in sink.table(view).to_pylist())


def ask_duckdb(roads: list[tuple], rails: list[tuple]) -> dict[str, Counter]:
    """What the views without a window come to."""
    connection = duckdb.connect()
    for name, rows in (("road", roads), ("rail", rails)):
        connection.execute(f"CREATE TABLE {name} ({COLUMNS})")
        if rows:
            values = [(sensor, _moment(second), *others) for sensor, second, *others in rows]
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", values)
    connection.execute(
        "CREATE TABLE kinds AS FROM (VALUES ('a', 'cam'), ('b', 'loop'), ('b', 'radar')) t(sensor, kind)"
    )
    found = {}
    for name, select in ENDLESS.items():
        connection.execute(f"CREATE VIEW {name} AS {select}")
        found[name] = Counter(_spell(row) for row in connection.sql(f"FROM {name}").fetchall())
    return found


def _spell(row) -> tuple[str, ...]:
    return tuple(_spell_value(value) for value in row)


def _spell_value(value) -> str:
    """Numbers as numbers, whatever their type."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)
