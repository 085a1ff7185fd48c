"""What a policy of shedding is: a NamedTuple of arrays, and methods that Numba compiles into the join.

The join is compiled once for each policy; a call of a verb here becomes a call of the policy's method of that
name. In order, for an arrival:

    classify   the class it belongs to, or would belong to if it came in
    worth      what it promises, its own answers counted too; says who is refused when time is short
    evict      a tuple of a full window that should go, or none if there is no candidate
    withdraw   a tuple is a candidate no more: it goes, or is spared for the sample's sake
    leave      a tuple of an entry has gone; if it was the last, the entry may be used for another key from now on
    admit      the arrival has been put in, and is a candidate
    credit     it, or a tuple that it was joined with, takes part in so many answers
    label      under which number the loss of a tuple is counted
    is_crowded whether there is no room for another class
"""

from typing import Protocol

from skerry.kernels._reference import method
from skerry.kernels.shedding.window_arrays import Windows

__all__ = ["Policy", "admit", "classify", "credit", "evict", "is_crowded", "label", "leave", "withdraw", "worth"]


class Policy(Protocol):
    """The part of a policy that Python sees."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Policy":
        """A policy for empty windows."""

    @property
    def label_count(self) -> int:
        """How many labels there is room for."""

    def describe_label(self, label: int) -> tuple[int, str]:
        """The stream of a label, and what it is called in a report."""

    def is_crowded(self) -> bool:
        """Whether there is no room for another class; numbers may change when room is made."""

    def grow(self, before: Windows, windows: Windows) -> "Policy":
        """The same policy with more room, because the windows have more or because it is crowded."""


classify = method("classify")
worth = method("worth")
evict = method("evict")
withdraw = method("withdraw")
leave = method("leave")
admit = method("admit")
credit = method("credit")
label = method("label")
is_crowded = method("is_crowded")
