"""The numbers of a trial: rates, delays, energy."""

import duckdb
import pyarrow as pa

from skerry.testing.trial.course import Course
from skerry.testing.trial.queries import COLUMNS
from skerry.testing.trial.settings import TrialSettings
from skerry.testing.trial.verdict import Numbers

__all__ = ["measure_course"]


def measure_course(connection: duckdb.DuckDBPyConnection, settings: TrialSettings, course: Course) -> Numbers:
    """Count and average, once ``check`` has made its tables."""
    readings, seconds = _count(connection, "what = 'reading'"), course.seconds or settings.seconds
    heard = connection.execute("SELECT heard, count(*) FROM lines WHERE what = 'control' GROUP BY heard").fetchall()
    powers = dict(
        connection.execute(
            f"SELECT is_used, avg(energy_mj) / {seconds} FROM lines JOIN motes USING (fleet, sensor)"
            " WHERE what = 'energy' GROUP BY is_used"
        ).fetchall()
    )
    [(energy_mj,)] = connection.execute("SELECT sum(energy_mj) FROM lines WHERE what = 'energy'").fetchall()
    answers, p50, p99 = _measure_delays(connection, course)
    return Numbers(
        readings=readings,
        readings_per_s=readings / seconds,
        doubles=_count(connection, "what = 'duplicate'"),
        answers=answers,
        delay_p50_s=p50,
        delay_p99_s=p99,
        deaths=_count(connection, "what = 'died'"),
        controls=dict(heard),
        asleep=_count(connection, "what = 'energy' AND asleep"),
        energy_mj=energy_mj,
        awake_mw=powers.get(True, 0.0),
        asleep_mw=powers.get(False, 0.0),
        outages=tuple((what, until - since) for what, since, until in course.outages),
    )


def _count(connection: duckdb.DuckDBPyConnection, where: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM lines WHERE {where}").fetchall()
    return int(count)


def _measure_delays(connection: duckdb.DuckDBPyConnection, course: Course) -> tuple[int, float, float]:
    """How many answers subscriptions got, and how long after a reading they were there, outages left out."""
    files = [path for stream in COLUMNS for path in (course.answers / "subscriptions" / stream).glob("*.parquet")]
    schema = pa.schema({"filename": pa.string(), "written_s": pa.float64()})
    written = pa.table([[str(path) for path in files], [path.stat().st_mtime for path in files]], schema=schema)
    connection.register("written", written)
    calm = " AND ".join(["true", *(f"epoch(ts) NOT BETWEEN {since} AND {until}" for _, since, until in course.outages)])
    rows = " UNION ALL ".join(f"SELECT ts, filename FROM answers_subscriptions_{stream}" for stream in COLUMNS)
    [(count, p50, p99)] = connection.execute(
        f"SELECT count(*), quantile_cont(written_s - epoch(ts), 0.5) FILTER (WHERE {calm}),"
        f" quantile_cont(written_s - epoch(ts), 0.99) FILTER (WHERE {calm}) FROM ({rows}) JOIN written USING (filename)"
    ).fetchall()
    return int(count), p50 or 0.0, p99 or 0.0
