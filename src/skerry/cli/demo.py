"""``skerry demo``: simulated traffic on Spark, with a live table."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from skerry.catalog import Catalog, Subscription
from skerry.cli.run import interruptible
from skerry.cli.summary import summarize
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.model.time import Micros, show
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sink import Sink

__all__ = ["demo"]

_SCRIPTS = {"traffic": Path(__file__).parent / "traffic" / "traffic.sql"}
_BATCHES_SHOWN = 20
_COMMUTERS = 1_000


def demo(
    name: Annotated[str, typer.Argument(help="Which demo.")] = "traffic",
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Only the terminal. There is no page yet: this changes nothing.")
    ] = False,
) -> None:
    """Show standing queries over simulated I-80 sensors, on Spark, until Ctrl-C.

    Example: skerry demo traffic --seconds 30
    """
    if name not in _SCRIPTS:
        raise InputError(f"unknown demo {name!r}; known are {', '.join(_SCRIPTS)}")
    console = Console()
    console.print(f"starting Spark for the {name} demo (the queries are in {_SCRIPTS[name].name}) ...", highlight=False)
    database = Database(Catalog.in_memory(), _SCRIPTS[name].parent)
    database.execute(_SCRIPTS[name].read_text(encoding="utf-8"))
    database.subscribe(_make_commuters(_COMMUTERS))
    board, started = _Board(), time.monotonic()

    def enough() -> bool:
        return seconds is not None and time.monotonic() - started > seconds and board.has_begun

    with interruptible() as stopped, Live(console=console, get_renderable=board.draw, refresh_per_second=4) as live:
        live.auto_refresh = console.is_terminal
        outcome = database.run(
            board,
            Settings(step_rows=200_000),
            stopped=lambda: stopped.is_set() or enough(),
            watch=board.watch,
        )
    console.print()
    typer.echo(summarize(outcome, "spark", time.monotonic() - started, None))
    typer.echo(board.describe_other_views())


def _make_commuters(count: int) -> list[Subscription]:
    """People who want to know when it is slow where they drive."""
    random = Random(1)
    found = []
    for number in range(count):
        first, limit = random.randint(1, 8), random.randint(10, 25)
        where = f"segment BETWEEN {first} AND {first + random.randint(0, 2)} AND lane = {random.randint(1, 4)}"
        found.append(Subscription(f"commuter{number}", "traffic", f"{where} AND speed < {limit}"))
    return found


class _Board(Sink):
    """Keeps what the table shows: the last answer per segment, the speed of the pipeline."""

    def __init__(self) -> None:
        self._road: dict[int, Mapping[str, object]] = {}
        self._last: dict[str, Mapping[str, object]] = {}
        self._jams: set[tuple[int, int]] = set()
        self._total = Outcome()
        self._times: deque[tuple[float, int]] = deque(maxlen=_BATCHES_SHOWN)

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Nothing to make ready."""

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Keep the newest answers."""
        for row in rows.to_pylist() if output == "my_road" else []:
            self._road[row["segment"]] = row
        for row in rows.to_pylist() if output == "jams" else []:
            (self._jams.add if row["_op"] == "+" else self._jams.discard)((row["a"], row["b"]))
        if output in ("crawling", "crawling_together", "flow", "slow_near_incidents") and rows.num_rows:
            self._last[output] = rows.slice(rows.num_rows - 1).to_pylist()[0]

    def close(self) -> None:
        """Nothing to finish."""

    def watch(self, total: Outcome) -> None:
        """Note how fast the pipeline is."""
        self._total = total
        self._times.append((time.monotonic(), sum(tally.read for tally in total.tallies.values())))

    @property
    def has_begun(self) -> bool:
        """Whether answers have come."""
        return bool(self._road)

    def draw(self) -> Group:
        """Draw the table as it is now."""
        if not self._times:
            return Group(Text("waiting for the first batch ..."))
        table = Table(title="Query 1: average speed, 30 s windows", title_justify="left")
        for heading in ("segment", "window", "mph", "vehicles", ""):
            table.add_column(heading, justify="left" if heading in ("", "window") else "right")
        for segment, row in sorted(self._road.items()):
            speed = float(row["speed"] or 0.0)  # type: ignore[arg-type]
            table.add_row(
                str(segment),
                f"{row['window_start']:%H:%M:%S}",
                f"{speed:.1f}",
                str(row["vehicles"]),
                "█" * int(speed / 3),
            )
        return Group(Text(self._describe_pace()), table, Text(self.describe_other_views()))

    def describe_other_views(self) -> str:
        """Write the newest answers of the other views, a line each."""
        lines = [self._describe_incident(), self._describe_flow(), self._describe_crawling()]
        return "\n".join([*lines, self._describe_jams(), self._describe_commuters()])

    def _describe_incident(self) -> str:
        row = self._last.get("slow_near_incidents")
        newest = f"{row['speed']:.0f} mph on segment {row['segment']}, {row['description']}" if row else "none yet"
        return f"Query 2, slow segments with an incident in the last hour: {newest}"

    def _describe_flow(self) -> str:
        row = self._last.get("flow")
        return (
            f"{row['vehicles']} vehicles in the minute to {row['window_end']:%H:%M:%S}"
            if row
            else "no minute has passed"
        )

    def _describe_crawling(self) -> str:
        row, group = self._last.get("crawling"), self._last.get("crawling_together")
        newest = f"last seen crawling: {row['sensor']} at {row['speed']:.0f} mph" if row else "nobody crawls"
        return newest + (f"; with {group['arity']} stations of segment {group['segment']} at once" if group else "")

    def _describe_jams(self) -> str:
        stretches = ", ".join(f"{first} to {last}" for first, last in sorted(self._jams))
        return f"by the rules of stretches.dl, jammed segments: {stretches or 'none in a row'}"

    def _describe_commuters(self) -> str:
        count = self._total.answers.get("subscriptions", 0)
        return f"{_COMMUTERS:,} commuters have been told {count:,} times that it is slow where they drive"

    def _describe_pace(self) -> str:
        (before, rows_before), (now, rows) = self._times[0], self._times[-1]
        rate = (rows - rows_before) / (now - before) if now > before else 0.0
        lag = now - self._times[-2][0] if len(self._times) > 1 else 0.0
        clock = show(Micros(self._total.newest.get("traffic", 0)))
        late = sum(tally.late for tally in self._total.tallies.values())
        rejected = sum(tally.rejected for tally in self._total.tallies.values())
        taken = f"{rows:,} readings, {rate:,.0f} a second, lag {lag:.1f} s"
        return f"road time {clock}  {taken}, late {late}, rejected {rejected}"
