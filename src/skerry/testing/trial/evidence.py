"""What a trial left behind, as tables of a DuckDB: what fleets sent and heard, and what was answered.

lines         all that the fleets wrote down, in its order, with the name of the fleet
road, field   the readings that the broker acknowledged, as the sources declare them
"""

import duckdb

from skerry.errors import RunError
from skerry.testing.trial.course import FLEETS, Course
from skerry.testing.trial.queries import COLUMNS

__all__ = ["open_answers", "open_evidence"]

_LINE = {
    "what": "VARCHAR",
    "sensor": "VARCHAR",
    "message": "BIGINT",
    "seq": "BIGINT",
    "ts": "TIMESTAMP",
    "heard": "VARCHAR",
    "at_us": "BIGINT",
    "energy_mj": "DOUBLE",
    "asleep": "BOOLEAN",
    "longest_lag_s": "DOUBLE",
}


def open_evidence(course: Course, delay_s: float) -> duckdb.DuckDBPyConnection:
    """Load what the fleets wrote down; ``delay_s`` is how late readings may be."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SET integer_division = true; SET enable_progress_bar = false")
    measured = {name: type_ for columns in COLUMNS.values() for name, type_ in columns.items()}
    declared = ", ".join(f"{name}: '{type_}'" for name, type_ in (_LINE | measured).items())
    parts = [
        f"SELECT row_number() OVER () AS number, '{fleet}' AS fleet, *"
        f" FROM read_json('{course.truth(fleet)}', format='newline_delimited', columns={{{declared}}})"
        for fleet in FLEETS
    ]
    connection.execute(f"CREATE TABLE lines AS {' UNION ALL '.join(parts)}")
    _refuse_doubt(connection, delay_s)
    for name, columns in COLUMNS.items():
        chosen = ", ".join(("sensor", "ts", "seq", *columns))
        where = f"what = 'reading' AND fleet = '{name}'"
        connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM lines WHERE {where}")
    return connection


def open_answers(connection: duckdb.DuckDBPyConnection, course: Course, output: str, like: str) -> str:
    """A view of all answers of an output, of none if there is no file; ``like`` is a query with the same columns.

    The view has the file of each answer as ``filename``. Gives its name.
    """
    files, name = course.answers / output, f"answers_{output.replace('/', '_')}"
    found = f"SELECT * FROM read_parquet('{files}/*.parquet', filename=true)"
    if not any(files.glob("*.parquet")):
        found = f"SELECT *, '' AS filename FROM ({like}) WHERE false"
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {found}")
    return name


def _refuse_doubt(connection: duckdb.DuckDBPyConnection, delay_s: float) -> None:
    """Refuse to judge where the fleets did not do their part.

    What the broker has not answered to the end may have been taken or not. What sensors send long after they measured
    it, since the machine is too slow for them, is late, and rightly so.
    """
    [(count,)] = connection.execute("SELECT count(*) FROM lines WHERE what = 'unacknowledged'").fetchall()
    if count:
        raise RunError(f"the trial says nothing: {count} readings were not acknowledged when the fleets stopped")
    [(lag_s,)] = connection.execute("SELECT max(longest_lag_s) FROM lines WHERE what = 'summary'").fetchall()
    if (lag_s or 0.0) > delay_s / 2:
        doubt = f"the fleets were {lag_s:.0f} s behind their clock, and the sources' delay is {delay_s:g} s"
        raise RunError(f"the trial says nothing: {doubt}; use a longer delay, a lower rate or fewer sensors")
