"""Incidents: now and then something happens, and one side of one segment is slow for a while.

    severity           ┌─────────────┐
    0  ──────┴── 2 min ┘             └── 5 min ──┴──────
           begin                                end

An incident takes hold faster than it clears.
"""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, Micros
from skerry.sources.sim.stateless_random import draw_uniform, make_keys
from skerry.sources.sim.traffic.road import SIDES, Road

__all__ = ["MOST_PER_HOUR", "Incident", "draw_incidents"]

MOST_PER_HOUR = 60
"""One incident can begin each minute, so that any minute can be drawn without the ones before it."""

_MINUTE = MICROS["MINUTE"]
_SHORTEST, _LONGEST = 10 * _MINUTE, 60 * _MINUTE
_ONSET, _CLEARANCE = 2 * _MINUTE, 5 * _MINUTE
_KINDS = ("collision", "stalled vehicle", "debris on the road", "vehicle fire")


@dataclass(frozen=True)
class Incident:
    """Something on the road. ``severity`` is the fraction of their speed that vehicles lose upstream of it."""

    begin_us: Micros
    end_us: Micros
    segment: int
    side: str
    severity: float
    description: str

    def effect(self, moments_us: Int64s) -> Float64s:
        """Say how much of its severity is felt: it takes 2 minutes to build up and 5 to clear.

        >>> jam = Incident(Micros(0), Micros(30 * 60_000_000), 3, "east", 0.6, "collision")
        >>> jam.effect(np.array([-1, 1, 10, 29, 31]) * 60_000_000).round(2).tolist()
        [0.0, 0.3, 0.6, 0.12, 0.0]
        """
        risen = (moments_us - self.begin_us) / _ONSET
        left = (self.end_us - moments_us) / _CLEARANCE
        return self.severity * np.clip(np.minimum(risen, left), 0.0, 1.0)


def draw_incidents(seed: int, per_hour: float, road: Road, first_us: Micros, stop_us: Micros) -> list[Incident]:
    """List the incidents under way at some time from ``first_us`` until ``stop_us``, by their beginning.

    >>> morning = Micros(960_184_800_000_000), Micros(960_188_400_000_000)
    >>> [(jam.segment, jam.side) for jam in draw_incidents(1, 2.0, Road(32, 4), *morning)]
    [(1, 'east'), (4, 'east')]
    """
    minutes = np.arange((first_us - _LONGEST) // _MINUTE, -(-stop_us // _MINUTE))
    drawn = make_keys(seed, "incident", minutes, np.zeros(1, np.int64))[:, 0]
    happens = draw_uniform(drawn, 0) < per_hour / MOST_PER_HOUR
    chances = np.stack([draw_uniform(drawn[happens], draw) for draw in range(1, 6)], axis=1)
    found = [
        _make_incident(road, minute, *row)
        for minute, row in zip(minutes[happens].tolist(), chances.tolist(), strict=True)
    ]
    return [incident for incident in found if incident.end_us > first_us and incident.begin_us < stop_us]


def _make_incident(
    road: Road, minute: int, moment: float, span: float, pair: float, harm: float, kind: float
) -> Incident:
    """Turn five draws from [0, 1) into an incident."""
    begin = int((minute + moment) * _MINUTE)
    segment, side = divmod(int(pair * road.pairs), 2)
    return Incident(
        begin_us=Micros(begin),
        end_us=Micros(begin + _SHORTEST + int(span * (_LONGEST - _SHORTEST))),
        segment=segment + 1,
        side=SIDES[side],
        severity=0.4 + 0.4 * harm,
        description=_KINDS[int(kind * len(_KINDS))],
    )
