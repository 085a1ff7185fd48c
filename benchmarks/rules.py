"""W4: rules. Transitive closures of a grid and of a random graph, and a tree of shortest paths; then one edge changes.

Ours against DuckDB's recursive queries, semi-naive evaluation in plain Python, and networkx if it is installed, which
all compute again when an edge changes. Tuples are counted and must agree before a time is printed.

    python benchmarks/rules.py --quick
    python benchmarks/rules.py --json rules.json
"""

import argparse
import importlib.util
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from _report import Report

from _workloads import complete
from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.lang.rules import read

Edge = tuple[int, int]
Edges = list[Edge]

CLOSURE = """
base g(x: int, y: int).
derived found(x: int, y: int).
found(x, y) :- g(x, y).
found(x, z) :- found(x, y), g(y, z).
"""
TREE = """
base g(x: int, y: int).
derived found(x: int, y: int, d: int) stage d limit d <= 1000.
found(0, 0, 0).
found(0, x, 1) :- g(0, x).
j(y, d) :- found(_, y, d).
far(y, d + 1) :- j(y, d'), (d + 1) > d', j(x, d), g(x, y).
found(x, y, d + 1) :- g(x, y), j(x, d), NOT far(y, d + 1).
"""
ANSWERS = {"closure, grid 30 x 30": 810_000, "closure, random": 983_043, "tree, grid 30 x 30": 1_741}
"""Tuples in all."""


def grid(side: int) -> Edges:
    """Neighbours, both ways."""
    found: Edges = []
    for place in range(side * side):
        if (place + 1) % side:
            found += [(place, place + 1), (place + 1, place)]
        if place + side < side * side:
            found += [(place, place + side), (place + side, place)]
    return found


def random_graph() -> Edges:
    """1,000 nodes and 5,000 edges, drawn behind W1, W2 and W3: seed 7."""
    random = np.random.default_rng(7)
    complete(random=random)
    random.exponential(1000.0, (2_000, 1_000)), random.integers(0, 100_000, 2_000_000), random.random((10_000, 4))
    for count in (10_000, 100_000):
        random.random((count, 4, 2)), random.integers(0, 3, (count, 4)), random.random((count, 4))
    random.random((100_000, 4)), random.random((1_000_000, 4))
    found: set[Edge] = set()
    while len(found) < 5_000:
        first, second = random.integers(0, 1_000, 2).tolist()
        if first != second:
            found.add((first, second))
    return sorted(found)


class Case(NamedTuple):
    """A program over a graph, and the edge that changes."""

    program: str
    edges: Edges
    edge: Edge
    is_tree: bool = False

    def changed(self) -> Edges:
        """The graph after the change: without the edge if it was there, else with it."""
        if self.edge in self.edges:
            return [edge for edge in self.edges if edge != self.edge]
        return [*self.edges, self.edge]


def cases(*, quick: bool) -> dict[str, Case]:
    """All cases, by name."""
    small, random = grid(30), random_graph()
    unreached = next(node for node in range(1_000) if node not in {end for _, end in random})
    found = {
        "closure, random": Case(CLOSURE, random, (0, unreached)),
        "closure, grid 30 x 30": Case(CLOSURE, small, (0, 1)),
        "tree, grid 30 x 30": Case(TREE, small, (97, 98), is_tree=True),
        "tree, grid 30 x 30, an edge that halves all": Case(TREE, small, (0, 464), is_tree=True),
        "tree, grid 100 x 100": Case(TREE, grid(100), (307, 308), is_tree=True),
    }
    return {name: found[name] for name in list(found)[: 4 if quick else 5]}


def engine_of(case: Case) -> Engine:
    """The program, with nothing in it."""
    return Engine(check(read(case.program)), Builtins({}))


def in_duckdb(case: Case) -> Callable[[Edges], int]:
    """A recursive query on two threads."""
    connection = duckdb.connect(config={"threads": 2})
    closure = "SELECT x, y FROM g UNION SELECT found.x, g.y FROM found JOIN g ON found.y = g.x"
    query = f"WITH RECURSIVE found(x, y) AS ({closure}) SELECT count(*) FROM found"
    if case.is_tree:
        step = "SELECT g.y, min(d.d + 1) FROM d JOIN g ON d.y = g.x LEFT JOIN recurring.d AS old ON old.y = g.y"
        distances = f"SELECT 0, 0 UNION ({step} WHERE old.d IS NULL OR old.d > d.d + 1 GROUP BY g.y)"
        query = f"""WITH RECURSIVE d(y, d) USING KEY (y) AS ({distances})
            SELECT 1 + count(*) FROM g JOIN d AS a ON a.y = g.x JOIN d AS b ON b.y = g.y WHERE b.d = a.d + 1"""

    def run(edges: Edges) -> int:
        ends = np.array(edges)
        connection.register("edges", pa.table({"x": ends[:, 0].copy(), "y": ends[:, 1].copy()}))
        connection.execute("CREATE OR REPLACE TABLE g AS SELECT * FROM edges")
        return connection.execute(query).fetchall()[0][0]

    return run


def in_python(case: Case) -> Callable[[Edges], int]:
    """Semi-naive evaluation with sets and dictionaries."""

    def closure(edges: Edges) -> int:
        after = defaultdict(list)
        for first, second in edges:
            after[first].append(second)
        found, new = set(edges), set(edges)
        while new:
            new = {(first, third) for first, second in new for third in after[second]} - found
            found |= new
        return len(found)

    def tree(edges: Edges) -> int:
        after = defaultdict(list)
        for first, second in edges:
            after[first].append(second)
        distances, new = {0: 0}, [0]
        while new:
            reached = dict.fromkeys(node for one in new for node in after[one] if node not in distances)
            distances |= {node: distances[new[0]] + 1 for node in reached}
            new = list(reached)
        unreached = len(edges) + 1
        return 1 + sum(distances.get(end, -1) == distances.get(start, unreached) + 1 for start, end in edges)

    return tree if case.is_tree else closure


def in_networkx(case: Case) -> Callable[[Edges], int]:
    """The library's own algorithm."""
    import networkx

    def run(edges: Edges) -> int:
        graph = networkx.DiGraph(edges)
        if not case.is_tree:
            return networkx.transitive_closure(graph, reflexive=False).number_of_edges()
        distances = networkx.single_source_shortest_path_length(graph, 0)
        return 1 + sum(start in distances and distances[end] == distances[start] + 1 for start, end in edges)

    return run


def timed(run: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def contest(report: Report, name: str, case: Case, *, quick: bool) -> None:
    """Ours from nothing, then the change and its opposite; the others from nothing each time."""
    repeats = 2 if quick else 5
    rivals = {"DuckDB": in_duckdb(case)}
    if not quick:
        rivals["plain Python"] = in_python(case)
        if importlib.util.find_spec("networkx"):
            rivals["networkx"] = in_networkx(case)
    counts = [_started(case).count("found"), _started(case, case.changed()).count("found")]
    assert counts[0] == ANSWERS.get(name, counts[0]), counts
    for who, run in rivals.items():
        assert [run(case.edges), run(case.changed())] == counts, who
    ours = min(timed(lambda: _started(case)) for _ in range(repeats))
    report.tell(f"{name}: tuples", counts[0], "tuples")
    report.tell(f"{name}: ours, from nothing", ours)
    for who, run in rivals.items():
        taken = min(timed(lambda run=run: run(case.edges)) for _ in range(repeats if who == "DuckDB" else 1))
        report.tell(f"{name}: {who}, from nothing", taken)
        report.tell(f"{name}: ours to {who}", ours / taken, "times as long")
    changes(report, name, case, counts, ours)


def changes(report: Report, name: str, case: Case, counts: list[int], ours: float) -> None:
    """One edge in and out again."""
    engine = _started(case)
    goes = case.edge in case.edges
    taken: dict[str, list[float]] = {"in": [], "out": []}
    for turn in range(40):
        out = goes == (turn % 2 == 0)
        given = ({}, {"g": [case.edge]}) if out else ({"g": [case.edge]}, {})
        taken["out" if out else "in"].append(timed(lambda given=given: engine.tick(None, *given)))
        assert engine.count("found") == counts[1 - turn % 2]
    for way, times in taken.items():
        report.tell(f"{name}: one edge {way}, best of 20", min(times) * 1e3, "ms")
        report.tell(f"{name}: one edge {way}, to computing again", ours / min(times), "times cheaper")


def _started(case: Case, edges: Edges | None = None) -> Engine:
    engine = engine_of(case)
    engine.tick(None, {"g": case.edges if edges is None else edges}, {})
    return engine


def main() -> None:
    """Print times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two repeats, DuckDB alone, no large grid")
    parser.add_argument("--only", nargs="*", help="some of the cases, by name")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    for name, case in cases(quick=given.quick).items():
        if not given.only or name in given.only:
            print(name, flush=True)
            contest(report, name, case, quick=given.quick)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
