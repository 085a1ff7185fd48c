"""What a placement costs, in transmissions and energy: each row's way is known, so its price is too.

    up             hops to the base station          stay     nothing
    hash           hops to a mote, on average        row      the motes of its row but for the ends, and itself
    flood          one transmission per mote         column   the same along its column

Answers go from where rows meet to the base station. Where that is follows from where the streams' rows arise, on
average and not for each answer: this is the one part that is estimated, not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s
from skerry.network.message import HEADER_BYTES
from skerry.network.views.field import Field
from skerry.network.views.placement import Placement, Way
from skerry.network.views.survey import Survey
from skerry.network.views.view_mote import ADDRESS_BYTES
from skerry.sensors.power import PowerModel

__all__ = ["Cost", "estimate"]


@dataclass(frozen=True)
class Cost:
    """Transmissions, their bytes, and the energy of sending them."""

    messages: float
    bytes: float

    @property
    def energy_mj(self) -> float:
        """By what a bit costs to send."""
        return self.bytes * 8 * PowerModel().radio_uj_per_bit / 1000.0


def estimate(placement: Placement, survey: Survey, field: Field) -> Cost:
    """What the readings of a survey cost if rows meet as a placement says."""
    if placement.folds:
        return Cost(survey.fold_messages, survey.fold_bytes)
    messages, size = 0.0, 0.0
    for way, stream in zip(placement.ways, survey.streams, strict=True):
        sent = float(stream.rows @ _price(way, field))
        messages, size = messages + sent, size + sent * (HEADER_BYTES + ADDRESS_BYTES + stream.mean_bytes)
    returned = survey.answers * _find_answer_hops(placement, survey, field)
    mean_bytes = survey.answer_bytes / max(survey.answers, 1)
    return Cost(messages + returned, size + returned * (HEADER_BYTES + ADDRESS_BYTES + mean_bytes))


def _price(way: Way, field: Field) -> Float64s:
    """Transmissions per row, by the mote it arises at."""
    size = len(field.topology)
    if way is Way.UP:
        return field.depths.astype(np.float64)
    if way is Way.HASH:
        return np.array([np.mean(field.topology.distances_from(mote)) for mote in range(size)])
    if way is Way.FLOOD:
        return np.full(size, float(size))
    if way is Way.STAY:
        return np.zeros(size)
    assert field.lines is not None
    return _price_line(field.lines[0 if way is Way.ROW else 1], size)


def _price_line(lines: Sequence[Sequence[int]], size: int) -> Float64s:
    """Itself, and those between it and both ends."""
    prices = np.zeros(size)
    for line in lines:
        for position, mote in enumerate(line):
            between = max(position - 1, 0) + max(len(line) - 2 - position, 0)
            prices[mote] = 1 + between if len(line) > 1 else 0
    return prices


def _find_answer_hops(placement: Placement, survey: Survey, field: Field) -> float:
    """Hops from where rows meet to the base station, on average."""
    depths = field.depths
    ways = dict(zip(placement.ways, survey.streams, strict=True))
    if Way.HASH in ways:
        return float(depths.mean())
    if Way.STAY in ways:
        return float(ways[Way.STAY].shares @ depths)
    if Way.ROW in ways:
        assert field.lines is not None
        rows, columns = field.lines
        across = np.array([ways[Way.ROW].shares[list(line)].sum() for line in rows])
        down = np.array([ways[Way.COLUMN].shares[list(line)].sum() for line in columns])
        return float(across @ depths[np.array(rows)] @ down)
    return 0.0
