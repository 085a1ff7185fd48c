"""The policies there are, by name."""

from collections.abc import Mapping

from skerry.errors import OptionError
from skerry.kernels.shedding.policies.adaptive import Adaptive
from skerry.kernels.shedding.policies.frequency import Frequency
from skerry.kernels.shedding.policies.oldest import Oldest
from skerry.kernels.shedding.policies.output import Output
from skerry.kernels.shedding.policies.pattern import Pattern
from skerry.kernels.shedding.policies.policy import Policy
from skerry.kernels.shedding.policies.random import Random
from skerry.kernels.shedding.window_arrays import Windows

__all__ = ["POLICIES", "make_policy"]

POLICIES: Mapping[str, type[Policy]] = {
    "adaptive": Adaptive,
    "pattern": Pattern,
    "frequency": Frequency,
    "output": Output,
    "random": Random,
    "oldest": Oldest,
}


def make_policy(name: str, windows: Windows, seed: int, hash_values: int) -> Policy:
    """A policy for empty windows."""
    if name not in POLICIES:
        raise OptionError(f"unknown policy of shedding {name!r}; there are", ", ".join(sorted(POLICIES)))
    return POLICIES[name].of(windows, seed, hash_values)
