"""Readings for the benchmarks, the same on every run: seed 7, event time in microseconds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TIMESTAMP = pa.timestamp("us")
START_MS = 1_700_000_000_000
WINDOW_US = 60_000_000
COLUMNS = "ts TIMESTAMP, sensor BIGINT, val BIGINT, WATERMARK FOR ts AS ts"
STREAMS = 5
ANSWERS = {3: 52_648, 5: 8_285}
"""Of the complete join (W1) with 200,000 readings a stream."""


def complete(rows: int = 200_000, random: np.random.Generator | None = None) -> list[pa.RecordBatch]:
    """W1: five streams, each 100 readings a second, keys uniform over 20,000."""
    random = random or np.random.default_rng(7)
    found = []
    for stream in range(STREAMS):
        moments = np.floor(np.cumsum(random.exponential(10.0, rows)))
        found.append(_batch(moments, np.full(rows, stream), random.integers(0, 20_000, rows)))
    return found


def gathered(sensors: int = 2_000, each: int = 1_000, *, after_complete: bool = True) -> pa.RecordBatch:
    """W2: sensors of one reading a second, keys uniform over 100,000, in order of time."""
    random = np.random.default_rng(7)
    if after_complete:
        complete(random=random)
    gaps = random.exponential(sensors / 2.0, (sensors, each))
    moments = np.floor(np.cumsum(gaps, axis=1)).ravel()
    keys = random.integers(0, 100_000, moments.size)
    order = np.argsort(moments, kind="stable")
    return _batch(moments[order], np.repeat(np.arange(sensors), each)[order], keys[order])


def _batch(moments_ms: np.ndarray, sensors: np.ndarray, keys: np.ndarray) -> pa.RecordBatch:
    micros = (moments_ms.astype(np.int64) + START_MS) * 1_000
    columns = {
        "ts": pa.array(micros).cast(TIMESTAMP),
        "sensor": pa.array(sensors.astype(np.int64)),
        "val": pa.array(keys),
    }
    return pa.RecordBatch.from_pydict(columns)


def steps(streams: Sequence[pa.RecordBatch], rows: int) -> Iterator[tuple[list[pa.RecordBatch], int]]:
    """Streams cut together, ``rows`` readings of all at a time, in order of event time; and the newest moment."""
    times = [stream.column("ts").cast(pa.int64()).to_numpy() for stream in streams]
    edges = np.sort(np.concatenate(times))[rows - 1 :: rows]
    edges = np.append(edges[edges < max(each[-1] for each in times)], max(each[-1] for each in times))
    places = [np.concatenate([[0], np.searchsorted(each, edges, side="right")]) for each in times]
    for step, edge in enumerate(edges):
        yield (
            [s.slice(p[step], p[step + 1] - p[step]) for s, p in zip(streams, places, strict=True)],
            int(edge),
        )


def write_parts(streams: Sequence[pa.RecordBatch], folder: Path, parts: int) -> None:
    """Each stream in a folder of its own, in files that cover equal spans of event time."""
    times = [stream.column("ts").cast(pa.int64()).to_numpy() for stream in streams]
    edges = np.linspace(START_MS * 1_000, max(each[-1] for each in times) + 1, parts + 1).astype(np.int64)
    for number, (stream, moments) in enumerate(zip(streams, times, strict=True)):
        place = folder / f"s{number}"
        place.mkdir(parents=True, exist_ok=True)
        cuts = np.searchsorted(moments, edges)
        for part in range(parts):
            rows = stream.slice(cuts[part], cuts[part + 1] - cuts[part])
            pq.write_table(pa.Table.from_batches([rows]), place / f"{part:04d}.parquet")


def sources(names: Sequence[str], folder: Path) -> str:
    """SQL for streams that were written there, each in a folder of its name."""
    options = [f"WITH (connector='file', path='{folder}/{name}/*.parquet');" for name in names]
    return "\n".join(f"CREATE SOURCE {name} ({COLUMNS}) {where}" for name, where in zip(names, options, strict=True))


def complete_view(names: Sequence[str]) -> str:
    """The complete join of some streams, in SQL."""
    windows = [f"SLIDING({name}, ts, INTERVAL '60' SECOND) AS {name}" for name in names]
    joins = " ".join(
        f"JOIN {window} ON {name}.val = s0.val" for name, window in zip(names[1:], windows[1:], strict=True)
    )
    return f"SELECT s0.val, {', '.join(f'{name}.ts AS t_{name}' for name in names)} FROM {windows[0]} {joins}"
