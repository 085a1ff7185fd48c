"""How SNJoin* runs: the window, what a head waits for, holds and can do."""

from dataclasses import dataclass

from skerry.errors import InputError
from skerry.model.time import MICROS

__all__ = ["JoinSettings"]


@dataclass(frozen=True)
class JoinSettings:
    """What all heads agree on.

    A head begins with a tuple ``settle_us`` after its time: by then all earlier tuples have reached their heads,
    so whoever is probed knows them. That must cover the longest way from a sensor to its head and twice the largest
    error of a clock. ``patience_us`` is for how long beyond the window tuples are held for probes that are slow.
    """

    window_us: int = MICROS["MINUTE"]
    settle_us: int = 100_000
    patience_us: int = MICROS["MINUTE"]
    buffer_size: int = 1_000_000
    """How many tuples of its members a head holds that it has not begun with, and how many probes that it has not
    answered; others are dropped."""
    operation_us: float = 0.0
    """How long a head takes to handle a message, to look into a table, or to list a tuple."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        least = min(self.window_us, self.settle_us, self.patience_us, self.operation_us)
        if least < 0 or self.buffer_size < 1:
            raise InputError(f"spans must not be negative, and a buffer holds 1 tuple or more; got {self}")
