import itertools

import pytest

from skerry.spark import cores


@pytest.fixture
def clock(monkeypatch):
    """Time that passes by waiting alone."""
    now = [0.0]
    monkeypatch.setattr(cores.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(cores.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    return now


def test_executors_that_come_one_after_the_other_are_all_counted(clock):
    assert cores._wait_until_settled(lambda: min(5, int(clock[0]))) == 5


def test_executors_are_not_waited_for_once_none_comes_any_more(clock):
    cores._wait_until_settled(lambda: 3)
    assert clock[0] < 2


def test_cluster_without_executors_is_waited_for_a_bounded_time(clock):
    assert cores._wait_until_settled(lambda: 0) == 0
    assert 120 <= clock[0] < 121


def test_executor_that_is_lost_meanwhile_is_still_counted(clock):
    counts = itertools.chain([1, 2, 1], itertools.repeat(2))
    assert cores._wait_until_settled(lambda: next(counts)) == 2
