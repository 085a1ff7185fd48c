"""How a sensor speaks and listens, whatever program it runs: that costs energy too."""

from dataclasses import dataclass
from math import ceil

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros

__all__ = ["STATE_BITS", "Habits"]

STATE_BITS = 24
"""A state over the radio: the last 16 bits of the control's number, which stands for the setting, and 8 of battery.

What never changes (kind, location, programs, units) is known beyond the radio, and written into each state there."""


@dataclass(frozen=True)
class Habits:
    """A sensor sends at most once per ``publish_every_us`` what it has read, and its state every ``state_every_us``.

    If it has had nothing to send for ``look_in_every_us`` it looks in: it sends its state. After each message it
    listens for ``listens_us``. A state has ``state_bits``.
    """

    publish_every_us: Micros = Micros(MICROS["SECOND"])  # noqa: RUF009
    look_in_every_us: Micros = Micros(3 * MICROS["SECOND"])  # noqa: RUF009
    state_every_us: Micros = Micros(MICROS["MINUTE"])  # noqa: RUF009
    listens_us: Micros = Micros(50 * MICROS["MILLISECOND"])  # noqa: RUF009
    state_bits: int = STATE_BITS

    def __post_init__(self) -> None:
        """Refuse spans that are none."""
        spans = (self.publish_every_us, self.look_in_every_us, self.state_every_us)
        if min(spans) <= 0 or min(self.listens_us, self.state_bits) < 0:
            raise OptionError(f"a sensor sends after some time, and listens for some; got {self}")

    @property
    def silent_turns(self) -> int:
        """After so many turns without a message it looks in.

        >>> Habits().silent_turns
        3
        """
        return ceil(self.look_in_every_us / self.publish_every_us)
