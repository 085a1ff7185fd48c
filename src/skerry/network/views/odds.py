"""What becomes of messages on their way, as expected: how likely they arrive, and how many transmissions they take.

A message to one mote is repeated up to ``retries`` times until it is acknowledged. One that goes along a tree is heard
by all children at once, or if there are retries is sent to each. A flood is heard by whoever hears it, and never
acknowledged: how far it comes is found by draws.
"""

from functools import cached_property

import numpy as np

from skerry.model.arrays import Float64s
from skerry.network.radio_settings import RadioSettings
from skerry.network.routing.delivery_tree import DeliveryTree
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.topology.topology import Topology

__all__ = ["Odds"]

_DRAWS = 60
_SQUARE = 400
"""Beyond so many motes, fewer draws are made: each costs some products of matrices of that size."""


class Odds:
    """Probabilities and expected transmissions in a topology with a radio.

    >>> from skerry.network.topology.grid import make_grid
    >>> odds = Odds(make_grid(1, 3), RadioSettings(loss=0.5, retries=1))
    >>> odds.attempt(0, 1), odds.find_towards(2)[0].tolist()
    ((0.75, 1.5), [0.5625, 0.75, 1.0])
    """

    def __init__(self, topology: Topology, radio: RadioSettings) -> None:
        self._topology, self._radio = topology, radio
        self._routes = ShortestPaths(topology)
        self._towards: dict[int, tuple[Float64s, Float64s]] = {}

    @cached_property
    def is_lossless(self) -> bool:
        """Whether all arrives."""
        return not self._radio.loss and not any(self._topology.losses.values())

    def find_loss(self, sender: int, receiver: int) -> float:
        """The probability that a transmission is not heard."""
        return self._topology.losses.get((sender, receiver), self._radio.loss)

    def attempt(self, sender: int, receiver: int) -> tuple[float, float]:
        """Of a message to one neighbour: the probability that it arrives, and the transmissions."""
        loss, most = self.find_loss(sender, receiver), self._radio.retries + 1
        return 1.0 - loss**most, float(most) if loss >= 1.0 else (1.0 - loss**most) / (1.0 - loss)

    def find_towards(self, target: int) -> tuple[Float64s, Float64s]:
        """For messages of each mote to one mote: the probability that they arrive, and their transmissions."""
        if target not in self._towards:
            self._towards[target] = self._follow(target)
        return self._towards[target]

    def find_between(self, source: int, target: int) -> tuple[float, float]:
        """For a message of one mote to another: the probability that it arrives, and its transmissions."""
        if target in self._topology.neighbours[source]:
            return self.attempt(source, target)
        arrival, sent = self.find_towards(target)
        return float(arrival[source]), float(sent[source])

    def _follow(self, target: int) -> tuple[Float64s, Float64s]:
        size = len(self._topology)
        arrival, sent = np.zeros(size), np.zeros(size)
        hops = self._topology.distances_from(target)
        for mote in sorted(range(size), key=hops.__getitem__):
            if (following := self._routes.next_hop(mote, target)) is None:
                arrival[mote] = 1.0
                continue
            passed, attempts = self.attempt(mote, following)
            arrival[mote], sent[mote] = passed * arrival[following], attempts + passed * sent[following]
        return arrival, sent

    def find_along(self, tree: DeliveryTree) -> tuple[dict[int, float], float]:
        """For a message along a tree: by mote the probability that it arrives there, and the transmissions."""
        arrival, sent = {tree.root: 1.0}, 0.0
        for mote in tree.order:
            children = tree.children.get(mote, ())
            if children and not self._radio.retries:
                sent += arrival[mote]
            for child in children:
                passed, attempts = self.attempt(mote, child)
                arrival[child] = arrival[mote] * passed
                sent += arrival[mote] * attempts if self._radio.retries else 0.0
        return arrival, sent

    @cached_property
    def flood_arrival(self) -> Float64s:
        """By mote and mote, the probability that a flood from the first arrives at the second.

        Each mote that hears it sends once, so each link is up or not: a flood comes as far as links that are up lead.
        """
        size = len(self._topology)
        if self.is_lossless:
            return np.ones((size, size))
        draws = max(4, min(_DRAWS, int(_DRAWS * (_SQUARE / size) ** 3)))
        random, losses = np.random.default_rng(0), self._list_losses()
        return np.sum([_close(random.random((size, size)) >= losses) for _ in range(draws)], axis=0) / draws

    def _list_losses(self) -> Float64s:
        losses = np.ones((len(self._topology), len(self._topology)))
        np.fill_diagonal(losses, 0.0)
        for one, other in self._topology.links:
            losses[one, other] = self.find_loss(one, other)
        return losses


def _close(links: np.ndarray) -> Float64s:
    """Who reaches whom, over links in any number."""
    reached = links.astype(np.float64)
    while True:
        further = (reached @ reached > 0).astype(np.float64)
        if (further == reached).all():
            return further
        reached = further
