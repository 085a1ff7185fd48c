"""Patterns by hash value are nearly those of keys, whatever the budget, for there are more values with more rows."""

import numpy as np
import pytest

from skerry.kernels.joins.snjoin import Tuples
from skerry.operators.joins.shedding_join import _count_hash_values
from skerry.shedding.bounded_join import BoundedJoin

_NOISE = 4


def make_arrivals(budget, ticks):
    """Keys that pass three streams, each 2/5 of a window after the other; later keys that come to the second alone."""
    lag, tick = 2 * budget // 5, np.arange(ticks)
    noise = -1 - np.arange(ticks * _NOISE).reshape(ticks, _NOISE)
    keys = np.column_stack([tick, tick - lag, tick - 2 * lag, noise])
    streams = np.tile([0, 1, 2] + [1] * _NOISE, (ticks, 1))
    starts = np.repeat(tick, keys.shape[1]).reshape(keys.shape)
    kept = np.where(np.arange(keys.shape[1]) >= 3, starts > budget, keys >= 0)
    columns = [streams[kept], keys[kept], starts[kept], starts[kept] + 10**9, np.arange(int(kept.sum()))]
    return Tuples(*(column.astype(np.int64) for column in columns))


def count_answers(budget, ticks, hash_values):
    join = BoundedJoin(3, np.full(3, budget), "pattern", hash_values=hash_values, sample=0.0, span_us=10**12)
    return join.count(make_arrivals(budget, ticks))


@pytest.mark.parametrize("budget", [1_000, 50_000, pytest.param(300_000, marks=pytest.mark.soak)])
def test_patterns_by_hash_value_give_nearly_as_much(budget):
    ticks = 3 * budget
    exact, hashed = (count_answers(budget, ticks, values) for values in (0, _count_hash_values(budget)))
    assert exact > ticks / 2
    assert hashed > 0.95 * exact


def test_few_hash_values_for_many_rows_would_lose_much():
    exact, hashed = (count_answers(20_000, 60_000, values) for values in (0, 2**14))
    assert hashed < 0.8 * exact


@pytest.mark.parametrize("hash_values", [0, 64])
def test_join_that_was_saved_goes_on_as_it_was(hash_values):
    arrivals = make_arrivals(100, 600)
    joins = [
        BoundedJoin(3, np.full(3, 100), "pattern", hash_values=hash_values, sample=0.0, span_us=10**12) for _ in "ab"
    ]
    half = arrivals.keys.size // 2
    first, second = (Tuples(*(column[part] for column in arrivals)) for part in (slice(half), slice(half, None)))
    joins[0].count(first)
    blob = joins[0].save()
    joins[1].restore(blob)
    assert joins[0].count(second) == joins[1].count(second) > 0
    assert joins[0].balance().shed.tolist() == joins[1].balance().shed.tolist()


def test_counts_by_hash_value_are_not_saved():
    join = BoundedJoin(2, np.full(2, 10), "pattern", hash_values=2**20, sample=0.0, span_us=100)
    assert len(join.save()) < 200_000
