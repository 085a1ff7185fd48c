import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError, LimitError
from skerry.kernels.joins.flatten import flatten_lists
from tests.oracles.gather import Answer, Reading, flatten

lists = st.lists(st.lists(st.integers(1, 4), max_size=7), max_size=4)
"""Sensors of the members that follow the first; the first is of sensor 0."""


def flatten_all(lists, limit=10**6):
    members = [[0, *others] for others in lists]
    offsets = np.cumsum([0, *map(len, members)])
    return flatten_lists(
        offsets, np.array([sensor for each in members for sensor in each], np.int64), 5, limit
    ), offsets


def expect(others):
    """Places in the list, as the oracle chooses them."""
    answer = Answer(Reading(0, 0, 0), 0, tuple((sensor, index) for index, sensor in enumerate([0, *others])))
    return [[index for _, index in each.members] for each in flatten(answer)]


@given(lists)
def test_combinations_agree_with_a_product(lists):
    found, offsets = flatten_all(lists)
    for index, others in enumerate(lists):
        rows = np.flatnonzero(found.lists == index)
        chosen = [
            (found.members[found.offsets[row] : found.offsets[row + 1]] - offsets[index]).tolist() for row in rows
        ]
        assert sorted(chosen) == sorted(expect(others))


@given(lists)
def test_lists_keep_their_order(lists):
    numbers = flatten_all(lists)[0].lists.tolist()
    assert numbers == sorted(numbers)


def test_as_many_combinations_as_allowed_are_given():
    found, _ = flatten_all([[1, 1, 2, 2], [1, 1]], limit=6)
    assert found.lists.tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("lists", [[[1, 1, 2, 2], [1, 1]], [[]] * 6, [[1, 1, 2, 2], [], []]])
def test_one_combination_too_many_is_refused(lists):
    with pytest.raises(LimitError, match="more than 5 rows at once"):
        flatten_all(lists, limit=5)


def test_more_combinations_than_numbers_can_count_are_refused():
    sensors = np.concatenate([[0], np.repeat(np.arange(1, 101), 10)])
    with pytest.raises(LimitError, match="more than 9223372036854775807 rows"):
        flatten_lists(np.array([0, 1001]), sensors, 101, limit=2**63 - 1)


def test_more_members_than_a_list_column_can_count_are_refused():
    sensors = np.concatenate([np.arange(1000), np.arange(1, 23)])
    with pytest.raises(LimitError, match="more than 2147483647 members"):
        flatten_lists(np.array([0, sensors.size]), sensors, 1000, limit=2**62)


@pytest.mark.parametrize(("offsets", "sensors"), [([0, 2], [0]), ([0, 1], [5]), ([0, 1], [-1])])
def test_lists_that_do_not_fit_their_members_are_refused(offsets, sensors):
    with pytest.raises(KernelError, match="members of 5 sensors"):
        flatten_lists(np.array(offsets), np.array(sensors), 5, 1)
