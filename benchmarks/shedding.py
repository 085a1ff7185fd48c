"""What shedding costs: the join within a budget against the same join without one, and how that grows.

W1 in steps of 10,000: kernels alone, operators, and views over Parquet files in this process. Then each policy with
more memory, and with more keys, at the same number of tuples, beside the join without a budget, which reaches as far
into memory. All times are those of this process, in turns, the best of several.

    python benchmarks/shedding.py
    python benchmarks/shedding.py --only growth --json shedding.json
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from overload import Counting

from _workloads import WINDOW_US, complete, complete_view, sources, steps, write_parts
from skerry.database import Settings, connect
from skerry.kernels.joins.snjoin import OccurrenceTable, Tuples
from skerry.model.time import END_OF_TIME
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.shedding_join import SheddingJoin
from skerry.plan.side import Side
from skerry.shedding.bounded_join import POLICIES, BoundedJoin

_STEP_ROWS = 10_000
_REPEATS = 5
_STREAMS = 5
_GROWTH_ROWS = 1_000_000
_BUDGETS = (100, 1_000, 10_000, 100_000, 1_000_000)
_KEYS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)

Cut = Sequence[Tuples]
Steps = Sequence[tuple[list[pa.RecordBatch], int]]


def tuples_of(streams: Sequence[pa.RecordBatch]) -> Tuples:
    """The readings of all streams in order of time."""
    starts = np.concatenate([stream.column("ts").cast(pa.int64()).to_numpy() for stream in streams])
    keys = np.concatenate([stream.column("val").to_numpy() for stream in streams])
    owners = np.repeat(np.arange(len(streams)), [stream.num_rows for stream in streams])
    order = np.argsort(starts, kind="stable")
    return Tuples(owners[order], keys[order], starts[order], starts[order] + WINDOW_US, np.arange(order.size))


def uniform(key_count: int, live: int, rows: int) -> Tuples:
    """Tuples of uniform keys, so many of a stream live at once."""
    random = np.random.default_rng(7)
    streams, keys = random.integers(0, _STREAMS, rows), random.integers(0, key_count, rows)
    starts = np.arange(rows) * WINDOW_US // (live * _STREAMS)
    return Tuples(streams, keys, starts, starts + WINDOW_US, np.arange(rows))


def cut(tuples: Tuples) -> Cut:
    """Cut into steps."""
    firsts = range(0, tuples.keys.size, _STEP_ROWS)
    return [Tuples(*(column[first : first + _STEP_ROWS] for column in tuples)) for first in firsts]


def run_unbounded(found: Cut, stream_count: int) -> None:
    """The kernel of SNJoin."""
    table = OccurrenceTable(stream_count, np.zeros(stream_count, np.int64))
    for step in found:
        table.join(step, 10**7)
        table.sweep(step.starts[-1])


def run_bounded(found: Cut, stream_count: int, budget: int, policy: str) -> BoundedJoin:
    """The kernel within a budget."""
    table = BoundedJoin(stream_count, np.full(stream_count, budget), policy, span_us=WINDOW_US)
    for step in found:
        table.join(step, 10**7)
        table.sweep(step.starts[-1])
    return table


def operator(found: Steps, make: Callable[[list[Side]], MultiJoin]) -> None:
    """The operator by itself."""
    sides = [Side(f"s{stream}", batch.schema, ("val",), "ts", WINDOW_US) for stream, batch in enumerate(found[0][0])]
    join = make(sides)
    for batches, newest in found:
        for stream, batch in enumerate(batches):
            join.transition(batch, stream)
        join.advance(newest)
    join.advance(END_OF_TIME)


def view(folder: Path, stream_count: int, options: str) -> None:
    """A view, from files to answers."""
    database, names = connect(), [f"s{stream}" for stream in range(stream_count)]
    database.execute(f"{sources(names, folder)} CREATE MATERIALIZED VIEW answer {options} AS {complete_view(names)}")
    database.run(Counting(), Settings("fjord", step_rows=_STEP_ROWS))


def in_turns(cases: Mapping[str, Callable[[], object]], rows: int, repeats: int = _REPEATS) -> dict[str, float]:
    """The best of several times, in nanoseconds of this process a tuple."""
    best = dict.fromkeys(cases, float("inf"))
    for case in cases.values():
        case()
    for _ in range(repeats):
        for name, case in cases.items():
            started = time.process_time()
            case()
            best[name] = min(best[name], (time.process_time() - started) / rows * 1e9)
    return best


def against_unbounded() -> dict[str, float]:
    """Rates within a budget as a share of the rate without one."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_parts(complete(), Path(folder), 1)
        for m in (3, 5):
            streams = complete()[:m]
            kernels, operators = cut(tuples_of(streams)), list(steps(streams, _STEP_ROWS))
            for budget in (3_000, 1_000_000):
                levels = {
                    "kernel": (partial(run_unbounded, kernels, m), partial(run_bounded, kernels, m, budget)),
                    "operator": (
                        partial(operator, operators, MultiJoin),
                        partial(_bounded_operator, operators, budget),
                    ),
                    "view": (partial(view, Path(folder), m, ""), partial(_bounded_view, Path(folder), m, budget)),
                }
                for level, (without, within) in levels.items():
                    cases = {"without": without, **{policy: partial(within, policy) for policy in POLICIES}}
                    times = in_turns(cases, sum(stream.num_rows for stream in streams))
                    for policy in POLICIES:
                        name = f"m = {m}, budget {budget}, {level}: {policy}"
                        found[name] = times["without"] / times[policy]
                        print(f"  {name}: {found[name]:.2f} of the rate without ({times[policy]:.0f} ns)", flush=True)
    return found


def _bounded_operator(found: Steps, budget: int, policy: str) -> None:
    operator(found, partial(SheddingJoin, memory_rows=budget, policy=policy))


def _bounded_view(folder: Path, stream_count: int, budget: int, policy: str) -> None:
    view(folder, stream_count, f"WITH (on_overload='shed', shed_policy='{policy}', memory_rows='{budget}')")


def growth(large: bool) -> dict[str, float]:
    """The cost of a tuple with more memory, and with more keys; half of what would be live is shed."""
    found: dict[str, float] = {}
    budgets = {f"budget {budget}": (20 * budget, budget) for budget in _BUDGETS if large or budget < max(_BUDGETS)}
    for what, (keys, budget) in (budgets | {f"{keys} keys": (keys, 1_000) for keys in _KEYS}).items():
        given = cut(uniform(keys, 2 * budget, max(_GROWTH_ROWS, 15 * budget)))
        cases: dict[str, Callable[[], object]] = {"without a budget": partial(run_unbounded, given, _STREAMS)}
        cases |= {policy: partial(run_bounded, given, _STREAMS, budget, policy) for policy in POLICIES}
        for policy, nanoseconds in in_turns(cases, sum(step.keys.size for step in given), repeats=2).items():
            found[f"{policy}, {what}"] = nanoseconds
            print(f"  {policy}, {what}: {nanoseconds:.0f} ns a tuple", flush=True)
    return found


def main() -> None:
    """Print ratios and costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["ratio", "growth"])
    parser.add_argument("--large", action="store_true", help="a budget of a million too, which takes 4 GB")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: dict[str, float] = {}
    if given.only != "growth":
        found |= against_unbounded()
    if given.only != "ratio":
        found |= growth(given.large)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
