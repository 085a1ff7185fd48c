"""W1 and W2: complete joins and joins of variable arity, in process and through Spark.

In process, batch by batch: every technique, and DuckDB (and Polars, if it is installed) in a loop that
keeps the window in tables; and a thousand views that share one join, against each by itself. On Spark: Skerry
against stream-stream joins by hand, in small batches and in large ones, with the memory of all processes.
Answers are counted and must agree before a rate is printed. A rate on Spark is that of the steady state: what begins in
the first third of a run's time is left out. With ten million tuples that takes a quarter of an hour, nearly all of it
by hand.

    python benchmarks/join.py --only process
    python benchmarks/join.py --only spark --json join.json
"""

import argparse
import importlib.util
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

import _shared_joins
from _watched import watched
from _workloads import ANSWERS, WINDOW_US, complete, gathered, steps, write_parts
from skerry.build.cut import cut_view
from skerry.model.time import END_OF_TIME
from skerry.operators.gather import Gather
from skerry.operators.joins.make_technique import TECHNIQUES
from skerry.operators.joins.multi_join import MultiJoin
from skerry.plan.sharing import share
from skerry.plan.side import Side

_STEP_ROWS = 10_000
_REPEATS = 3


Steps = Sequence[tuple[list[pa.RecordBatch], int]]


def run_join(cut: Steps, technique: str) -> int:
    """The complete join, operator by itself; how many answers."""
    sides = [Side(f"s{stream}", batch.schema, ("val",), "ts", WINDOW_US) for stream, batch in enumerate(cut[0][0])]
    operator = MultiJoin(sides, technique)
    count = 0
    for batches, newest in cut:
        for stream, batch in enumerate(batches):
            operator.transition(batch, stream)
        count += operator.advance(newest).num_rows
    return count + operator.advance(END_OF_TIME).num_rows


def duckdb_loop(cut: Steps) -> int:
    """The window in DuckDB's tables, a join a step; an answer belongs to the step of its newest member."""
    connection = duckdb.connect(config={"threads": 2})
    names = [f"s{stream}" for stream in range(len(cut[0][0]))]
    for name in names:
        connection.execute(f"CREATE TABLE {name} (ts BIGINT, sensor BIGINT, val BIGINT)")
    pairs = [f"abs({one}.ts - {other}.ts) <= {WINDOW_US}" for one, other in itertools.combinations(names, 2)]
    equal = [f"{names[0]}.val = {name}.val" for name in names[1:]]
    newest = f"greatest({', '.join(f'{name}.ts' for name in names)})"
    columns = ", ".join(f"{name}.ts" for name in names)
    query = f"SELECT s0.val, {columns} FROM {', '.join(names)} WHERE {' AND '.join(equal + pairs)} AND {newest} > ?"
    count, before = 0, -1
    for batches, edge in cut:
        for name, batch in zip(names, batches, strict=True):
            connection.register("arrived", pa.Table.from_batches([batch]))
            connection.execute(f"INSERT INTO {name} SELECT epoch_us(ts), sensor, val FROM arrived")
        count += connection.sql(query, params=[before]).to_arrow_table().num_rows
        for name in names:
            connection.execute(f"DELETE FROM {name} WHERE ts < {edge - WINDOW_US}")
        before = edge
    return count


def polars_loop(cut: Steps) -> int:
    """The same with Polars' frames."""
    import polars as pl

    held: list[pl.DataFrame] = [pl.from_arrow(batch.slice(0, 0)) for batch in cut[0][0]]
    count, before = 0, -1
    for batches, edge in cut:
        for stream, batch in enumerate(batches):
            held[stream] = pl.concat([held[stream], pl.from_arrow(batch)])
        frame = held[0].lazy().select("val", t0=pl.col("ts").dt.epoch("us"))
        for stream in range(1, len(held)):
            other = held[stream].lazy().select("val", pl.col("ts").dt.epoch("us").alias(f"t{stream}"))
            near = [(pl.col(f"t{stream}") - pl.col(f"t{one}")).abs() <= WINDOW_US for one in range(stream)]
            frame = frame.join(other, on="val").filter(*near)
        newest = pl.max_horizontal(*(f"t{stream}" for stream in range(len(held))))
        count += frame.filter(newest > before).collect().height
        held = [part.filter(pl.col("ts").dt.epoch("us") >= edge - WINDOW_US) for part in held]
        before = edge
    return count


def gather(cut: Steps) -> int:
    """The join of variable arity, operator by itself; how many pairs."""
    operator = Gather(cut[0][0][0].schema, key="val", sensor="sensor", time="ts", span_us=WINDOW_US)
    pairs = 0
    for (batch,), newest in cut:
        operator.transition(batch)
        pairs += _pairs(operator.advance(newest))
    return pairs + _pairs(operator.advance(END_OF_TIME))


def _pairs(answers: pa.RecordBatch) -> int:
    return len(answers.column("members").flatten()) - answers.num_rows


def measure(work: Callable[[], int], rows: int, repeats: int = _REPEATS) -> tuple[float, int]:
    """The best rate of several, in rows a second, and the answers. Cutting the input into steps is not counted."""
    best, count = 0.0, 0
    for _ in range(repeats):
        started = time.perf_counter()
        count = work()
        best = max(best, rows / (time.perf_counter() - started))
    return best, count


def in_process() -> dict[str, float]:
    """All that runs in this process."""
    found: dict[str, float] = {}
    streams = complete()
    for m in (3, 5):
        some = streams[:m]
        cut = list(steps(some, _STEP_ROWS))
        cases: dict[str, Callable[[], int]] = {
            name: lambda name=name, cut=cut: run_join(cut, name) for name in TECHNIQUES
        }
        cases["DuckDB in a loop"] = lambda cut=cut: duckdb_loop(cut)
        if importlib.util.find_spec("polars"):
            cases["Polars in a loop"] = lambda cut=cut: polars_loop(cut)
        for name, case in cases.items():
            rate, count = measure(case, sum(stream.num_rows for stream in some))
            assert count == ANSWERS[m], f"{name}, m = {m}: {count} answers, not {ANSWERS[m]}"
            found[f"complete, m = {m}: {name}"] = rate
            print(f"  complete, m = {m}: {name}: {rate / 1e6:.2f} M tuples/s", flush=True)
    return found | variable_arity() | measure_shared()


def variable_arity() -> dict[str, float]:
    """W2, and the same rate from fewer and from more sensors."""
    found: dict[str, float] = {}
    readings = gathered()
    expected = gather(list(steps([readings], 1_000_000)))
    for rows in (10_000, 100_000, 1_000_000):
        cut = list(steps([readings], rows))
        rate, pairs = measure(lambda cut=cut: gather(cut), readings.num_rows)
        assert pairs == expected, f"GATHER in steps of {rows}: {pairs} pairs, not {expected}"
        found[f"GATHER, 2,000 sensors, steps of {rows}"] = rate
    for sensors in (200, 2_000, 20_000):
        cut = list(steps([gathered(sensors, 2_000_000 // sensors, after_complete=False)], 100_000))
        rate, _ = measure(lambda cut=cut: gather(cut), 2_000_000)
        found[f"GATHER, {sensors} sensors, same total rate"] = rate
    for name, rate in found.items():
        print(f"  {name}: {rate / 1e6:.2f} M tuples/s", flush=True)
    return found


def measure_shared(count: int = 1_000, some: int = 20) -> dict[str, float]:
    """Views over one join: how many readings a second all of them take in together, and each alone."""
    streams = complete()[:3]
    cut, views = list(steps(streams, _STEP_ROWS)), _shared_joins.plans(count)
    together, alone = list(map(cut_view, share(views))), list(map(cut_view, views[:some]))
    rows = sum(stream.num_rows for stream in streams)
    answers = _shared_joins.count_answers(together, cut)
    expected = _shared_joins.count_answers(alone, cut)
    assert {name: answers[name] for name in expected} == expected, "shared and alone differ"
    many, _ = measure(lambda: _shared_joins.count_answers(together, cut).total(), rows)
    few, _ = measure(lambda: _shared_joins.count_answers(alone, cut).total(), rows)
    name = f"{count} views, one join"
    print(f"  {name}: {many / 1e6:.2f} M tuples/s, {many / few * count / some:.0f} times each alone", flush=True)
    return {name: many, f"{name}: times each alone": many / few * count / some}


def on_spark(streams_count: int, rows: int) -> dict[str, float]:
    """Skerry and Structured Streaming by hand over the same files, each in a process of its own.

    By hand, a batch is a number of files: there is one per stream and batch.
    """
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        streams, sensors = complete(rows)[:streams_count], gathered(each=9_000)
        expected = run_join(list(steps(streams, _STEP_ROWS)), "snjoin")
        for batch_rows in (50_000, 1_000_000):
            data = Path(folder) / str(batch_rows)
            write_parts(streams, data, max(1, streams_count * rows // batch_rows))
            found |= _contest(data, "complete", batch_rows, expected)
        write_parts([sensors], Path(folder) / "gather", sensors.num_rows // 1_000_000)
        pairs = gather(list(steps([sensors], 1_000_000)))
        # By hand, a stream joined with itself, it would take hours.
        return found | _contest(Path(folder) / "gather", "gather", 1_000_000, pairs, ("skerry",))


def _contest(
    folder: Path, what: str, batch_rows: int, expected: int, contenders: Sequence[str] = ("skerry", "native")
) -> dict[str, float]:
    """All contenders; their answers must be as expected."""
    found: dict[str, float] = {}
    for who in contenders:
        contender = Path(__file__).parent / "_spark_join.py"
        printed, peak = watched([sys.executable, str(contender), who, what, str(folder), str(batch_rows)])
        result = json.loads(printed.splitlines()[-1])
        assert result["answers"] == expected, f"{who}, {what}: {result['answers']} answers, not {expected}"
        name = f"{what} on Spark, batches of {batch_rows}: {who}"
        found |= {name: result["rate"], f"{name}, bytes": peak}
        print(f"  {name}: {result['rate'] / 1e6:.3f} M tuples/s, {peak / 2**30:.2f} GiB", flush=True)
    if len(contenders) == 1:
        return found
    name = f"{what} on Spark, batches of {batch_rows}"
    ratio = found[f"{name}: skerry"] / found[f"{name}: native"]
    print(f"  {name}: {ratio:.1f} times native", flush=True)
    return found | {f"{name}: times native": ratio}


def main() -> None:
    """Print rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["process", "shared", "spark"])
    parser.add_argument("--streams", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2_000_000, help="a stream, on Spark")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: dict[str, float] = {}
    if given.only == "shared":
        found |= measure_shared()
    if given.only in (None, "process"):
        found |= in_process()
    if given.only in (None, "spark"):
        found |= on_spark(given.streams, given.rows)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
