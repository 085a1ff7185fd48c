"""Window aggregates over the whole input at once: every reading copied into its windows, then GROUP BY."""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from skerry.model.window import Window
from skerry.plan.fold import Fold

_CALLS = {"count_distinct": "count(DISTINCT {})"}


def window_starts(moment: int, window: Window) -> list[int]:
    """The starts of the windows that hold a moment."""
    newest = moment - moment % window.slide_us
    first = newest - (window.size_us // window.slide_us + 1) * window.slide_us
    starts = range(first, newest + 1, window.slide_us)
    return [start for start in starts if start <= moment < start + window.size_us]


def aggregate_windows(
    readings: pa.RecordBatch, window: Window, time: str, keys: Sequence[str], folds: Sequence[Fold]
) -> list[tuple[object, ...]]:
    """Rows of (window's start, keys, answers), in no order."""
    moments = readings.column(time).cast(pa.int64()).to_pylist()
    places = [(row, start) for row, moment in enumerate(moments) for start in window_starts(moment, window)]
    copies = readings.take(pa.array([row for row, _ in places], pa.int64()))
    starts = pa.array([start for _, start in places], pa.int64())
    copied = pa.Table.from_batches([copies]).append_column("_start", starts)  # noqa: F841 (DuckDB finds it by its name)
    heads = ", ".join(["_start", *(f'"{key}"' for key in keys)])
    answers = ", ".join(_call(fold) for fold in folds)
    return duckdb.sql(f"SELECT {heads}, {answers} FROM copied GROUP BY {heads}").fetchall()


def _call(fold: Fold) -> str:
    argument = f'"{fold.argument}"' if fold.argument else "*"
    return _CALLS.get(fold.function, fold.function + "({})").format(argument)
