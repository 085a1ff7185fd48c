"""The saved pages of row stores, spread anew over another number of buckets.

Rows of one key were in one bucket and go to one bucket, in the order they had. Every store numbers its rows by itself,
so they are numbered anew.
"""

import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import pack, unpack
from skerry.operators.operator import StatePages
from skerry.operators.spread import Spread

__all__ = [
    "SavedRows",
    "merge_clocks",
    "pack_rows",
    "read_rows",
    "select_pages",
    "spread_rows_of",
    "spread_store",
    "spread_stores",
]

_CLOCK = "clock"
_HEADS = 2
"""The columns of a page before those of its rows: their numbers and ends."""

SavedRows: TypeAlias = pa.RecordBatch
"""The rows of a page: their numbers, their ends, their columns."""


def select_pages(pages: Mapping[str, bytes], prefix: str) -> dict[str, bytes]:
    """The pages whose names begin so, by the rest of the name."""
    return {name.removeprefix(prefix): blob for name, blob in pages.items() if name.startswith(prefix)}


def read_rows(state: StatePages, prefix: str, since: int) -> SavedRows | None:
    """The rows of one store that end at ``since`` or later, in order of their numbers; None if there are none."""
    pages = {name: blob for name, blob in select_pages(state, prefix).items() if name.isdecimal()}
    if not pages:
        return None
    rows = pa.concat_batches([unpack(pages[name]) for name in sorted(pages, key=int)])
    alive = rows.filter(pa.array(rows.column(1).to_numpy() >= since))
    return alive if alive.num_rows else None


def spread_rows_of(parts: Sequence[SavedRows | None], spread: Spread, stream: int = 0) -> list[SavedRows | None]:
    """The rows of one store in all states, by bucket, with the numbers they have; None where there are none."""
    found = [part for part in parts if part is not None]
    if not found:
        return [None] * spread.count
    rows = pa.concat_batches(found)
    keyed = rows.select(list(range(_HEADS, rows.num_columns)))  # a key may be called as a head is
    return [rows.take(pa.array(chosen)) if chosen.size else None for chosen in spread.choose(keyed, stream)]


def pack_rows(prefix: str, rows: SavedRows | None, numbers: Int64s | None = None) -> dict[str, bytes]:
    """Rows as the only chunk of a store, numbered from 0 if no numbers are given."""
    if rows is None or not rows.num_rows:
        return {}
    fresh = pa.array(np.arange(rows.num_rows) if numbers is None else numbers)
    return {f"{prefix}0": pack(rows.set_column(0, rows.schema.field(0), fresh))}


def merge_clocks(states: Sequence[StatePages], next_rows: Sequence[int]) -> tuple[int, dict[str, bytes]]:
    """The watermark of all states, and the clock of a bucket (``snapshot_of``)."""
    watermark = max(json.loads(state[_CLOCK])["watermark"] for state in states)
    return watermark, {_CLOCK: json.dumps({"watermark": watermark, "next_rows": list(next_rows)}).encode()}


def spread_store(
    states: Sequence[StatePages], prefix: str, since: int, spread: Spread, stream: int = 0
) -> list[dict[str, bytes]]:
    """The state of one store, by bucket."""
    parts = spread_rows_of([read_rows(state, prefix, since) for state in states], spread, stream)
    return [pack_rows(prefix, part) for part in parts]


def spread_stores(states: Sequence[StatePages], spread: Spread) -> list[StatePages]:
    """The state of several stores, one per stream, by bucket."""
    watermark, clock = merge_clocks(states, [0] * len(spread.keys))
    stores = [spread_store(states, f"{stream}/", watermark, spread, stream) for stream in range(len(spread.keys))]
    return [clock | dict(ChainMap(*parts)) for parts in zip(*stores, strict=True)]
