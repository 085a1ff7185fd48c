"""Section 7.1, disk support: the complete join with memory for half of the window, with a disk and without."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.snjoin.figure5_complete_join import OVERLOAD, RATE_HZ, load_of
from skerry.experiments.snjoin.harness import Joining, Tally
from skerry.experiments.snjoin.measure_sizes import Course, Makers, Tell, measure_at_sizes
from skerry.experiments.snjoin.workload import WINDOW_US, Load
from skerry.model.arrays import Int64s
from skerry.model.time import MICROS, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.shedding_join import SheddingJoin
from skerry.operators.joins.spill_store import FolderSpill
from skerry.operators.joins.spilling_join import SpillingJoin
from skerry.operators.operator import Operator
from skerry.plan.side import Side

__all__ = ["list_makers", "measure_disk_support"]

_SHARE = 0.5
"""Of the tuples of a window, those that memory has room for."""
_LIMIT = 50_000_000
_SCHEMA = pa.schema([("key", pa.int64()), ("ts", TIMESTAMP)])
_PAPER = {2: 58.0}
"""By how many percent the disk raises the output rate, by number of streams."""
_ALL_NEEDED = (
    "without a disk an answer needs a tuple of each stream that is still in memory, so what is lost grows with the "
    "streams; the gain falls only where the join with a disk has not the time, and drops its input"
)
_PANELS = (
    Panel("content_per_s", "combinations a second", logarithmic=True),
    Panel("drop_percent", "input dropped, %"),
    Panel("processing_us", "processor time a tuple, µs", logarithmic=True),
    Panel("gain_percent", "combinations, % more than without a disk"),
)


class _Operating:
    """An operator at work: what it gives are combinations, row by row."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def take(self, load: Load, chosen: Int64s) -> int:
        given = 0
        sensors, keys, times = load.sensors[chosen], load.keys[chosen], load.times[chosen]
        for stream in np.unique(sensors).tolist():
            mine = sensors == stream
            rows = pa.RecordBatch.from_arrays([keys[mine], pa.array(times[mine]).cast(TIMESTAMP)], schema=_SCHEMA)
            given += self._operator.transition(rows, stream).num_rows
        return given + self._operator.advance(Micros(int(times[-1]))).num_rows

    def tally(self, given: int) -> Tally:
        return Tally(given, given)


def measure_disk_support(course: Course, tell: Tell) -> Figure:
    """Measure the join with a disk, without one, and with memory for all, by the number of streams."""
    with TemporaryDirectory() as folder:
        makers = list_makers(Path(folder))
        slow = _choose_slowdown(makers, course, tell)
        table = measure_at_sizes(makers, "streams", slow, partial(load_of, course.seconds), tell)
    title = "Section 7.1: disk support with memory for half of a window"
    figure = Figure("disk_support", title, _add_gains(table), "streams", _PANELS, ())
    return figure.with_verdicts(_verdicts(figure), _notes(slow))


def list_makers(folder: Path) -> Makers:
    """The join with a disk, in a folder; without one; and with memory for all."""

    def make(build: Callable[[list[Side], int], Operator], size: int) -> Joining:
        sides = [Side(f"s{stream}", _SCHEMA, ("key",), "ts", WINDOW_US) for stream in range(size)]
        return _Operating(build(sides, int(_SHARE * RATE_HZ * WINDOW_US / MICROS["SECOND"])))

    numbers = iter(range(1_000_000))
    spilling = partial(make, lambda sides, rows: _build_spilling(sides, rows, folder / str(next(numbers))))
    return {
        "disk": spilling,
        "no disk": partial(make, lambda sides, rows: SheddingJoin(sides, rows, "random", _LIMIT)),
        "all in memory": partial(make, lambda sides, rows: MultiJoin(sides, limit=_LIMIT)),
    }


def _build_spilling(sides: list[Side], rows_per_side: int, folder: Path) -> Operator:
    return SpillingJoin(sides, FolderSpill(folder), rows_per_side * len(sides), limit=_LIMIT)


def _choose_slowdown(makers: Makers, course: Course, tell: Tell) -> Course:
    """The same rule as in Figure 5: at the largest size the join with a disk needs ``OVERLOAD`` times its time."""
    largest = course.sizes[-1]
    once = Course((largest,), course.seconds, replace(course.settings, slowdown=0.0))
    only = {"disk": makers["disk"]}
    table = measure_at_sizes(only, "streams", once, partial(load_of, course.seconds), tell)
    busy = table.column("processing_us")[0].as_py() * largest * RATE_HZ / MICROS["SECOND"]
    return replace(course, settings=replace(course.settings, slowdown=float(f"{OVERLOAD / busy:.2g}")))


def _add_gains(table: pa.Table) -> pa.Table:
    """By how many percent each gives more than the join without a disk, at its size."""
    rows = table.to_pylist()
    without = {row["streams"]: row["content_per_s"] for row in rows if row["technique"] == "no disk"}
    gains = [round(_find_gain(row["content_per_s"], without[row["streams"]]), 1) for row in rows]
    return table.append_column("gain_percent", pa.array(gains))


def _find_gain(more: float, less: float) -> float:
    return 100 * (more / less - 1) if less else 0.0


def _verdicts(figure: Figure) -> list[Verdict]:
    sizes, gains = figure.line("disk", "gain_percent")
    found = dict(zip(sizes, gains, strict=True))
    verdicts = [_judge_gain(size, found[size]) for size in _PAPER if size in found]
    fades = gains[-1] < gains[0]
    ours = ", ".join(f"{gain:+.0f} % at {size:g}" for size, gain in found.items())
    outcome = Outcome.HOLDS if fades else Outcome.FAILS
    return [
        *verdicts,
        Verdict("the gain fades with more streams", "less beneficial", ours, outcome, "" if fades else _ALL_NEEDED),
    ]


def _judge_gain(size: float, ours: float) -> Verdict:
    paper = _PAPER[int(size)]
    outcome = Outcome.HOLDS if ours >= paper else Outcome.DIRECTION if ours > 0 else Outcome.FAILS
    claim = f"a disk raises the output rate, {size:g} streams"
    return Verdict(claim, f"+{paper:.0f} %", f"{ours:+.0f} %", outcome)


def _notes(course: Course) -> list[str]:
    return [
        f"{course.seconds} s simulated, the load of Figure 5; memory for {_SHARE:.0%} of the tuples of a window. What "
        "does not fit goes to files, by hash partition of all streams together (disk), or tuples drawn at random are "
        "given up (no disk). The operators that views use, Arrow included; output is counted in combinations.",
        f"Slowdown {course.settings.slowdown:g}: at {course.sizes[-1]} streams the join with a disk needs {OVERLOAD:g} "
        "times the time there is, before it drops anything. Processor time is that of one thread: it has the work on "
        "files, not the wait for a disk.",
    ]
