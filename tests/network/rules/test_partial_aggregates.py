from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.values import row_key
from skerry.network.message import is_plain
from skerry.network.rules.partial_aggregates import list_values, merge, read_counted, write_counted

FUNCTIONS = ("count", "count_distinct", "min", "max", "collect", "sum", "avg", "var")
WHOLE = st.integers(-(2**40), 2**40)
NUMBERS = st.one_of(WHOLE, st.floats(-1e9, 1e9))


@pytest.mark.parametrize("function", FUNCTIONS)
@given(values=st.lists(NUMBERS, min_size=1, max_size=12), seed=st.integers(0, 99))
def test_parts_of_parts_aggregate_to_what_all_values_do(function, values, seed):
    random, parts = Random(seed), [((value, 1),) for value in values]
    while len(parts) > 1:
        random.shuffle(parts)
        some = random.randint(2, len(parts))
        merged = merge(function, parts[:some])
        plain = write_counted(merged)
        assert is_plain(plain)
        assert row_key(list_values(read_counted(plain))) == row_key(list_values(merged))
        parts = [merged, *parts[some:]]
    assert aggregate_values(function, list_values(merge(function, parts))) == aggregate_values(function, values)


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if name not in ("count_distinct", "collect", "var")])
@given(values=st.lists(WHOLE, min_size=1, max_size=30))
def test_of_whole_numbers_one_or_two_are_left(function, values):
    assert len(merge(function, [((value, 1),) for value in values])) <= 2


def test_nothing_is_merged_to_nothing():
    assert [merge(function, []) for function in FUNCTIONS] == [()] * len(FUNCTIONS)
