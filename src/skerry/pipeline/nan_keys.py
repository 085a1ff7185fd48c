"""Readings whose key is not a number: they can meet nothing, so they are rejected, with the reason."""

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.batch import empty
from skerry.sources.dead_letters import make_dead_letters
from skerry.sources.file.conform import show_values
from skerry.sources.source import REJECTS

__all__ = ["split_off_nan_keys"]


def split_off_nan_keys(
    readings: pa.RecordBatch, keys: Sequence[str], location: str
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Tell readings with a NaN in one of some columns from the others, as dead letters with their location.

    >>> readings = pa.record_batch({"gas": [1.5, float("nan")], "row": [1, 2]})
    >>> kept, letters = split_off_nan_keys(readings, ["gas"], "a.csv")
    >>> kept.num_rows, letters.to_pylist()
    (1, [{'reason': 'key gas is NaN', 'reading': '{"gas": "nan", "row": "2"}', 'place': 'a.csv'}])
    """
    marks = {key: pc.is_nan(readings.column(key)).fill_null(False) for key in keys}
    wrong = [key for key in keys if pc.any(marks[key]).as_py()]
    if not wrong:
        return readings, empty(REJECTS)
    # The first column that is wrong is the reason.
    first = np.full(readings.num_rows, -1)
    for number, key in reversed(list(enumerate(wrong))):
        first[marks[key].to_numpy(zero_copy_only=False)] = number
    rows = readings.filter(pa.array(first >= 0))
    texts = [show_values(column) for column in rows.columns]
    shown = [
        json.dumps(dict(zip(rows.schema.names, values, strict=True)), ensure_ascii=False)
        for values in zip(*texts, strict=True)
    ]
    reasons = [f"key {wrong[number]} is NaN" for number in first[first >= 0]]
    return readings.filter(pa.array(first < 0)), make_dead_letters(reasons, shown, [location] * len(shown))
