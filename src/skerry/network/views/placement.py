"""Where the rows of a view meet: for each of its streams, which motes get to see a row.

A placement is right if every combination of rows that belong together meets at exactly one mote. The same operator then
runs at each of these motes, and what they give together is the answer.

    server         all rows go to the base station
    tree           rows are folded on their way to the base station, one message per mote and slice (TAG)
    hash           rows go to the mote that the hash of their keys names
    cluster        one stream's rows go to the head of their cluster, all others to every head; or rows are folded at
                   their mote, then at the head
    broadcast      one stream's rows stay where they are, all others go to every mote
    perpendicular  one stream's rows go along their level, another's walk across all levels; others to every mote

Rows that a view does not want, and columns that it does not need, are left out at the mote, whatever the placement.

Madden, Franklin, Hellerstein, Hong: TAG: a Tiny AGgregation Service for Ad-Hoc Sensor Networks, 2002.
Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 5 (joins at cluster heads).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from skerry.build.cut import CutView
from skerry.network.views.way import Way
from skerry.plan.aggregate import Aggregate
from skerry.plan.join import Join
from skerry.plan.lookup import Lookup
from skerry.plan.project import Project
from skerry.plan.select import Select

__all__ = ["NOT_OFFERED", "Placement", "can_move", "list_placements", "meets_anywhere"]


_PASSING = (Select, Project, Lookup)
"""Nodes above a join through which it can be followed which rows an answer is made of."""
_NEVER_LESS = "never takes less than broadcast: rows of all streams would go to every mote, not of all but one"
NOT_OFFERED = {"local": _NEVER_LESS}
"""Ways to join in a network that views do not have, and why."""


@dataclass(frozen=True)
class Placement:
    """A name, and the way of each stream. ``folds``: rows are folded, at every mote of a tree or at cluster heads."""

    name: str
    ways: tuple[Way, ...]
    folds: bool = False

    def describe(self, view: CutView) -> str:
        """In words."""
        if self.folds:
            where = "at cluster heads" if Way.HEAD in self.ways else "on the way to the base station"
            return f"partial aggregates, merged {where}"
        words = {
            Way.UP: "{} to the base station",
            Way.HASH: "{} to the mote of its key",
            Way.FLOOD: "{} to every mote",
            Way.STAY: "{} stays",
            Way.HEAD: "{} to the head of its cluster",
            Way.HEADS: "{} to all cluster heads",
            Way.LEVEL: "{} along its level",
            Way.WALK: "{} across all levels",
        }
        return ", ".join(words[way].format(feed.name) for way, feed in zip(self.ways, view.feeds, strict=True))


def list_placements(view: CutView) -> list[Placement]:
    """All placements that give a view's answers. There is always one."""
    return [Placement("server", (Way.UP,) * len(view.feeds)), *_list_others(view)]


def _list_others(view: CutView) -> Iterator[Placement]:
    """Those that are not at the base station alone."""
    count = len(view.feeds)
    if not can_move(view):
        return
    if isinstance(view.state, Aggregate):
        yield Placement("tree", (Way.UP,) * count, folds=True)
        yield Placement("cluster", (Way.HEAD,) * count, folds=True)
    if view.is_spread:
        yield Placement("hash", (Way.HASH,) * count)
    if meets_anywhere(view):
        for one in range(count):
            yield Placement("broadcast", _place(count, {one: Way.STAY}, Way.FLOOD))
            yield Placement("cluster", _place(count, {one: Way.HEAD}, Way.HEADS))
        for one, other in permutations(range(count), 2):
            yield Placement("perpendicular", _place(count, {one: Way.LEVEL, other: Way.WALK}, Way.FLOOD))


def can_move(view: CutView) -> bool:
    """Whether a view's rows may meet elsewhere: it has a node with state, no other below it, and no table above it."""
    is_fixed = view.state is None or view.below or view.entries or view.shedding or view.tables_above
    return not is_fixed


def meets_anywhere(view: CutView) -> bool:
    """Whether a combination of rows is an answer wherever they meet, whatever else is there."""
    state = view.state
    if not isinstance(state, Join) or state.overload is not None or state.needs_arrival_order or not can_move(view):
        return False
    can_be_marked = all(isinstance(relation, Project) for relation in state.relations)
    return can_be_marked and all(isinstance(node, _PASSING) for node in view.above)


def _place(count: int, chosen: dict[int, Way], others: Way) -> tuple[Way, ...]:
    """Some streams as said, all others alike."""
    return tuple(chosen.get(number, others) for number in range(count))
