import pytest

from skerry.shedding.bounded_join import POLICIES
from skerry.shedding.precompile import precompile_shedding


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_policy_can_be_precompiled_twice(policy):
    precompile_shedding(policy)
    precompile_shedding(policy)
