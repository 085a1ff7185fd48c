"""What is measured on motes while a program runs on them."""

from collections.abc import Sequence

from skerry.network.rules.component import Component

__all__ = ["Measures"]


class Measures:
    """The most that was seen: tuples on each mote, and times in microseconds."""

    def __init__(self, motes: int) -> None:
        self.tuples_per_mote = [0] * motes
        """The most tuples that each mote held at a time: its own and replicas, without links."""
        self.late_us = 0
        """By how much a tuple was stored or joined later than others rely on; 0: all came in time."""
        self.storage_us = 0
        """The longest that it took to store a tuple (tau_s), as far as it was measured."""
        self.join_us = 0
        """The longest that it took from then to join it (tau_j), as far as it was measured."""

    def add(self, components: Sequence[Component]) -> "Measures":
        """With what one program per mote has seen."""
        added = Measures(len(components))
        most = (component.most_tuples for component in components)
        added.tuples_per_mote = list(map(max, self.tuples_per_mote, most))
        stores = [component.store for component in components]
        added.late_us = max((self.late_us, *(store.latest_us for store in stores)))
        added.storage_us = max((self.storage_us, *(store.storage_us for store in stores)))
        added.join_us = max((self.join_us, *(store.join_us for store in stores)))
        return added
