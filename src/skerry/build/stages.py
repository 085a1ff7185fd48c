"""A plan cut where it must be shuffled: what runs beside each source, and what runs by key.

    Scan ─ Select ─ Project ─┐
    Scan ─ Project ──────────┼─ Aggregate, Join, ...      ─ Select ─ Project
    └──────── route ─────────┴──────────────── operate ───────────────────┘
              by split                     by bucket of the keys

A plan without state has no second part. Each part is built afresh wherever it runs. Many views that share a
join are one plan, which gives the answers of all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.operators.cascade import Cascade, Edge, Level
from skerry.operators.fan_out import dealt
from skerry.operators.operator import Chain, Operator
from skerry.build.builders import Stateful, Tables, derivations, everything, partial, stateful
from skerry.plan.deduce import Deduce
from skerry.plan.lags import lag_of, times
from skerry.plan.nodes import Absence, Aggregate, Gather, Join, Lookup, Node, Project, Scan, Select, ViewPlan
from skerry.plan.overload import Shedding, Spilling
from skerry.plan.shared import Deal, Wanted

__all__ = ["FEWEST_INDEXED", "Feed", "Stage", "Stages", "cut_into_stages", "spine"]

FEWEST_INDEXED = 8
"""From so many views on that only select from one stream, or share a join, the query index asks them together."""


@dataclass(frozen=True)
class Feed:
    """One stream on its way into a view."""

    name: str
    """No other feed of the view has it."""
    source: Source
    below: tuple[Node, ...]
    """Nodes above the scan and below the state, from the scan up."""
    keys: tuple[str, ...] = ()
    """The columns by which its rows are spread over buckets; without any, all go into one."""
    aggregate: Aggregate | None = None
    stamped: bool = False
    """Whether its readings carry the order of their arrival."""

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in."""
        return tuple(node.table for node in self.below if isinstance(node, Lookup))

    def route(self, tables: Tables = MappingProxyType({})) -> Operator:
        """The part that runs beside the source, with the tables as they are now."""
        links = derivations(self.below, tables)
        if self.aggregate:
            links.append(partial(self.aggregate))
        return Chain(links or [everything(self.source.schema)])


@dataclass(frozen=True)
class Stage:
    """A node that keeps something below another one that does: its answers are what that one takes in."""

    state: Stateful
    above: tuple[Node, ...]
    """Nodes above it and below the other, from the lowest up."""
    reader: int
    """The place of the other among the stages; behind the last of them is the view's own state."""
    stream: int
    """Which of the other's streams it is."""
    lag_us: int
    """How far its times may lie behind its clock."""
    aggregate: Aggregate | None = None

    def level(self, view: str) -> Level:
        """As operators."""
        between = derivations(self.above)
        if self.aggregate:
            between.append(partial(self.aggregate))
        return Level(stateful(view, self.state), Edge(self.reader, self.stream, tuple(between), self.lag_us))


@dataclass(frozen=True)
class Stages:
    """A view as the runtimes see it."""

    view: ViewPlan
    feeds: tuple[Feed, ...]
    state: Stateful | None
    above: tuple[Node, ...]
    below: tuple[Stage, ...] = ()
    """What keeps something below the state, the lowest first."""
    entries: tuple[tuple[int, int], ...] = ()
    """By feed, the stage it goes into and as which of its streams, where there is any below the state."""

    @property
    def name(self) -> str:
        """The view's."""
        return self.view.name

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        """Where answers go, and their columns: the view's own, or those of all views in it."""
        root = self.view.root
        return root.outputs if isinstance(root, Deal) else {self.name: root.schema}

    def by_output(self, answers: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Answers by where they go."""
        return dealt(answers) if isinstance(self.view.root, Deal) else iter([(self.name, answers)])

    @property
    def late_to(self) -> str | None:
        """Where its late readings go."""
        return self.view.options.get("late_to")

    @property
    def shedding(self) -> Shedding | None:
        """How it gives readings up, if it does."""
        overload = self.state.overload if isinstance(self.state, Join) else None
        return overload if isinstance(overload, Shedding) else None

    @property
    def states(self) -> tuple[Stateful, ...]:
        """All nodes that keep something, the lowest first."""
        return (*(stage.state for stage in self.below), *([self.state] if self.state else []))

    @property
    def stateful(self) -> bool:
        """Whether it has a part that runs by key."""
        return self.state is not None

    @property
    def only_selects(self) -> bool:
        """Whether it is a selection and a projection, and nothing else."""
        return self.state is None and [type(node) for node in self.feeds[0].below] == [Select, Project]

    @property
    def spread(self) -> bool:
        """Whether its state can be in several buckets."""
        return all(feed.keys for feed in self.feeds)

    @property
    def clocks(self) -> tuple[Feed, ...]:
        """The feeds whose watermarks count: a table is there from the start and holds nobody back."""
        return tuple(feed for feed in self.feeds if not feed.source.is_table) or self.feeds

    @cached_property
    def places(self) -> dict[str, int]:
        """Which of the operator's streams each feed is."""
        return {feed.name: place for place, feed in enumerate(self.feeds)}

    def operate(self) -> Operator:
        """The part that runs by key."""
        assert self.state is not None, "a plan without state has no second part"
        top = stateful(self.name, self.state)
        if self.below:
            top = Cascade([*(stage.level(self.name) for stage in self.below), Level(top)], self.entries)
        return Chain([top, *derivations(self.above)])


def cut_into_stages(view: ViewPlan) -> Stages:
    """Find the place where a plan is shuffled."""
    above, state = spine(view.root)
    if isinstance(state, Scan):
        return Stages(view, (Feed(state.source.name, state.source, above),), None, ())
    assert isinstance(state, Stateful)
    return _Cutting(view).stages(above, state)


class _Cutting:
    """Goes down a plan from a node that keeps something to the sources, and notes what it finds."""

    def __init__(self, view: ViewPlan) -> None:
        self._view = view
        self._feeds: list[Feed] = []
        self._entries: list[tuple[int, int]] = []
        self._below: dict[int, Stage] = {}
        self._count = 0

    def stages(self, above: tuple[Node, ...], state: Stateful) -> Stages:
        """The view, cut."""
        self._check_lookups(above)
        self._enter(state)
        if not self._below:
            return Stages(self._view, tuple(self._feeds), state, above)
        # What one node spreads by is not what another does: all are in one bucket.
        feeds = tuple(replace(feed, name=f"{place}:{feed.name}", keys=()) for place, feed in enumerate(self._feeds))
        below = tuple(self._below[number] for number in range(len(self._below)))
        return Stages(self._view, feeds, state, above, below, tuple(self._entries))

    def _enter(self, state: Stateful) -> int:
        """Note what a node reads, then the node; give its number among those that keep something."""
        read: list[tuple[int, Feed]] = []
        found: dict[int, Stage] = {}
        for place, relation in enumerate(state.inputs):
            between, base = spine(relation)
            if isinstance(base, Scan):
                read.append((place, _feed(state, place, base.source, between)))
                continue
            assert isinstance(base, Stateful)
            self._check_lookups(between)
            below = self._enter(base)
            aggregate = state if isinstance(state, Aggregate) else None
            found[below] = Stage(base, between, 0, place, self._lag(state, place, base), aggregate)
        number, self._count = self._count, self._count + 1
        self._below |= {below: replace(stage, reader=number) for below, stage in found.items()}
        for place, feed in read:
            self._feeds.append(feed)
            self._entries.append((number, place))
        return number

    def _lag(self, state: Stateful, place: int, base: Stateful) -> int:
        """How far behind the times are that a node goes by in answers of one below it."""
        time = _time(state, place)
        lag = None if time is None else lag_of(state.inputs[place], time)
        if lag is None:
            known = ", ".join(times(base)) or "none of its columns"
            told = "a window over answers of another view goes by a time that these come in the order of"
            spills = isinstance(base, Join) and isinstance(base.overload, Spilling)
            why = ", since they wait on disk (spill_to)" if spills else ""
            raise InputError(f"view {self._view.name!r}: {told}; here {known} can be used{why}")
        return lag

    def _check_lookups(self, nodes: Sequence[Node]) -> None:
        if any(isinstance(node, Lookup) for node in nodes):
            told = "a table is looked up beside a source, not for the answers of an aggregate, a join or rules"
            raise InputError(f"view {self._view.name!r}: {told}")


def _time(state: Stateful, place: int) -> str | None:
    """The column by which a node knows when the rows of one of its streams are."""
    if isinstance(state, Join):
        return None if state.counted else state.sides[place].time
    if isinstance(state, Absence):
        return state.sides[place].time
    return state.facts[place].time if isinstance(state, Deduce) else state.time


def _feed(state: Stateful, place: int, source: Source, below: tuple[Node, ...]) -> Feed:
    if isinstance(state, Join):
        return Feed(state.sides[place].name, source, below, state.keys(place), stamped=state.counted)
    if isinstance(state, Absence):
        return Feed(state.sides[place].name, source, below, state.keys(place))
    if isinstance(state, Gather):
        return Feed(source.name, source, below, (state.key,))
    if isinstance(state, Deduce):
        return Feed(state.facts[place].predicate, source, below, state.keys(place))
    return Feed(source.name, source, below, state.keys, state)


def spine(root: Node) -> tuple[tuple[Node, ...], Node]:
    """The selections and projections on the way down, from the lowest up, and what they stand on."""
    found: list[Node] = []
    node = root
    while isinstance(node, Select | Project | Lookup | Wanted | Deal):
        found.append(node)
        node = node.input
    return tuple(reversed(found)), node
