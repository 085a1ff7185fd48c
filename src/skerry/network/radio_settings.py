"""What a radio is like: the time a hop takes, what is lost, how often it tries again, and faults for tests."""

from dataclasses import dataclass

from skerry.errors import InputError

__all__ = ["RadioSettings"]


@dataclass(frozen=True)
class RadioSettings:
    """How messages fare: the time a hop takes, the probability that a receiver misses one, and how often to try again.

    ``retries`` is for messages to one receiver: without an acknowledgement they are sent again up to so many times.
    With ``collisions``, a transmission is on the air for its bits at ``bits_per_second``, and two that a mote hears at
    the same time are both lost there. ``duplication`` is the probability that a receiver hears a transmission twice,
    ``reordering`` that of a transmission to be held back, so that later ones overtake it.
    """

    least_delay_us: int = 5_000
    most_delay_us: int = 20_000
    loss: float = 0.0
    retries: int = 0
    collisions: bool = False
    bits_per_second: int = 40_000
    duplication: float = 0.0
    reordering: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not 0 <= self.least_delay_us <= self.most_delay_us:
            raise InputError(f"a delay lies between {self.least_delay_us} and {self.most_delay_us} us?")
        for name in ("loss", "duplication", "reordering"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} is a probability, from 0 to 1; got {getattr(self, name)}")
        if self.retries < 0 or self.bits_per_second < 1:
            raise InputError(f"retries are 0 or more, bits 1 or more; got {self.retries}, {self.bits_per_second}")
        if self.collisions and self.is_faulty:
            raise InputError("a radio with collisions can neither duplicate nor reorder; leave out one of them")

    @property
    def is_faulty(self) -> bool:
        """Whether it does what no single link does: say a thing twice, or change the order."""
        return self.duplication > 0.0 or self.reordering > 0.0
