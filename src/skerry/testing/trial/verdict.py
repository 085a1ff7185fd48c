"""What a trial has shown: what was promised and is not so, and the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Numbers", "Verdict"]


@dataclass(frozen=True)
class Numbers:
    """What a trial came to. Delays are from a reading's event time to the file that answers it, in seconds."""

    readings: int
    readings_per_s: float
    doubles: int
    answers: int
    delay_p50_s: float
    delay_p99_s: float
    deaths: int
    controls: dict[str, int]
    """Control messages by what became of them: taken, repeated, outside of a listening window, ..."""
    asleep: int
    energy_mj: float
    awake_mw: float
    """Mean power of a sensor that is used."""
    asleep_mw: float
    """Mean power of one that is not."""
    outages: tuple[tuple[str, float], ...] = ()
    """What was away, and for how many seconds until all was answered again."""

    def describe(self) -> str:
        """The numbers as text."""
        controls = ", ".join(f"{count:,} {heard}" for heard, count in sorted(self.controls.items()) if count)
        lines = [
            f"acknowledged: {self.readings:,} readings, {self.readings_per_s:,.0f} per second; "
            f"{self.doubles:,} messages came twice",
            f"answers: {self.answers:,}; delay {self.delay_p50_s:.2f} s (p50), {self.delay_p99_s:.2f} s (p99)",
            *(f"{what} was away; all was answered again after {seconds:.1f} s" for what, seconds in self.outages),
            f"sensors: {self.deaths:,} deaths; {self.asleep:,} asleep at the end; control: {controls or 'none'}",
            f"energy: {self.energy_mj:,.0f} mJ; a sensor in use {self.awake_mw:.3f} mW, one not in use "
            f"{self.asleep_mw:.3f} mW",
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Verdict:
    """What is wrong, one line each, and the numbers.

    Answers must be right on any machine. That control comes in time, and sensors sleep soon, needs one that keeps up.
    """

    numbers: Numbers
    wrong_answers: Sequence[str] = field(default_factory=tuple)
    wrong_control: Sequence[str] = field(default_factory=tuple)

    @property
    def wrong(self) -> tuple[str, ...]:
        """All that is wrong."""
        return (*self.wrong_answers, *self.wrong_control)

    def describe(self) -> str:
        """All of it as text."""
        found = [f"wrong: {line}" for line in self.wrong] or [
            "every acknowledged reading is answered exactly once; control stayed in its windows; unused sensors sleep"
        ]
        return "\n".join([self.numbers.describe(), *found])
