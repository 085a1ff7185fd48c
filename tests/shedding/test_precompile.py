import pytest

from skerry.shedding.bounded_join import POLICIES
from skerry.shedding.precompile import warm_shedding


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_policy_can_be_warmed_twice(policy):
    warm_shedding(policy)
    warm_shedding(policy)
