"""What a sensor can be told to do with its samples: programs, each with the columns it delivers and what it costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from skerry.errors import OptionError

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """One way in which a sensor turns samples into readings.

    A program delivers readings of some ``columns``; a query that needs others needs another program. Its price is
    made of the processor's cycles per sample and of what goes over the radio: ``bits`` per reading, and how many
    readings there are, either one per sample (``readings_per_s`` is None) or so many per second at most, however often
    it samples. ``shared_bits`` of the bits go out whichever columns are wanted; the others belong to the columns, to
    each as many. A program that sends a reading per event says by ``counted_in`` which column of other programs counts
    such events: where that was seen, it is known how many there will be.

    >>> counts = Program("counts", ("sensor", "ts", "flow"), bits=8, readings_per_s=1.0)
    >>> counts.count_readings(sample_hz=180.0)
    1.0
    """

    name: str
    columns: tuple[str, ...]
    bits: int
    readings_per_s: float | None = None
    cycles_per_sample: int = 280
    shared_bits: int = 0
    counted_in: str | None = None

    def __post_init__(self) -> None:
        """Refuse a program that costs less than nothing."""
        if self.cycles_per_sample < 0 or not 0 <= self.shared_bits <= self.bits:
            sizes = f"{self.cycles_per_sample} cycles, {self.bits} bits, {self.shared_bits} shared"
            raise OptionError(
                f"program {self.name} has cycles and bits from 0 on, and no more shared bits; got {sizes}"
            )
        if self.readings_per_s is not None and not 0.0 <= self.readings_per_s < inf:
            raise OptionError(f"program {self.name} sends from 0 readings per second on; got {self.readings_per_s}")

    def count_readings(self, sample_hz: float) -> float:
        """How many readings go out in a second at a sample rate: never more than there are samples."""
        return sample_hz if self.readings_per_s is None else min(sample_hz, self.readings_per_s)

    def count_bits(self, columns: Iterable[str] | None = None) -> float:
        """How many bits a reading has if some columns of it are sent; None is all.

        >>> air = Program("raw", ("sensor", "ts", "ozone", "soot"), bits=64)
        >>> air.count_bits(), air.count_bits(("sensor", "ts", "soot"))
        (64.0, 48.0)
        """
        if columns is None or not self.columns:
            return float(self.bits)
        sent = len(set(self.columns) & set(columns)) / len(set(self.columns))
        return self.shared_bits + (self.bits - self.shared_bits) * sent
