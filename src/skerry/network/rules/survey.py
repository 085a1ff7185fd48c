"""What a topology makes a message cost: how many motes are within so many hops, and how far two are apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from skerry.network.rules.routes import Routes

__all__ = ["Survey"]


@dataclass(frozen=True)
class Survey:
    """Means over all motes of a topology."""

    motes: int
    balls: tuple[float, ...]
    """By radius, how many motes are within it, the one in the middle included."""
    mean_hops: float

    @classmethod
    def of(cls, routes: Sequence[Routes]) -> "Survey":
        """Measure from the motes' routing tables.

        >>> from skerry.network.rules.routes import find_routes
        >>> from skerry.network.topology.grid import make_grid
        >>> survey = Survey.of(find_routes(make_grid(1, 3)))
        >>> survey.balls, round(survey.mean_hops, 2), survey.flood(1), survey.flood(9)
        ((1.0, 2.3333333333333335, 3.0), 1.33, 1.0, 3.0)
        """
        reached = [hops for table in routes for hops in table.hops if hops >= 0]
        counts = [0] * (max(reached, default=0) + 1)
        for hops in reached:
            counts[hops] += 1
        motes, apart = len(routes), sum(counts[1:])
        within = [sum(counts[: radius + 1]) / max(motes, 1) for radius in range(len(counts))]
        return cls(motes, tuple(within), sum(hops * count for hops, count in enumerate(counts)) / max(apart, 1))

    def ball(self, radius: int) -> float:
        """How many motes are within a radius."""
        return self.balls[min(radius, len(self.balls) - 1)]

    def hops_within(self, radius: int | None) -> float:
        """How far two motes are apart on average that are within a radius; None: all."""
        if radius is None:
            return self.mean_hops
        rings = [
            (hops, self.ball(hops) - self.ball(hops - 1)) for hops in range(1, min(radius, len(self.balls) - 1) + 1)
        ]
        return sum(hops * motes for hops, motes in rings) / max(sum(motes for _, motes in rings), 1.0)

    def flood(self, hops: int) -> float:
        """How many transmissions bring a tuple to all motes within so many hops: those of everybody nearer."""
        return self.ball(hops - 1) if hops else 0.0
