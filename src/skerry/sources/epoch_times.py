"""Event times that are written as numbers since 1970, in a unit."""

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Int64s
from skerry.model.options import Option, one_of
from skerry.model.time import MICROS

__all__ = ["EVENT_TIME_UNIT", "count_since_1970"]

Column: TypeAlias = "pa.Array[Any]"

EVENT_TIME_UNIT = Option(
    "event_time_unit", one_of("s", "ms", "us", "ns"), help="The unit of event times that are numbers."
)
_UNITS = {"s": MICROS["SECOND"], "ms": MICROS["MILLISECOND"], "us": 1}
_NUMBER = r"^\s*-?\d{1,19}(\.\d+)?([eE][+-]?\d+)?\s*$"


def count_since_1970(texts: Column, unit: str) -> Column:
    """Numbers since 1970 as moments. If there are other texts among them, all stay texts.

    >>> count_since_1970(pa.array(["1700000000.5", None]), "s").to_pylist()[0].isoformat()
    '2023-11-14T22:13:20.500000'
    >>> count_since_1970(pa.array(["0", "soon"]), "ms").to_pylist()
    ['1970-01-01 00:00:00.000000', 'soon']
    """
    is_number = pc.match_substring_regex(texts, _NUMBER).fill_null(False)
    numbers: Any = pc.utf8_trim_whitespace(pc.if_else(is_number, texts, pa.scalar(None, pa.string())))
    micros = np.floor_divide(_to_whole(numbers), 1_000) if unit == "ns" else _to_micros(numbers, _UNITS[unit])
    moments = pa.array(micros, pa.timestamp("us"), mask=numbers.is_null().to_numpy(zero_copy_only=False))
    if numbers.null_count == texts.null_count:
        return moments
    return pc.if_else(is_number, moments.cast(pa.string()), texts)


def _to_whole(numbers: Column) -> Int64s:
    try:
        return numbers.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return np.round(_to_floats(numbers, 2**63 - 1024)).astype(np.int64)


def _to_micros(numbers: Column, factor: int) -> Int64s:
    """Whole numbers exactly, others to the nearest microsecond."""
    most = 2**63 // factor - 1
    try:
        whole = numbers.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.clip(whole, -most, most) * factor
    except pa.ArrowInvalid:
        return np.round(_to_floats(numbers, (2**63 - 1024) // factor) * factor).astype(np.int64)


def _to_floats(numbers: Column, most: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Numbers within bounds: what lies outside is out of range as a time too."""
    found = numbers.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
    return np.clip(found, -float(most), float(most))
