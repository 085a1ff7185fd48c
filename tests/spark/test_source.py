import pytest

from skerry.model.time import Micros
from skerry.sources.source import Split
from skerry.spark.source import _balance


def split(weight, *, units=1, until=None):
    return Split("s", "lane", 0, units, until=until, weight=weight)


def weights(shares):
    return [sorted(split.weight for split in share) for share in shares]


def test_tasks_get_about_the_same_weight():
    assert weights(_balance([split(weight) for weight in (5, 1, 4, 2, 3, 3)], 2)) == [[1, 3, 5], [2, 3, 4]]


def test_of_a_unit_that_is_cut_at_its_end_half_is_counted():
    shares = _balance([split(10, until=Micros(1)), *(split(10) for _ in range(4))], 2)
    assert weights([[one for one in share if one.until is None] for share in shares]) == [[10, 10], [10, 10]]


@pytest.mark.parametrize(("splits", "tasks", "expected"), [(0, 4, 1), (2, 4, 2), (9, 4, 4)])
def test_there_is_a_task_at_least_and_none_without_work_beside_others(splits, tasks, expected):
    shares = _balance([split(1)] * splits, tasks)
    assert len(shares) == expected
    assert sum(map(len, shares)) == splits
