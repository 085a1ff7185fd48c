"""What a placement costs, in transmissions and energy: each row's way is known, so its price is too.

    up, hash, head   hops to a mote          stay                 nothing
    flood            one per mote            heads, level, walk   the motes of a tree that pass it on

Answers go from where rows meet to the base station; where that is was counted too. Where messages are lost, all of this
is as expected: what is lost is not passed on, and what has not arrived meets nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.network.message import HEADER_BYTES
from skerry.network.views.deployment import Deployment
from skerry.network.views.fold_cost import expect_folded_share, expect_folding
from skerry.network.views.placement import Placement
from skerry.network.views.survey import StreamFigures, Survey
from skerry.network.views.view_mote import ADDRESS_BYTES
from skerry.network.views.way import TREE_WAYS, Way
from skerry.sensors.power import PowerModel

__all__ = ["Cost", "estimate"]

_ROW_BYTES = HEADER_BYTES + ADDRESS_BYTES


@dataclass(frozen=True)
class Cost:
    """Transmissions, their bytes, and the energy of sending them."""

    messages: float
    bytes: float
    arrival: float = 1.0
    """The share of answers that come, as expected; of an aggregate, of the readings that its answers are made of."""

    @property
    def energy_mj(self) -> float:
        """By what a bit costs to send."""
        return self.bytes * 8 * PowerModel().radio_uj_per_bit / 1000.0


def estimate(placement: Placement, survey: Survey, deployment: Deployment) -> Cost:
    """What the readings of a survey cost if rows meet as a placement says."""
    if placement.folds:
        messages, size = expect_folding(placement, survey.folded, deployment)
        return Cost(messages, size, expect_folded_share(placement, survey.streams[0].rows, deployment))
    messages, size = 0.0, 0.0
    for way, stream in zip(placement.ways, survey.streams, strict=True):
        sent = _count_sent(way, stream, deployment)
        messages += float(sent.sum())
        size += float(sent @ (_ROW_BYTES + stream.mean_bytes))
    returned, arrival = _expect_answers(placement, survey, deployment)
    size += returned * (_ROW_BYTES + survey.answer_bytes / max(survey.answers, 1))
    return Cost(messages + returned, size, arrival)


def _count_sent(way: Way, stream: StreamFigures, deployment: Deployment) -> Float64s:
    """Transmissions of a stream's rows, by the mote that they arise at."""
    odds, size = deployment.odds, len(deployment.topology)
    if way is Way.STAY:
        return np.zeros(size)
    if way is Way.FLOOD:
        return stream.rows * odds.flood_arrival.sum(axis=1)
    if way in TREE_WAYS:
        trees = (deployment.deliveries.find(way, int(mote)) for mote in np.flatnonzero(stream.rows))
        return _spread(size, stream.rows, {tree.root: odds.find_along(tree)[1] for tree in trees})
    sent = np.zeros(size)
    for (mote, target), count in _find_targets(way, stream, deployment).items():
        sent[mote] += count * odds.find_towards(target)[1][mote]
    return sent


def _spread(size: int, rows: Int64s, prices: dict[int, float]) -> Float64s:
    sent = np.zeros(size)
    for mote, price in prices.items():
        sent[mote] = rows[mote] * price
    return sent


def _find_targets(way: Way, stream: StreamFigures, deployment: Deployment) -> Mapping[tuple[int, int], int]:
    """How many rows go from a mote to another, where each goes to one."""
    if way is Way.HASH:
        return stream.homes
    motes = np.flatnonzero(stream.rows).tolist()
    find_head = deployment.deliveries.find_head
    return {(mote, find_head(mote) if way is Way.HEAD else deployment.base): int(stream.rows[mote]) for mote in motes}


def _expect_answers(placement: Placement, survey: Survey, deployment: Deployment) -> tuple[float, float]:
    """Transmissions of answers, and the share of them that come."""
    meetings, odds = survey.meetings, deployment.odds
    counts = meetings.counts.astype(np.float64)
    sites = _find_sites(placement, survey, deployment)
    arrival, sent = (each[sites] for each in odds.find_towards(deployment.base))
    if odds.is_lossless:
        return float(counts @ sent), 1.0
    if not meetings.sources.shape[1] or not counts.size:
        rows = _expect_rows(placement, survey, deployment)
        begun = counts * (1.0 - (1.0 - rows) ** _count_rows_per_answer(survey))
        return float(begun @ sent), rows * float(counts @ arrival / counts.sum() if counts.size else 1.0)
    likely = _expect_meetings(placement, survey, deployment, sites)
    return float(counts * likely @ sent), float(counts * likely @ arrival / counts.sum())


def _count_rows_per_answer(survey: Survey) -> float:
    return max(sum(int(stream.rows.sum()) for stream in survey.streams) / max(survey.answers, 1), 1.0)


def _expect_rows(placement: Placement, survey: Survey, deployment: Deployment) -> float:
    """How likely a row arrives where it is sent to, on average over all streams."""
    arrived = total = 0.0
    for way, stream in zip(placement.ways, survey.streams, strict=True):
        for (mote, target), count in _find_targets(way, stream, deployment).items():
            arrived, total = arrived + count * deployment.odds.find_towards(target)[0][mote], total + count
    return float(arrived / total) if total else 1.0


def _find_sites(placement: Placement, survey: Survey, deployment: Deployment) -> Int64s:
    """Where the rows of each kind of combination meet."""
    ways, meetings, deliveries = placement.ways, survey.meetings, deployment.deliveries
    if Way.UP in ways:
        return np.full(meetings.counts.size, deployment.base)
    if Way.HASH in ways:
        return meetings.homes
    if Way.STAY in ways:
        return meetings.sources[:, ways.index(Way.STAY)]
    if Way.HEAD in ways:
        heads = np.array([deliveries.find_head(mote) for mote in range(len(deployment.topology))])
        return heads[meetings.sources[:, ways.index(Way.HEAD)]]
    pairs = meetings.sources[:, [ways.index(Way.LEVEL), ways.index(Way.WALK)]].tolist()
    return np.array([deliveries.crossings.find_meeting(*pair) for pair in pairs], np.int64)


def _expect_meetings(placement: Placement, survey: Survey, deployment: Deployment, sites: Int64s) -> Float64s:
    """How likely all rows of a combination arrive where they meet."""
    found = np.ones(sites.size)
    for number, way in enumerate(placement.ways):
        ends = np.stack([survey.meetings.sources[:, number], sites], axis=1)
        pairs, index = np.unique(ends, axis=0, return_inverse=True)
        likely = np.array([_expect_arrival(way, source, site, deployment) for source, site in pairs.tolist()])
        found *= likely[index.ravel()]
    return found


def _expect_arrival(way: Way, source: int, site: int, deployment: Deployment) -> float:
    """How likely a row that arises at a mote arrives at another, to which its way leads."""
    if way is Way.FLOOD:
        return float(deployment.odds.flood_arrival[source, site])
    if way in TREE_WAYS:
        return deployment.odds.find_along(deployment.deliveries.find(way, source))[0][site]
    return float(deployment.odds.find_towards(site)[0][source])
