"""What a join does with more readings than it may hold: put some on disk, or give some up and say so."""

from dataclasses import dataclass

from skerry.errors import OptionError
from skerry.model.time import Micros
from skerry.shedding.bounded_join import POLICIES

__all__ = ["MOST_MEMORY_ROWS", "Overload", "Shedding", "Spilling"]

MOST_MEMORY_ROWS = 1_000_000
"""How many readings of a stream's window a join that sheds may hold, if it does not say."""

_TECHNIQUES = ("snjoin", "amjoin")


@dataclass(frozen=True)
class Spilling:
    """Beyond ``memory_rows`` in a bucket, readings go to disk; the answer stays complete."""

    folder: str
    memory_rows: int


@dataclass(frozen=True)
class Shedding:
    """Beyond ``memory_rows`` in a window, or ``max_lag_us`` behind, readings are given up by a policy."""

    policy: str = "adaptive"
    memory_rows: int = MOST_MEMORY_ROWS
    max_lag_us: Micros | None = None
    loss_to: str | None = None
    """The output that is told what was lost."""

    def __post_init__(self) -> None:
        """A policy is one of those there are."""
        if self.policy not in POLICIES:
            raise OptionError(f"unknown policy {self.policy!r} for shedding; there are", ", ".join(sorted(POLICIES)))

    @staticmethod
    def check(technique: str) -> None:
        """Some techniques have no way to give up a tuple in the middle of a window."""
        if technique not in _TECHNIQUES:
            raise OptionError(f"{' and '.join(_TECHNIQUES)} can shed; got join = {technique!r}")


Overload = Spilling | Shedding
