"""Run every policy on the same data, seed by seed, and count the answers that each gives."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from skerry.experiments.figure import Panel
from skerry.experiments.shedding.workload import select
from skerry.kernels.joins.snjoin import Tuples
from skerry.model.time import Micros
from skerry.shedding.bounded_join import POLICIES, BoundedJoin

__all__ = ["ANSWERS", "Case", "Tell", "count_answers", "measure"]

Tell = Callable[[str], None]
Bound = Callable[[Tuples, int, int], Mapping[str, float]]
"""What a shedder that knows the future gives, by name: for tuples, a number of streams, and a memory."""

ANSWERS = Panel("answers", "answers", low="least", high="most")
_SLICE = 10_000


@dataclass(frozen=True)
class Case:
    """One point of a figure: its data, and how much memory there is."""

    across: float
    stream_count: int
    memory: int
    """Tuples per window."""
    data: Callable[[int], Tuples]
    """By seed."""


def count_answers(policy: str, case: Case, tuples: Tuples, seed: int) -> float:
    """How many answers a policy gives; no key is exempt from it."""
    budgets = np.full(case.stream_count, case.memory)
    join = BoundedJoin(case.stream_count, budgets, policy, sample=0.0, span_us=Micros(2**62), seed=seed)
    answers = 0.0
    for begin in range(0, tuples.keys.size, _SLICE):
        part = select(tuples, slice(begin, begin + _SLICE))
        answers += join.count(part)
        join.sweep(Micros(int(part.starts[-1])))
    return answers


def measure(cases: Sequence[Case], across: str, seeds: int, bound: Bound, tell: Tell) -> pa.Table:
    """A row for each case and policy: the mean over all seeds, the least and the most; and so for the bound.

    ``of_best`` is the least share, seed by seed, of what the best of the other policies gives. Seeds run beside each
    other, for kernels let go of the interpreter.
    """
    rows = []
    for case in cases:
        tell(f"{across} {case.across:g}")
        with ThreadPoolExecutor(os.cpu_count()) as beside:
            runs = list(beside.map(partial(_run, case, bound), range(seeds)))
        for technique in runs[0]:
            spread = _summarise([run[technique] for run in runs])
            fraction = min(_fraction_of_best(run, technique) for run in runs)
            rows.append({"technique": technique, across: case.across, **spread, "of_best": fraction, "seeds": seeds})
    return pa.Table.from_pylist(rows)


def _run(case: Case, bound: Bound, seed: int) -> dict[str, float]:
    tuples = case.data(seed)
    given = {policy: count_answers(policy, case, tuples, seed) for policy in POLICIES}
    return {**given, **bound(tuples, case.stream_count, case.memory)}


def _fraction_of_best(run: Mapping[str, float], technique: str) -> float:
    best = max(run[policy] for policy in POLICIES if policy != technique)
    return round(run[technique] / best, 3) if best else 1.0


def _summarise(given: Sequence[float]) -> dict[str, float]:
    """The mean and the ends of some numbers.

    >>> _summarise([3, 1, 8])
    {'answers': 4.0, 'least': 1, 'most': 8}
    """
    return {"answers": float(np.mean(given)), "least": min(given), "most": max(given)}
