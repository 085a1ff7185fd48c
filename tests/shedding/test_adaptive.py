import numpy as np
import pytest

from skerry.experiments.shedding.workload import Workload, generate
from skerry.kernels.joins.snjoin import Tuples
from skerry.shedding.bounded_join import POLICIES, BoundedJoin

SEEDS = range(2)
RIVALS = sorted(set(POLICIES) - {"adaptive"})


def output(policy, make, stream_count, memory):
    budgets = np.full(stream_count, memory, np.int64)
    joins = [BoundedJoin(stream_count, budgets, policy, span_us=10**8, seed=seed) for seed in SEEDS]
    return sum(join.count(make(seed)) for join, seed in zip(joins, SEEDS, strict=True))


@pytest.mark.parametrize(
    ("workload", "memory"),
    [
        (Workload(tuple_count=6000), 100),
        (Workload(tuple_count=6000), 500),
        (Workload(tuple_count=6000, alpha=1.0), 300),
        (Workload(tuple_count=6000, stream_count=3), 300),
        (Workload(tuple_count=6000, rate_hz=25.0), 500),
        (Workload(tuple_count=6000, drifts=True), 300),
        (Workload(tuple_count=6000, order_count=325), 300),
        (Workload(tuple_count=4000, stream_count=4, variance=15.0), 400),
        (Workload(tuple_count=4000, stream_count=4, variance=35.0), 400),
    ],
    ids=str,
)
def test_adaptive_is_nearly_as_good_as_the_best_of_the_others(workload, memory):
    def make(seed):
        return generate(workload, seed)

    best = max(output(policy, make, workload.stream_count, memory) for policy in RIVALS)
    assert output("adaptive", make, workload.stream_count, memory) >= 0.95 * best


@pytest.mark.parametrize("memory", [30, 60, 150])
def test_it_is_where_a_few_keys_come_back_for_a_while_and_many_do_not(memory):
    best = max(output(policy, visits, 4, memory) for policy in RIVALS)
    assert output("adaptive", visits, 4, memory) >= 0.95 * best


def visits(seed, hosts=1500, span_us=10**6):
    """Requests for four pages: each host comes once, and asks for a while; most once or twice, some sixty times."""
    random = np.random.default_rng(seed)
    keys = np.repeat(np.arange(hosts), requests := np.minimum(random.zipf(1.6, hosts), 60))
    moments = np.repeat(random.random(hosts) * 20, requests) + random.exponential(0.3, keys.size)
    order = np.argsort(moments, kind="stable")
    starts = (moments[order] * span_us).astype(np.int64)
    return Tuples(random.integers(0, 4, keys.size), keys[order], starts, starts + span_us, np.arange(keys.size))


def test_key_that_waits_for_its_first_answer_is_kept_before_keys_that_come_once():
    once, again = [(row % 2, 1000 + row) for row in range(360)], [(0, 7)] * 4
    streams, keys = np.array([*once[:300], *again, *once[300:], (1, 7)]).T
    moments = np.arange(keys.size)
    join = BoundedJoin(2, np.array([10, 10]), "adaptive", sample=0.0, span_us=10**6)
    assert join.count(Tuples(streams, keys, moments, moments + 100, moments)) == 4.0
