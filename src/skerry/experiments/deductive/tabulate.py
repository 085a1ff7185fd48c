"""Runs as a table: a row per technique and point, with the mean over all seeds, the least and the most."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Any

import pyarrow as pa

from skerry.experiments.deductive.grid_runs import GridRun

__all__ = ["mean_of", "tabulate"]


def tabulate(runs: Iterable[GridRun], across: str, measures: Sequence[str]) -> pa.Table:
    """One row per technique and value of ``across``, in the order in which they come."""
    points: dict[tuple[str, Any], list[GridRun]] = defaultdict(list)
    for run in runs:
        points[run.technique, getattr(run, across)].append(run)
    rows = [
        {"technique": technique, across: value, "runs": len(some), **_sum_up(some, measures)}
        for (technique, value), some in points.items()
    ]
    return pa.Table.from_pylist(rows)


def mean_of(runs: Iterable[GridRun], measure: str, **point: Any) -> float:
    """The mean of a measure over the runs of a point: ``technique``, ``side``, ``loss``, or some of them."""
    fitting = (run for run in runs if all(getattr(run, name) == value for name, value in point.items()))
    return fmean(getattr(run, measure) for run in fitting)


def _sum_up(runs: Sequence[GridRun], measures: Sequence[str]) -> dict[str, float]:
    summed: dict[str, float] = {}
    for measure in measures:
        values = [getattr(run, measure) for run in runs]
        summed[measure] = round(fmean(values), 6)
        summed |= {f"{measure}_low": min(values), f"{measure}_median": median(values), f"{measure}_high": max(values)}
    return summed
