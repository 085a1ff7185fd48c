"""Compares what a trial answered with what its fleets say they sent, and what sensors heard with what they should."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from duckdb import DuckDBPyConnection

from skerry.catalog import Subscription
from skerry.testing.trial.course import Course
from skerry.testing.trial.evidence import open_answers, open_evidence
from skerry.testing.trial.measure import measure_course
from skerry.testing.trial.queries import COLUMNS, TrialQueries
from skerry.testing.trial.settings import TrialSettings
from skerry.testing.trial.verdict import Verdict

__all__ = ["check_course"]

_PREDICATES_AT_ONCE = 50
_MOST_WINDOWS = 3
"""Of listening: a sensor that nobody needs turns up in the first, and sleeps two later at the latest."""


def check_course(settings: TrialSettings, queries: TrialQueries, course: Course) -> Verdict:
    """Say what is wrong, and give the numbers."""
    with closing(open_evidence(course, settings.delay_s)) as connection:
        answers = [*_check_views(connection, queries, course), *_check_subscriptions(connection, queries, course)]
        sensors = [*_check_control(connection), *_check_sleep(connection, queries, course)]
        return Verdict(measure_course(connection, settings, course), tuple(answers), tuple(sensors))


def _check_views(connection: DuckDBPyConnection, queries: TrialQueries, course: Course) -> Iterator[str]:
    for view in queries.views:
        answers = open_answers(connection, course, view.name, view.twin)
        yield from _compare(connection, view.name, view.twin, answers)


def _check_subscriptions(connection: DuckDBPyConnection, queries: TrialQueries, course: Course) -> Iterator[str]:
    for stream in COLUMNS:
        own = [each for each in queries.subscriptions if each.stream == stream]
        connection.execute(f"CREATE TEMP TABLE wanted_{stream} AS SELECT '' AS id, * FROM {stream} LIMIT 0")
        for first in range(0, len(own), _PREDICATES_AT_ONCE):
            asked = _unite(own[first : first + _PREDICATES_AT_ONCE])
            connection.execute(f"INSERT INTO wanted_{stream} {asked}")
        wanted = f"SELECT * FROM wanted_{stream}"
        answers = open_answers(connection, course, f"subscriptions/{stream}", wanted)
        yield from _compare(connection, f"subscriptions/{stream}", wanted, answers)


def _unite(subscriptions: Sequence[Subscription]) -> str:
    """One question for all answers of some subscriptions."""
    parts = (f"SELECT '{each.id}' AS id, * FROM {each.stream} WHERE {each.predicate}" for each in subscriptions)
    return " UNION ALL ".join(parts)


def _compare(connection: DuckDBPyConnection, what: str, wanted: str, answers: str) -> Iterator[str]:
    """Both sides as multisets: nothing is missing, nothing is there that should not be, or twice."""
    columns = ", ".join(f'"{name}"' for name, *_ in connection.execute(f"DESCRIBE {wanted}").fetchall())
    sides = f"SELECT {columns} FROM ({wanted})", f"SELECT {columns} FROM {answers}"
    for problem, (one, other) in (("missing", sides), ("too many", sides[::-1])):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE rest AS ({one}) EXCEPT ALL ({other})")
        [(count,)] = connection.execute("SELECT count(*) FROM rest").fetchall()
        if count:
            example = connection.execute("SELECT * FROM rest ORDER BY ALL LIMIT 1").fetchall()[0]
            yield f"{what}: {count:,} answers are {problem}, such as {example}"


def _check_control(connection: DuckDBPyConnection) -> Iterator[str]:
    """Control comes while a sensor listens, and never otherwise."""
    [(count,)] = connection.execute("SELECT count(*) FROM lines WHERE heard = 'outside'").fetchall()
    if count:
        yield f"{count:,} control messages came outside of listening windows"


def _check_sleep(connection: DuckDBPyConnection, queries: TrialQueries, course: Course) -> Iterator[str]:
    """Sensors that no query names sleep, the others do not; and they do so in time."""
    conditions = " OR ".join(f"(fleet = '{stream}' AND {condition})" for stream, condition in queries.concerned)
    connection.execute(
        f"CREATE TEMP TABLE motes AS SELECT fleet, sensor, {conditions} AS is_used FROM lines WHERE what = 'mote'"
    )
    asleep = [sensor for sensor, is_asleep in _list_states(connection, "is_used") if is_asleep]
    if asleep:
        yield f"{len(asleep):,} sensors in use are asleep at the end, such as {asleep[0]}"
    heard = _count_heard(connection, course.calm_since_s)
    states = _list_states(connection, "NOT is_used")
    awake = [sensor for sensor, is_asleep in states if not is_asleep and heard.get(sensor, 0) > _MOST_WINDOWS]
    if awake:
        yield f"{len(awake):,} sensors not in use are awake at the end, such as {awake[0]}"
    slow = [(sensor, count) for sensor, at, count in _count_windows(connection) if not course.was_troubled(at)]
    if slow:
        who = f"{len(slow):,} times a sensor not in use"
        yield f"{who} listened for more than two windows before it slept, such as {slow[0]}"


def _list_states(connection: DuckDBPyConnection, which: str) -> list[tuple[str, bool]]:
    """Sensors, and whether they sleep at the end."""
    return connection.execute(
        "SELECT sensor, asleep FROM lines JOIN motes USING (fleet, sensor)"
        f" WHERE what = 'energy' AND {which} ORDER BY sensor"
    ).fetchall()


def _count_heard(connection: DuckDBPyConnection, since_s: float) -> dict[str, int]:
    """How many messages each sensor has sent since a time and since it was started last."""
    return dict(
        connection.execute(f"""
        WITH starts AS (SELECT fleet, sensor, max(number) AS started FROM lines
                        WHERE what IN ('mote', 'restarted') GROUP BY ALL)
        SELECT sensor, count(DISTINCT message) FROM lines JOIN starts USING (fleet, sensor)
        WHERE what = 'reading' AND number > started AND epoch(ts) > {since_s} GROUP BY sensor
    """).fetchall()
    )


def _count_windows(connection: DuckDBPyConnection) -> list[tuple[str, float, int]]:
    """By start of a mote that is not used: how many messages it sent until it was told to sleep, if too many."""
    return connection.execute(f"""
        WITH own AS (SELECT lines.* FROM lines JOIN motes USING (fleet, sensor) WHERE NOT is_used),
        starts AS (SELECT fleet, sensor, number, coalesce(at_us, 0) / 1e6 AS began
                   FROM own WHERE what IN ('mote', 'restarted')),
        told AS (SELECT s.fleet, s.sensor, s.number, min(o.number) AS told FROM own AS o ASOF JOIN starts AS s
                 ON s.fleet = o.fleet AND s.sensor = o.sensor AND s.number <= o.number
                 WHERE o.what = 'control' AND o.heard = 'taken' GROUP BY ALL),
        sent AS (SELECT s.fleet, s.sensor, s.number, s.began, o.message, o.number AS line FROM own AS o
                 ASOF JOIN starts AS s ON s.fleet = o.fleet AND s.sensor = o.sensor AND s.number <= o.number
                 WHERE o.what = 'reading')
        SELECT sensor, began, count(DISTINCT message) AS messages
        FROM sent LEFT JOIN told USING (fleet, sensor, number)
        WHERE told IS NULL OR line < told GROUP BY fleet, sensor, number, began
        HAVING messages > {_MOST_WINDOWS} ORDER BY ALL
    """).fetchall()
