"""Figure 8: throughput by the number of queries in one Fjord; and Query 2, many times over."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow as pa

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.fjords.claims import BASELINE_HZ, judge_true
from skerry.experiments.fjords.figure7_sharing import take_cpu_ms
from skerry.experiments.fjords.fjords import AT_ONCE, SOURCE, Fjord, build_filter, cut_selections
from skerry.experiments.fjords.trace import READINGS, Trace
from skerry.fjord.runtime import FjordRuntime
from skerry.sinks.memory import MemorySink
from skerry.sources.source import Connector
from skerry.subscriptions.counters import COUNTS
from skerry.subscriptions.selections import Selections
from skerry.testing.sources import GivenConnector

__all__ = ["measure_query2", "measure_scaling"]

_FILTERS, _INDEX = "a filter per query", "the query index"
_LEVELS = 20
"""From about so many queries on, the paper's total throughput stays the same."""
_PAPER_QUERIES = 50
_TRIALS = 3
_STATIONS = 16
_QUERY_2 = """CREATE MATERIALIZED VIEW q{number} AS SELECT i.description, s.station, AVG(s.speed) AS speed
FROM SLIDING(incidents, ts, INTERVAL '4' HOUR) AS i JOIN TUMBLE(readings, ts, INTERVAL '5' MINUTE) AS s
ON i.station = s.station WHERE s.station IN ({stations})
GROUP BY i.description, s.station, s.window_start HAVING AVG(s.speed) < {threshold};"""
_INCIDENTS = """CREATE TABLE incidents (ts TIMESTAMP, station INT, description VARCHAR)
WITH (connector='file', path='incidents.csv');"""


def measure_scaling(trace: Trace, counts: Sequence[int]) -> Figure:
    """Readings per second that n queries work on, in total and each; ``counts`` have 20 and 50 among them."""
    rows = [row for count in counts for row in _measure(trace, count)]
    panels = (
        Panel("total_per_s", "readings per second, all queries", logarithmic=True),
        Panel("per_query_per_s", "readings per second per query", logarithmic=True),
    )
    title = "Figure 8: throughput by the number of queries"
    figure = Figure("fjords_figure8", title, pa.Table.from_pylist(rows), "queries", panels, ())
    notes = [
        f"{trace.records:,} records, {AT_ONCE} at once; per second of CPU time, medians of three.",
        "A filter per query is the paper's Fjord. The query index answers views that only select, where a stream has "
        "eight of them or more.",
    ]
    return figure.with_verdicts(list(_judge(figure)), notes)


def _measure(trace: Trace, count: int) -> Iterator[dict[str, float | str]]:
    views = cut_selections(count)
    filters, index = [build_filter(view) for view in views], Selections.of(views)

    def ask_index() -> list[int]:
        found = dict.fromkeys((view.name for view in views), 0)
        for batch in trace.read(AT_ONCE):
            for name, rows in index.answers(batch).items():
                if name != COUNTS:
                    found[name] += rows.num_rows
        return list(found.values())

    fjord = Fjord(trace, filters)
    fjord.run()
    assert list(fjord.count_answers()) == ask_index()
    ways: dict[str, Callable[[], Callable[[], object]]] = {
        _FILTERS: lambda: Fjord(trace, filters).run,
        _INDEX: lambda: ask_index,
    }
    for way, prepare in ways.items():
        rate = 1_000 * trace.records / median(take_cpu_ms(prepare()) for _ in range(_TRIALS))
        yield {
            "technique": way,
            "queries": count,
            "total_per_s": round(rate * count, 1),
            "per_query_per_s": round(rate, 1),
        }


def _judge(figure: Figure) -> Iterator[Verdict]:
    counts, totals = figure.line(_FILTERS, "total_per_s")
    at = dict(zip(counts, totals, strict=True))
    grown, after = at[_LEVELS] / at[counts[0]], at[counts[-1]] / at[_LEVELS]
    yield judge_true(
        "total throughput climbs up to about 20 queries, then stays about the same",
        "so",
        f"{grown:.2f} times from {counts[0]} query to {_LEVELS}, {after:.2f} times from there to {counts[-1]}",
        grown > 1.1 and 0.75 <= after <= 1.25,
        "a filter costs much more than what it shares with others, so there is little to climb",
    )
    for way in (_FILTERS, _INDEX):
        points, rates = figure.line(way, "per_query_per_s")
        rate = dict(zip(points, rates, strict=True))[_PAPER_QUERIES]
        yield judge_true(
            f"some 50 queries stay ahead of a sensor at {BASELINE_HZ:g} readings per second ({way})",
            f"{BASELINE_HZ:g} per second",
            f"{rate:,.0f} per second with 50, {rates[-1]:,.0f} with {points[-1]:g}",
            rate >= BASELINE_HZ,
        )
    ratio = figure.at_largest(_INDEX, "total_per_s") / figure.at_largest(_FILTERS, "total_per_s")
    yield judge_true(
        f"the query index is ahead of a filter per query, at {counts[-1]:g} queries",
        "not in the paper",
        f"{ratio:.1f} times",
        ratio > 1.0,
    )


def measure_query2(trace: Trace, counts: Sequence[int]) -> Figure:
    """What Query 2 costs, a number of times in one run, and in a run each; ``counts`` begin with one."""
    with TemporaryDirectory() as folder:
        _write_incidents(trace, Path(folder))
        _measure_query2(trace, Path(folder), 1)  # compiles
        rows = [row for count in counts for row in _measure_query2(trace, Path(folder), count)]
    panels = (Panel("per_query_ms", "CPU time per query, ms"),)
    title = "Section 5.3.2: Query 2, many times over"
    figure = Figure("fjords_query2", title, pa.Table.from_pylist(rows), "queries", panels, ())
    notes = [
        f"{trace.records:,} readings of {_STATIONS} stations, pushed; incidents in a file, scanned. Each query has "
        "three stations and a threshold of its own. Runs of the runtime in process, with all that belongs to one.",
    ]
    return figure.with_verdicts(list(_judge_query2(figure)), notes)


def _write_incidents(trace: Trace, folder: Path) -> None:
    moments = [str(batch.column("ts")[0]) for batch in trace.read(max(1, trace.records // 40))]
    lines = [f"{moment},{number % _STATIONS},incident {number}" for number, moment in enumerate(moments)]
    (folder / "readings.csv").write_text(",".join(READINGS.names) + "\n")  # readings are pushed, not read
    (folder / "incidents.csv").write_text("ts,station,description\n" + "\n".join(lines) + "\n")


def _write_query(number: int) -> str:
    stations = ", ".join(str((number + step) % _STATIONS) for step in (0, 3, 7))
    return _QUERY_2.format(number=number, stations=stations, threshold=40 + number)


def _measure_query2(trace: Trace, folder: Path, count: int) -> Iterator[dict[str, float | str]]:
    queries = [_write_query(number) for number in range(count)]
    together, apart = [], []
    for _ in range(_TRIALS):
        together.append(_run(trace, folder, queries))
        apart.append(sum(_run(trace, folder, [query]) for query in queries))
    for way, times in (("one Fjord", together), ("a Fjord each", apart)):
        yield {"technique": way, "queries": count, "per_query_ms": round(median(times) / count, 3)}


def _run(trace: Trace, folder: Path, queries: Sequence[str]) -> float:
    """CPU time of a run, in milliseconds, without that of reading the SQL."""
    database = Database(Catalog.in_memory(), folder)
    database.execute(SOURCE + _INCIDENTS + "".join(queries))
    settings = Settings("fjord", step_rows=1_000)
    pipeline = database.pipeline(database.plans(), settings)
    pushed = replace(pipeline, connectors=tuple(_push(each, trace) for each in pipeline.connectors))
    run = FjordRuntime(pushed, MemorySink())
    return take_cpu_ms(run.run)


def _push(connector: Connector, trace: Trace) -> Connector:
    """The trace in place of the sensor; the incidents as they are."""
    source = connector.definition
    return GivenConnector(source, [list(trace.read(AT_ONCE))]) if source.name == "readings" else connector


def _judge_query2(figure: Figure) -> Iterator[Verdict]:
    counts, times = figure.line("one Fjord", "per_query_ms")
    less = 1.0 - times[-1] / times[0]
    apart = 1.0 - times[-1] / figure.at_largest("a Fjord each", "per_query_ms")
    outcome = Outcome.HOLDS if less >= 0.07 else Outcome.DIRECTION if less > 0.0 else Outcome.FAILS
    yield Verdict(
        f"{counts[-1]:g} times Query 2: each costs less than a single one",
        "7 % less, with 50",
        f"{100 * less:.0f} % less",
        outcome,
        "what they share is read, checked and joined once" if outcome == Outcome.HOLDS else "",
    )
    yield judge_true(
        f"{counts[-1]:g} times Query 2 in one Fjord cost less than in one each",
        "not in the paper",
        f"{100 * apart:.0f} % less",
        apart > 0.0,
    )
