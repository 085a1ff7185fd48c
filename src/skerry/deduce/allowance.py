"""What a program may take here and now: its limits, and the defaults for what they leave open."""

from dataclasses import dataclass

from skerry.deduce.memory import find_available_bytes
from skerry.plan.limits import UNLIMITED, Limits

__all__ = ["Allowance"]

_MEMORY_SHARE = 4
"""A program may take this part of the memory there is: tables double when they grow, and answers are still written."""
_SECONDS, _TUPLES_PER_SECOND = 30.0, 10_000
"""A tick may take so long, and a second more per so many tuples: what keeps deriving is not stuck."""
_STAGES = 1_000_000
_LIST_LENGTH = 1_000
_TERM_DEPTH = 32


@dataclass(frozen=True)
class Allowance:
    """Limits with nothing left open.

    >>> Allowance.of(Limits(tuples=10)).bytes, Allowance.of(Limits(seconds=5)).find_seconds(1_000_000)
    (inf, 5.0)
    >>> Allowance.of(Limits()).find_seconds(1_000_000)
    130.0
    """

    tuples: float
    seconds: float
    seconds_per_tuple: float
    stages: float
    list_length: float
    bytes: float
    """How much memory all relations and values may take; no more than a default, for tuples can be counted."""
    term_depth: int = _TERM_DEPTH

    @classmethod
    def of(cls, limits: Limits) -> "Allowance":
        """What limits come to in this process, by the memory that there is now."""
        return cls(
            UNLIMITED if limits.tuples is None else limits.tuples,
            _SECONDS if limits.seconds is None else limits.seconds,
            1 / _TUPLES_PER_SECOND if limits.seconds is None else 0.0,
            _STAGES if limits.stages is None else limits.stages,
            _LIST_LENGTH if limits.list_length is None else limits.list_length,
            find_available_bytes() // _MEMORY_SHARE if limits.tuples is None else UNLIMITED,
        )

    def find_seconds(self, tuples: int) -> float:
        """How long a tick may take that has derived or dropped so many tuples."""
        return self.seconds + tuples * self.seconds_per_tuple
