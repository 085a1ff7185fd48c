"""How unevenly a view's rows fall on buckets and on keys, which bounds how fast a run can be."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from skerry.operators.grouping import group_rows

__all__ = ["Load", "hot_keys"]

_SAMPLE = 4096
_HOT = 0.1


def hot_keys(rows: pa.RecordBatch, keys: Sequence[str]) -> dict[str, int]:
    """About how many rows have each key that has over a tenth of them, from a sample.

    >>> hot_keys(pa.record_batch({"k": ["a", "b", "a", "a"]}), ["k"])
    {'a': 3, 'b': 1}
    """
    if not keys or not rows.num_rows:
        return {}
    sample = rows.select(list(keys))
    if rows.num_rows > _SAMPLE:  # at random, since sensors often report in turns
        sample = sample.take(pa.array(np.random.default_rng(0).integers(rows.num_rows, size=_SAMPLE)))
    groups = group_rows(sample.columns, sample.num_rows)
    counts = np.bincount(groups.numbers, minlength=groups.count)
    hot = np.flatnonzero(counts > _HOT * sample.num_rows)
    named = sample.take(pa.array(groups.first[hot])).to_pylist()
    return {
        ", ".join(str(part) for part in key.values()): round(float(count) * rows.num_rows / sample.num_rows)
        for key, count in zip(named, counts[hot], strict=True)
    }


class Load:
    """What a view's buckets and hot keys have taken, in words.

    >>> Load({"0": 90, "1": 10}, {"p7": 80}).describe()
    'skewed, the fullest of 2 buckets took 90 % of 100 rows; key p7 has about 80 %'
    >>> Load({"0": 49, "1": 51}, {}).describe() is None
    True
    """

    def __init__(self, buckets: Mapping[str, int], keys: Mapping[str, int]) -> None:
        self._buckets, self._keys = buckets, keys

    def describe(self) -> str | None:
        """What is skewed, if anything is."""
        total = sum(self._buckets.values())
        if not total:
            return None
        fullest, even = max(self._buckets.values()), total / len(self._buckets)
        parts = []
        if fullest > 1.5 * even:
            parts.append(f"the fullest of {len(self._buckets)} buckets took {fullest / total:.0%} of {total} rows")
        key, rows = max(self._keys.items(), key=lambda pair: pair[1], default=("", 0))
        if rows > _HOT * total:
            parts.append(f"key {key} has about {rows / total:.0%}")
        return ("skewed, " + "; ".join(parts)).replace("%", " %") if parts else None
