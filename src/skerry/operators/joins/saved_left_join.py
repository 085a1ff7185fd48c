"""The saved state of a left join, spread anew over another number of buckets.

Rows of the first side that are not settled go by their number: it travels through the join with them, and those that
have a partner are known by it. Each bucket numbered its own, so those of all are numbered on from each other.
"""

from collections.abc import Sequence

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

__all__ = ["spread_left_join"]


def spread_left_join(states: Sequence[StatePages], spread: Spread, join: str, rows: str) -> list[StatePages]:
    """The state by bucket. ``join`` and ``rows`` are what the names of the join's pages and of the others begin with.

    A row that has not ended is in all three places or, if its key joins nothing, not settled alone.
    """
    joins, others = ([select_pages(state, prefix) for state in states] for prefix in (join, rows))
    watermark, clock = merge_clocks(joins, [0, 0])
    unsettled = [read_rows(state, "0/", watermark) for state in others]
    shifts, next_row = _number_on(unsettled)
    firsts = _shift([read_rows(state, "0/", watermark) for state in joins], -1, shifts)
    matched = [rows for rows in _shift([read_rows(state, "1/", watermark) for state in others], -1, shifts) if rows]
    second = spread_store(joins, "1/", watermark, spread, 1)
    _, rows_clock = merge_clocks(others, [next_row, 0])
    by_bucket = zip(
        spread_rows_of(firsts, spread), second, spread_rows_of(_shift(unsettled, 0, shifts), spread), strict=True
    )
    return [
        _add_prefix(join, {**pack_rows("0/", first), **partners, **clock})
        | _add_prefix(rows, {**_pack_unsettled(waiting, matched), **rows_clock})
        for first, partners, waiting in by_bucket
    ]


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
