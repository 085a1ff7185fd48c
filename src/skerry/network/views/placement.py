"""Where the rows of a view meet: for each of its streams, which motes get to see a row.

A placement is right if every combination of rows that belong together meets at exactly one mote. The same operator then
runs at each of these motes, and what they give together is the answer.

    server         all rows go to the base station
    tree           rows are folded on their way to the base station, one message per mote and slice (TAG)
    hash           rows go to the mote that the hash of their keys names
    broadcast      one stream's rows stay where they are, all others go to every mote
    perpendicular  on grids: one stream's rows go along their row, another's along their column; others to every mote

Rows that a view does not want, and columns that it does not need, are left out at the mote, whatever the placement.

Madden, Franklin, Hellerstein, Hong: TAG: a Tiny AGgregation Service for Ad-Hoc Sensor Networks, 2002.
Gupta, Zhu, Xu: Deductive Framework for Programming Sensor Networks, 2009, section 3 (the perpendicular approach).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from skerry.build.cut import CutView
from skerry.network.views.field import Field
from skerry.plan.aggregate import Aggregate
from skerry.plan.join import Join

__all__ = ["Placement", "Way", "list_placements"]


class Way(StrEnum):
    """Which motes a row goes to."""

    UP = "up"
    HASH = "hash"
    FLOOD = "flood"
    STAY = "stay"
    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True)
class Placement:
    """A name, and the way of each stream. ``folds``: rows are folded on their way up."""

    name: str
    ways: tuple[Way, ...]
    folds: bool = False

    def describe(self, view: CutView) -> str:
        """In words."""
        if self.folds:
            return "partial aggregates, merged on the way to the base station"
        words = {
            Way.UP: "{} to the base station",
            Way.HASH: "{} to the mote of its key",
            Way.FLOOD: "{} to every mote",
            Way.STAY: "{} stays",
            Way.ROW: "{} along its row",
            Way.COLUMN: "{} along its column",
        }
        return ", ".join(words[way].format(feed.name) for way, feed in zip(self.ways, view.feeds, strict=True))


def list_placements(view: CutView, field: Field) -> list[Placement]:
    """All placements that give a view's answers in a field. There is always one."""
    return [Placement("server", (Way.UP,) * len(view.feeds)), *_list_others(view, field)]


def _list_others(view: CutView, field: Field) -> Iterator[Placement]:
    """Those that need a node with state, and no other below it."""
    count = len(view.feeds)
    if view.state is None or view.below or view.shedding:
        return
    if isinstance(view.state, Aggregate):
        yield Placement("tree", (Way.UP,) * count, folds=True)
    if view.is_spread:
        yield Placement("hash", (Way.HASH,) * count)
    if isinstance(view.state, Join) and view.state.overload is None and not view.state.needs_arrival_order:
        for one in range(count):
            yield Placement("broadcast", _place_one(count, {one: Way.STAY}))
        if field.lines:
            for one in range(count):
                for other in set(range(count)) - {one}:
                    yield Placement("perpendicular", _place_one(count, {one: Way.ROW, other: Way.COLUMN}))


def _place_one(count: int, chosen: dict[int, Way]) -> tuple[Way, ...]:
    """Some streams as said, all others to everybody."""
    return tuple(chosen.get(number, Way.FLOOD) for number in range(count))
