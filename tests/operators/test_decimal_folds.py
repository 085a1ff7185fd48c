from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.folds.group import Groups
from skerry.operators.folds import accumulators, finish
from skerry.plan.fold import Fold

DECIMAL = pa.decimal128(38, 2)
decimals = st.none() | st.decimals(-(10**35), 10**35, places=2) | st.sampled_from([Decimal(10) ** 35, Decimal("-0.01")])
grouped = st.lists(st.tuples(st.integers(0, 2), decimals), min_size=1)


def folded(function, rows, type_=DECIMAL, parts=2):
    """The answers by group, of rows that come in parts and are merged."""
    fold = Fold(function, "x", type_, "answer")
    chunks = [chunk for chunk in (rows[part::parts] for part in range(parts)) if chunk]
    found = {}
    for each in accumulators(fold):
        partial = [each.fold(pa.array([x for _, x in chunk], type_), group(chunk)) for chunk in chunks]
        keys = [(key, None) for chunk in chunks for key in sorted({key for key, _ in chunk})]
        found[each.name] = each.merge(pa.concat_arrays(partial), group(keys))
    return dict(zip(sorted({key for key, _ in rows}), finish(fold, found).to_pylist(), strict=True))


def group(rows):
    _, first, numbers = np.unique([key for key, _ in rows], return_index=True, return_inverse=True)
    return Groups(numbers.astype(np.int64), first.astype(np.int64))


def values_of(rows):
    return {key: [x for other, x in rows if other == key and x is not None] for key in sorted({key for key, _ in rows})}


@given(grouped)
def test_sums_of_decimals_are_exact(rows):
    with localcontext(prec=100):
        expected = {key: sum(values) if values else None for key, values in values_of(rows).items()}
    assert folded("sum", rows) == expected


@given(grouped)
def test_extremes_and_averages_of_decimals(rows):
    assert folded("max", rows) == {key: max(values, default=None) for key, values in values_of(rows).items()}
    assert folded("min", rows) == {key: min(values, default=None) for key, values in values_of(rows).items()}
    assert folded("count_distinct", rows) == {key: len(set(values)) for key, values in values_of(rows).items()}


def test_average_of_decimals_is_a_double():
    assert folded("avg", [(0, Decimal("1.5")), (0, Decimal("2.5")), (1, None)]) == {0: 2.0, 1: None}


def test_sum_with_too_many_digits_is_null():
    largest = Decimal("9" * 38)
    rows = [
        (0, largest),
        (0, Decimal(1)),
        (1, largest),
        (1, Decimal(0)),
        (2, Decimal("-" + "9" * 38)),
        (2, Decimal(-1)),
    ]
    assert folded("sum", rows, pa.decimal128(38, 0)) == {0: None, 1: largest, 2: None}
