"""What a radio is like: the time a hop takes, what is lost, how often it tries again, and faults for tests."""

from dataclasses import dataclass

from skerry.errors import InputError

__all__ = ["RadioSettings"]


@dataclass(frozen=True)
class RadioSettings:
    """How messages fare: the time a hop takes, the probability that a receiver misses one, and how often to try again.

    ``retries`` is for messages to one receiver: without an acknowledgement they are sent again up to so many times.
    """

    least_delay_us: int = 5_000
    most_delay_us: int = 20_000
    loss: float = 0.0
    retries: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not 0 <= self.least_delay_us <= self.most_delay_us:
            raise InputError(f"a delay lies between {self.least_delay_us} and {self.most_delay_us} us?")
        if not 0.0 <= self.loss <= 1.0:
            raise InputError(f"loss is a probability, from 0 to 1; got {self.loss}")
        if self.retries < 0:
            raise InputError(f"retries are 0 or more; got {self.retries}")
