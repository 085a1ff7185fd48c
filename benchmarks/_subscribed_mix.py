"""W3 mix: predicates as people write them, from a file to their first match, and the time per reading after that."""

import json
import resource
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from _mix import COLUMNS, make_predicates, make_readings
from _report import Report

from skerry.catalog import Subscription
from skerry.database import connect
from skerry.model.duckdb_session import open_duckdb
from skerry.subscriptions.file import read_subscriptions
from skerry.subscriptions.registry import Registry
from skerry.subscriptions.versions import RegistryFolder

_CHANGES = 200
_CHECKED_ROWS, _CHECKED_PREDICATES = 2_000, 400


def run_mix(mix: str, count: int, rows: int, batches: int, seed: int) -> dict[str, float]:
    """Print and give the numbers of one mix."""
    report, texts = Report(), make_predicates(mix, count, seed)
    print(f"{mix}, {count} predicates, seed {seed}, batches of {rows} readings")
    readings = [make_readings(rows, seed + 1 + number) for number in range(batches)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "subscriptions.jsonl"
        with file.open("w") as lines:
            lines.writelines(
                json.dumps({"id": f"q{number}", "stream": "road", "predicate": text}) + "\n"
                for number, text in enumerate(texts)
            )
        precompile(readings[0])
        registry = _start(file, Path(folder), readings[0].slice(0, 1), report)
    found = [registry.matches("road", batch) for batch in readings[:1]]
    started, cpu, pairs = time.perf_counter(), time.process_time(), 0
    for batch in readings:
        found = registry.matches("road", batch)
        pairs += found["subscriptions"].num_rows if "subscriptions" in found else 0
    spent, cpu = time.perf_counter() - started, time.process_time() - cpu
    report.tell("match", spent / (rows * batches) * 1e6, "us per reading")
    report.tell("match, processor time", cpu / (rows * batches) * 1e6, "us per reading")
    report.tell("matches", pairs / (rows * batches), "per reading")
    report.tell("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, "GiB")
    _change(registry, make_predicates(mix, _CHANGES, seed + 99), report)
    _check(registry, texts, readings[0].slice(0, _CHECKED_ROWS), seed)
    print(f"  all matches of {_CHECKED_PREDICATES} predicates and {_CHECKED_ROWS} readings are DuckDB's", flush=True)
    return report.found


def precompile(batch: pa.RecordBatch) -> None:
    """Let kernels be loaded before anything is measured, and DuckDB begin."""
    from skerry.index.precompile import precompile_index

    precompile_index()
    open_duckdb().sql("SELECT 1").fetchall()


def _start(file: Path, folder: Path, first: pa.RecordBatch, report: Report) -> Registry:
    """From a file to the first match, as a run goes."""
    database = connect()
    database.execute(f"CREATE SOURCE road ({COLUMNS}) WITH (connector='file', path='none-*.csv')")
    started, cpu = time.perf_counter(), time.process_time()
    database.subscribe(read_subscriptions(file))
    entered = time.perf_counter()
    registry = RegistryFolder(folder / "registry", tuple(database.catalog.sources()))
    registry.begin(database.catalog.subscriptions.all(), database.catalog.subscriptions.version)
    built = time.perf_counter()
    found = registry.at(registry.first)
    found.matches("road", first)
    ended = time.perf_counter()
    report.tell("enter", entered - started)
    report.tell("build", built - entered)
    report.tell("restore and first match", ended - built)
    report.tell("start", ended - started)
    report.tell("start, processor time", time.process_time() - cpu)
    return found


def _change(registry: Registry, texts: list[str], report: Report) -> None:
    """Single changes while all others are there."""
    from skerry.catalog import SubscriptionChange

    added = [Subscription(f"new{number}", "road", text) for number, text in enumerate(texts)]
    for removed in (False, True):
        spent = []
        for subscription in added:
            started = time.perf_counter()
            registry.change([SubscriptionChange(registry.version + 1, subscription, removed)])
            spent.append(time.perf_counter() - started)
        report.tell("remove one" if removed else "add one", float(np.median(spent)) * 1e6, "us, median")
        report.tell("remove one" if removed else "add one", float(np.quantile(spent, 0.99)) * 1e6, "us, 99 %")


def _check(registry: Registry, texts: list[str], batch: pa.RecordBatch, seed: int) -> None:
    """Ask DuckDB the same of a sample."""
    sample = np.random.default_rng(seed).choice(len(texts), min(_CHECKED_PREDICATES, len(texts)), replace=False)
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET integer_division = true")
    connection.register("batch", pa.Table.from_batches([batch]))
    expected = {
        f"q{number}": connection.sql(f"SELECT count(*) FROM batch WHERE {texts[number]}").fetchall()[0][0]
        for number in sample.tolist()
    }
    found = registry.matches("road", batch).get("subscriptions")
    names, counts = np.unique(found.column("id").to_pylist() if found else [], return_counts=True)
    ours = dict(zip(names.tolist(), counts.tolist(), strict=True))
    wrong = {name: (ours.get(name, 0), count) for name, count in expected.items() if ours.get(name, 0) != count}
    assert not wrong, f"name: (ours, DuckDB's) {dict(list(wrong.items())[:5])}"
    assert any(expected.values()), "the sample matches nothing"
