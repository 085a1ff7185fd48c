"""What a fleet has come to, in numbers."""

from dataclasses import dataclass, field, fields
from typing import Any

from skerry.sources.sim.motes.mote import Hearing

__all__ = ["Tally"]


@dataclass
class Tally:
    """Counts of a run. Readings are counted when the broker has acknowledged their message, those of copies apart.

    >>> Tally(readings=3).to_json()["readings"]
    3
    """

    motes: int = 0
    readings: int = 0
    messages: int = 0
    states: int = 0
    duplicates: int = 0
    reordered: int = 0
    garbled_messages: int = 0
    garbled_readings: int = 0
    lost_readings: int = 0
    """Those that could not be sent, since the connection was away."""
    unacknowledged_readings: int = 0
    connection_losses: int = 0
    deaths: int = 0
    restarts: int = 0
    batteries_empty: int = 0
    asleep: int = 0
    """How many motes sleep at the moment."""
    energy_mj: float = 0.0
    longest_lag_s: float = 0.0
    """How far the simulation was behind its clock at the worst."""
    controls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, Hearing), 0))

    def to_json(self) -> dict[str, Any]:
        """All counts by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
