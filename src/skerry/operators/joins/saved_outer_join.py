"""The saved state of an outer join, spread anew over another number of buckets.

Rows of a kept side that are not settled go by their number: it travels through the join with them, and those that
have a partner are known by it. Each bucket numbered its own, so those of all are numbered on from each other.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from skerry.operators.joins.saved_rows import (
    SavedRows,
    merge_clocks,
    pack_rows,
    read_rows,
    select_pages,
    spread_rows_of,
    spread_store,
)
from skerry.operators.operator import StatePages
from skerry.operators.spread import Spread

__all__ = ["spread_outer_join"]


def spread_outer_join(
    states: Sequence[StatePages], spread: Spread, join: str, kept: Sequence[str]
) -> Sequence[StatePages]:
    """The state by bucket. ``join`` and ``kept`` are what the names of the join's pages and of kept rows begin with.

    A row that has not ended is in all three places or, if its key joins nothing, not settled alone.
    """
    joins = [select_pages(state, join) for state in states]
    watermark, clock = merge_clocks(joins, [0] * len(spread.keys))
    found: list[dict[str, bytes]] = [_add_prefix(join, clock) for _ in range(spread.count)]
    for stream in range(len(spread.keys)):
        if stream < len(kept):
            parts = _spread_kept(states, joins, spread, stream, watermark, (join, kept[stream]))
        else:
            parts = (_add_prefix(join, pages) for pages in spread_store(joins, f"{stream}/", watermark, spread, stream))
        for pages, more in zip(found, parts, strict=True):
            pages.update(more)
    return found


def _spread_kept(
    states: Sequence[StatePages],
    joins: Sequence[StatePages],
    spread: Spread,
    stream: int,
    watermark: int,
    prefixes: tuple[str, str],
) -> Iterator[dict[str, bytes]]:
    """By bucket: the rows of a kept side in the join, those that are not settled, and which of them have a partner."""
    join, kept = prefixes
    others = [select_pages(state, kept) for state in states]
    unsettled = [read_rows(state, "0/", watermark) for state in others]
    shifts, next_row = _number_on(unsettled)
    of_join = _shift([read_rows(state, f"{stream}/", watermark) for state in joins], -1, shifts)
    matched = [rows for rows in _shift([read_rows(state, "1/", watermark) for state in others], -1, shifts) if rows]
    _, clock = merge_clocks(others, [next_row, 0])
    by_bucket = zip(
        spread_rows_of(of_join, spread, stream),
        spread_rows_of(_shift(unsettled, 0, shifts), spread, stream),
        strict=True,
    )
    for rows, waiting in by_bucket:
        yield _add_prefix(join, pack_rows(f"{stream}/", rows)) | _add_prefix(
            kept, {**_pack_unsettled(waiting, matched), **clock}
        )


def _number_on(parts: Sequence[SavedRows | None]) -> tuple[list[int], int]:
    """What to add to the numbers of each part, so that they follow on those of the part before; and the next number."""
    shifts, next_row = [], 0
    for rows in parts:
        first, last = (rows.column(0)[0].as_py(), rows.column(0)[-1].as_py()) if rows else (0, -1)
        shifts.append(next_row - first)
        next_row += last - first + 1
    return shifts, next_row


def _shift(parts: Sequence[SavedRows | None], column: int, shifts: Sequence[int]) -> list[SavedRows | None]:
    """Parts, with so much added to the numbers of rows in a column."""
    return [rows and _add(rows, column % rows.num_columns, shift) for rows, shift in zip(parts, shifts, strict=True)]


def _add(rows: SavedRows, column: int, shift: int) -> SavedRows:
    numbers = pa.array(rows.column(column).to_numpy() + shift)
    return rows.set_column(column, rows.schema.field(column), numbers)


def _pack_unsettled(waiting: SavedRows | None, matched: Sequence[SavedRows]) -> dict[str, bytes]:
    """The rows of a bucket that are not settled, under their numbers, and which of them have a partner."""
    if waiting is None:
        return {}
    numbers = waiting.column(0).to_numpy()
    chosen = [rows.filter(pa.array(np.isin(rows.column(rows.num_columns - 1).to_numpy(), numbers))) for rows in matched]
    return pack_rows("0/", waiting, numbers) | pack_rows("1/", pa.concat_batches(chosen) if chosen else None)


def _add_prefix(prefix: str, pages: StatePages) -> dict[str, bytes]:
    return {prefix + name: blob for name, blob in pages.items()}
