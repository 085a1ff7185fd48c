"""What a sensor can be told to do with its samples: programs, each with the columns it delivers and what it costs."""

from dataclasses import dataclass

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """One way in which a sensor turns samples into readings.

    A program delivers readings of some ``columns``; a query that needs others needs another program. Its price is
    made of the processor's cycles per sample and of what goes over the radio: ``bits`` per reading, and how many
    readings there are, either one per sample (``readings_per_s`` is None) or so many per second at most, however often
    it samples.

    >>> counts = Program("counts", ("sensor", "ts", "flow"), bits=8, readings_per_s=1.0)
    >>> counts.count_readings(sample_hz=180.0)
    1.0
    """

    name: str
    columns: tuple[str, ...]
    bits: int
    readings_per_s: float | None = None
    cycles_per_sample: int = 280

    def count_readings(self, sample_hz: float) -> float:
        """How many readings go out in a second at a sample rate."""
        return sample_hz if self.readings_per_s is None else self.readings_per_s
