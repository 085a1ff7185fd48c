"""What the demo shows: the road segment by segment, and a line for each of the other queries."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from rich.console import Group
from rich.table import Table
from rich.text import Text

from skerry.model.time import Micros, show
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sink import Sink

__all__ = ["COMMUTERS", "Board"]

COMMUTERS = 1_000
_BATCHES_SHOWN = 20
_WINDOWS_SHOWN = 40
_JAMMED_MPH, _SLOW_MPH, _FREE_MPH = 25.0, 45.0, 65.0
_LEVELS = " ▁▂▃▄▅▆▇█"
_ONE_LINE = ("crawling", "crawling_together", "flow", "slow_near_incidents")
"""Views of which the newest answer is shown."""


class Board(Sink):
    """Keeps what is shown: the last speeds of each segment, the newest answers, the pace of the pipeline."""

    def __init__(self) -> None:
        self._speeds: dict[int, deque[float]] = {}
        self._road: dict[int, Mapping[str, Any]] = {}
        self._last: dict[str, Mapping[str, Any]] = {}
        self._jams: set[tuple[int, int]] = set()
        self._total = Outcome()
        self._times: deque[tuple[float, int]] = deque(maxlen=_BATCHES_SHOWN)
        self._waits_for = "Spark starts"

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Spark has started."""
        self._waits_for = "the first batch is on its way"

    def note(self, text: str) -> None:
        """Say what takes long before the first batch."""
        self._waits_for = f"Spark starts; {text}"

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Keep the newest answers."""
        if output == "means":
            for row in rows.to_pylist():
                self._speeds.setdefault(row["segment"], deque(maxlen=_WINDOWS_SHOWN)).append(row["speed"] or 0.0)
        elif output == "my_road":
            self._road |= {row["segment"]: row for row in rows.to_pylist()}
        elif output == "jams":
            for row in rows.to_pylist():
                (self._jams.add if row["_op"] == "+" else self._jams.discard)((row["a"], row["b"]))
        elif output in _ONE_LINE and rows.num_rows:
            self._last[output] = rows.slice(rows.num_rows - 1).to_pylist()[0]

    def close(self) -> None:
        """Nothing to finish."""

    def watch(self, total: Outcome) -> None:
        """Note how fast the pipeline is."""
        self._total = total
        if total.read:
            self._times.append((time.monotonic(), total.read))

    @property
    def has_begun(self) -> bool:
        """Whether answers have come."""
        return bool(self._speeds)

    def draw(self) -> Group:
        """Draw everything as it is now."""
        if not self._times:
            return Group(Text(f"{self._waits_for} ..."))
        return Group(Text(self._describe_pace(), style="bold"), self._draw_road(), *self._draw_lines())

    def _draw_road(self) -> Table:
        minutes = _WINDOWS_SHOWN // 2
        table = Table(caption="average speed, windows of 30 s; bold: where I drive (Query 1)", caption_justify="left")
        for heading in ("segment", "mph", f"the last {minutes} minutes", "vehicles"):
            table.add_column(heading, justify="left" if heading.startswith("the last") else "right")
        for segment, speeds in sorted(self._speeds.items()):
            mine = self._road.get(segment)
            colour = _choose_colour(speeds[-1])
            table.add_row(
                str(segment),
                Text(f"{speeds[-1]:.0f}", style=colour),
                Text(draw_levels(speeds), style=colour),
                str(mine["vehicles"]) if mine else "",
                style="bold" if mine else None,
            )
        return table

    def _draw_lines(self) -> list[Text]:
        lines = {
            "Query 2": self._describe_incident(),
            "flow": self._describe_flow(),
            "join": self._describe_crawling(),
            "rules": self._describe_jams(),
            "subscriptions": self._describe_commuters(),
        }
        return [Text.assemble((f"{name:>14}  ", "cyan"), text) for name, text in lines.items()]

    def _describe_incident(self) -> str:
        row = self._last.get("slow_near_incidents")
        newest = f"{row['speed']:.0f} mph on segment {row['segment']}, {row['description']}" if row else "none yet"
        return f"slow near an incident of the last hour: {newest}"

    def _describe_flow(self) -> str:
        row = self._last.get("flow")
        return f"{row['vehicles']} vehicles in the minute to {row['window_end']:%H:%M:%S}" if row else "no minute yet"

    def _describe_crawling(self) -> str:
        row, group = self._last.get("crawling"), self._last.get("crawling_together")
        newest = f"crawling: {row['sensor']} at {row['speed']:.0f} mph" if row else "nobody crawls"
        return newest + (f", with {group['arity']} stations of segment {group['segment']} at once" if group else "")

    def _describe_jams(self) -> str:
        stretches = ", ".join(f"{first} to {last}" for first, last in sorted(self._jams))
        return f"jammed segments in a row (stretches.dl): {stretches or 'none'}"

    def _describe_commuters(self) -> str:
        count = self._total.answers.get("subscriptions", 0)
        return f"{COMMUTERS:,} commuters, told {count:,} times that it is slow on their way"

    def _describe_pace(self) -> str:
        (before, rows_before), (now, rows) = self._times[0], self._times[-1]
        rate = (rows - rows_before) / (now - before) if now > before else 0.0
        newest = self._total.newest.get("traffic")
        clock = f"road time {show(Micros(newest))[11:]}: " if newest else ""
        late = sum(tally.late for tally in self._total.tallies.values())
        rejected = sum(tally.rejected for tally in self._total.tallies.values())
        return f"{clock}{rows:,} readings, {rate:,.0f} per second, late {late}, rejected {rejected}"


def _choose_colour(mph: float) -> str:
    return "red" if mph < _JAMMED_MPH else "yellow" if mph < _SLOW_MPH else "green"


def draw_levels(speeds: Sequence[float]) -> str:
    """Speeds as a row of bars, from standing to free.

    >>> draw_levels([0.0, 32.0, 65.0, 80.0])
    ' ▄██'
    """
    steps = len(_LEVELS) - 1
    return "".join(_LEVELS[min(steps, round(steps * speed / _FREE_MPH))] for speed in speeds)
