import numpy as np
import pytest

from skerry.experiments.shedding.workload import Workload, generated
from skerry.shedding.bounded import POLICIES, BoundedJoin

SEEDS = range(2)


def output(policy, workload, memory):
    budgets = np.full(workload.stream_count, memory, np.int64)
    joins = [BoundedJoin(workload.stream_count, budgets, policy, span_us=10**8, seed=seed) for seed in SEEDS]
    return sum(join.count(generated(workload, seed)) for join, seed in zip(joins, SEEDS, strict=True))


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
    best = max(output(policy, workload, memory) for policy in sorted(POLICIES) if policy != "adaptive")
    assert output("adaptive", workload, memory) >= 0.95 * best
