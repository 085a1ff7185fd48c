"""W3: a batch of 10,000 points against many boxes at once, on four attributes and on eight.

Ours (pairs of point and query, or a bitmap a point) against brute force, the IBS tree, Spatial Join CQ, DuckDB,
and rtree if it is installed; then what one change costs, what a query takes in memory, and how fast an index
travels. Pairs are counted and must agree before a time is printed. One thread, unless a line says two.

    python benchmarks/index.py --quick
    python benchmarks/index.py --json index.json
"""

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from _report import Report

from _queries import ANSWERS, POINTS, Workload, of_eight, w3
from skerry.index.box_index import BoxIndex
from skerry.index.domains import key_of_double
from skerry.index.query_index import QueryIndex
from skerry.index.region import Box, Region
from skerry.index.value_sets import ValueSet
from skerry.model.duckdb_session import open_duckdb
from skerry.rivals.query_index.brute_force import brute_force
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.ibs_trees import IntervalTrees
from skerry.rivals.query_index.spatial_join import join_batch, join_immediately

_CHANGES = 2_000
_FEW_POINTS = 500
"""So many points tell the pace of what takes seconds, when it should be quick."""

Matcher = Callable[[np.ndarray], int]
"""Takes points, axis by row, gives the number of pairs."""


def brute(work: Workload) -> Matcher:
    """Every point beside every box."""
    lows, highs, _ = work.codes
    return lambda points: brute_force(lows, highs, points)[0].size


def rivals(work: Workload) -> dict[str, Matcher]:
    """The structures of the papers, over codes."""
    lows, highs, _ = work.codes
    if lows.shape[1] > 100_000:
        return {}
    cluster = 200 if lows.shape[0] == 4 else 400
    trees, file = IntervalTrees(lows, highs), GridFile(lows, highs)
    return {
        "IBS": lambda points: trees.match(points)[0].size,
        "SJ-Immediate": lambda points: join_immediately(file, points)[0].size,
        f"SJ-Batch, clusters of {cluster}": lambda points: join_batch(file, points, cluster)[0].size,
    }


def in_two_threads(match: Matcher) -> Matcher:
    """Half of the points in each thread: kernels let go of the interpreter."""

    def matched(points: np.ndarray) -> int:
        with ThreadPoolExecutor(2) as threads:
            return sum(threads.map(match, np.array_split(points, 2, axis=1)))

    return matched


def in_duckdb(work: Workload) -> Callable[[], int]:
    """A range join of two tables."""
    names = range(work.points.shape[1])
    connection = duckdb.connect(config={"threads": 2})
    boxes = {
        f"{side}{axis}": ends[:, axis].copy()
        for side, ends in zip(("lo", "hi"), work[1:], strict=True)
        for axis in names
    }
    connection.register("boxes", pa.table({"box": np.arange(work.lows.shape[0]), **boxes}))
    connection.register("points", pa.Table.from_batches([work.batch]).append_column("point", pa.array(range(POINTS))))
    inside = " AND ".join(f"a{axis} BETWEEN lo{axis} AND hi{axis}" for axis in names)
    return lambda: connection.sql(f"SELECT point, box FROM points JOIN boxes ON {inside}").to_arrow_table().num_rows


def in_rtree(work: Workload) -> Callable[[], int]:
    """An R-tree of all boxes, loaded in bulk."""
    from rtree import index

    lows, highs = np.clip(work.lows, -1, 2), np.clip(work.highs, -1, 2)
    tree = index.Index((np.arange(len(lows)), lows, highs), properties=index.Property(dimension=lows.shape[1]))
    return lambda: int(tree.intersection_v(work.points, work.points)[1].sum())


def timed(match: Callable[[], int], repeats: int) -> tuple[float, int]:
    """The best time of several, and the pairs."""
    best, count = np.inf, 0
    for _ in range(repeats):
        started = time.perf_counter()
        count = match()
        best = min(best, time.perf_counter() - started)
    return best, count


def contest(report: Report, name: str, work: Workload, *, quick: bool) -> None:
    """All contenders over one workload."""
    _, _, points = work.codes
    index = ours(report, name, work)
    for who, match in {"brute force": brute(work), **rivals(work)}.items():
        few = quick and work.lows.shape[0] > 10_000 and not who.startswith("SJ-Batch")
        some = points[:, :_FEW_POINTS] if few else points
        match(points[:, :10])
        seconds, count = timed(lambda match=match, some=some: match(some), 3)
        _check(who, count, index.match(some).rows.size)
        report.tell(f"{name}: {who}", seconds * POINTS / some.shape[1])
    if not quick:
        others(report, name, work)


def ours(report: Report, name: str, work: Workload) -> BoxIndex:
    """The index that ships, by itself."""
    lows, highs, points = work.codes
    started = time.perf_counter()
    index = BoxIndex.of(lows, highs)
    report.tell(f"{name}: ours, arranging all", time.perf_counter() - started)
    seconds, count = timed(lambda: index.match(points).rows.size, 5)
    _check("ours", count, ANSWERS.get(name, count))
    report.tell(f"{name}: ours, pairs", seconds)
    report.tell(f"{name}: pairs", count, "pairs")
    if lows.shape[1] <= 100_000:
        seconds, _ = timed(lambda: index.marks(points).bits.shape[0], 5)
        _check("bitmaps", int(np.bitwise_count(index.marks(points).bits).sum()), count)
        report.tell(f"{name}: ours, bitmaps", seconds)
    two = in_two_threads(lambda some: index.match(some).rows.size)
    report.tell(f"{name}: ours, pairs, two threads", timed(lambda: two(points), 3)[0])
    report.tell(f"{name}: ours, memory a query and attribute", index.nbytes / lows.size, "bytes")
    return index


def others(report: Report, name: str, work: Workload) -> None:
    """Two threads, and what can be had elsewhere."""
    points = work.codes[2]
    both = in_two_threads(brute(work))
    cases: dict[str, Callable[[], int]] = {"brute force, two threads": lambda: both(points)}
    if work.lows.shape[0] <= 100_000:
        cases["DuckDB, two threads"] = in_duckdb(work)
    if importlib.util.find_spec("rtree"):
        cases["rtree"] = in_rtree(work)
    for who, match in cases.items():
        seconds, count = timed(match, 1)
        _check(who, count, int(report.found[f"{name}: pairs, pairs"]))
        report.tell(f"{name}: {who}", seconds)


def _check(who: str, count: int, expected: int) -> None:
    assert count == expected, f"{who}: {count} pairs, not {expected}"


def regions(work: Workload) -> list[Region]:
    """The boxes as regions of predicates."""

    def side(low: float, high: float) -> ValueSet:
        return ValueSet(((key_of_double(low), key_of_double(high) + 1),))

    return [
        Region((Box({f"a{axis}": side(*ends) for axis, ends in enumerate(zip(low, high, strict=True))}),))
        for low, high in zip(work.lows.tolist(), work.highs.tolist(), strict=True)
    ]


def life(report: Report, name: str, work: Workload) -> None:
    """A query index from Arrow to Arrow: adding, removing, travelling."""
    found, batch = regions(work), work.batch
    index = QueryIndex(batch.schema, open_duckdb)
    started = time.perf_counter()
    for number, region in enumerate(found):
        index.add(str(number), region)
    index.settle()
    report.tell(f"{name}: QueryIndex, adding one of all", (time.perf_counter() - started) / len(found) * 1e6, "us")
    seconds, count = timed(lambda: index.match(batch).rows.size, 3)
    _check("QueryIndex", count, ANSWERS.get(name, count))
    report.tell(f"{name}: QueryIndex, match from Arrow", seconds)
    names = [str(number) for number in np.random.default_rng(1).choice(len(found), _CHANGES, replace=False)]
    index.remove("0"), index.add("0", found[0])
    for what, change in (("remove", index.remove), ("add", lambda one: index.add(one, found[int(one)]))):
        taken = [timed(lambda one=one, change=change: change(one) or 0, 1)[0] * 1e6 for one in names]
        report.tell(f"{name}: QueryIndex, {what}, median", float(np.median(taken)), "us")
        report.tell(f"{name}: QueryIndex, {what}, 99 of 100", float(np.quantile(taken, 0.99)), "us")
    started = time.perf_counter()
    blob = index.save()
    report.tell(f"{name}: QueryIndex, saved", time.perf_counter() - started)
    started = time.perf_counter()
    again = QueryIndex.restore(blob, batch.schema, open_duckdb)
    report.tell(f"{name}: QueryIndex, restored", time.perf_counter() - started)
    _check("restored", again.match(batch).rows.size, count)


def main() -> None:
    """Print times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="rivals on few points, their times scaled; no DuckDB")
    parser.add_argument("--only", nargs="*", help="some of the cases, by name")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    warm = Workload(*(array[:2_000] for array in w3()["a 10k"]))
    for match in (brute(warm), *rivals(warm).values()):
        match(warm.codes[2])
    BoxIndex.of(*warm.codes[:2]).match(warm.codes[2])
    for name, work in (w3() | of_eight()).items():
        if not given.only or name in given.only:
            print(name, flush=True)
            contest(report, name, work, quick=given.quick)
            if "100k" in name and not (given.quick and "attributes" in name):
                life(report, name, work)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
