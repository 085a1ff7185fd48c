"""A plan cut where it must be shuffled: what runs beside each source, and what runs by key.

    Scan ─ Select ─ Project ─┐
    Scan ─ Project ──────────┼─ Aggregate, Join, ...      ─ Select ─ Project
    └──────── route ─────────┴──────────────── operate ───────────────────┘
              by split                     by bucket of the keys

A plan without state has no second part. Each part is built afresh wherever it runs. Many views that share a
join are one plan, which gives the answers of all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from skerry.build.chain import build_chain
from skerry.build.indexes import pack_indexes
from skerry.build.keep_all import keep_all
from skerry.build.table import NO_TABLES, Tables, build_partial, build_state
from skerry.catalog import Source
from skerry.model.arrival import STAMPS
from skerry.model.expression import Expression
from skerry.operators.cascade import Cascade, Edge, Level
from skerry.operators.entrance import Entrance
from skerry.operators.fan_out import unpack_views
from skerry.operators.operator import Chain, Operator
from skerry.plan.check_times import check_times, find_lag, split_spine
from skerry.plan.fan_out import FanOut
from skerry.plan.node import Stateful, Stateless
from skerry.plan.overload import Shedding
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.union import list_parts
from skerry.plan.view import ViewPlan

__all__ = ["CutView", "Feed", "StateBelow", "cut_view"]


@dataclass(frozen=True)
class Feed:
    """One stream on its way into a view."""

    name: str
    """No other feed of the view has it."""
    source: Source
    below: tuple[Stateless, ...]
    """Nodes above the scan and below the state, from the scan up."""
    keys: tuple[str, ...] = ()
    """The columns by which its rows are spread over buckets; without any, all go into one."""
    partial: Stateful | None = None
    """The state above, if a part of its work is done here."""
    stamped: bool = False
    """Whether its readings carry the order of their arrival."""
    compared: tuple[str, ...] = ()
    """The columns that a join compares, as they are called above ``below``."""

    @cached_property
    def nan_keys(self) -> tuple[str, ...]:
        """The columns of the source that are compared as they are, and may be NaN."""
        names: set[str | None] = set(self.compared)
        for node in reversed(self.below):
            if isinstance(node, Project):
                columns = dict(node.columns)
                names = {columns[name].column for name in names if name in columns}
        fields = self.source.schema
        return tuple(field.name for field in fields if field.name in names and pa.types.is_floating(field.type))

    @cached_property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in."""
        return tuple(table for node in self.below for table in node.tables)

    def build_route(self, tables: Tables = NO_TABLES) -> Operator:
        """The part that runs beside the source, with the tables as they are now."""
        links = build_chain(self.below, tables)
        if self.partial:
            links.append(build_partial(self.partial))
        return Chain(links or [keep_all(self.source.schema)])


@dataclass(frozen=True)
class StateBelow:
    """A state below another one: its answers are what the other takes in."""

    state: Stateful
    above: tuple[Stateless, ...]
    """Nodes above it and below the other, from the lowest up."""
    reader: int
    """The number of the other; behind the last of those below is the view's own state."""
    stream: int
    """Which of the other's streams it is."""
    lag_us: int
    """How far its times may lie behind its clock."""
    partial: Stateful | None = None

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables that its answers are looked up in."""
        return tuple(table for node in self.above for table in node.tables)

    def build_between(self, tables: Tables) -> tuple[Operator, ...]:
        """What makes the other's rows of its answers, with the tables as they are now."""
        between = build_chain(self.above, tables)
        return (*between, build_partial(self.partial)) if self.partial else tuple(between)

    def build_level(self, view: str, tables: Tables | None) -> Level:
        """As operators. Without the tables that it looks up, it can do no more than tell its state."""
        between = self.build_between(tables or NO_TABLES) if tables is not None or not self.tables else ()
        return Level(build_state(view, self.state), Edge(self.reader, self.stream, between, self.lag_us))


@dataclass(frozen=True)
class CutView:
    """A view as the runtimes see it. What they ask for with every batch is found once."""

    view: ViewPlan
    feeds: tuple[Feed, ...]
    state: Stateful | None
    above: tuple[Stateless, ...]
    below: tuple[StateBelow, ...] = ()
    """What keeps something below the state, the lowest first."""
    entries: tuple[tuple[int, int], ...] = ()
    """By feed, the state it goes into and as which of its streams, where that is not one stream of the view's own."""

    @cached_property
    def name(self) -> str:
        """The view's."""
        return self.view.name

    @property
    def outputs(self) -> Mapping[str, pa.Schema]:
        """Where answers go, and their columns: the view's own, or those of all views in it."""
        return self.view.root.outputs(self.name)

    def by_output(self, answers: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Answers by where they go."""
        return unpack_views(answers) if isinstance(self.view.root, FanOut) else iter([(self.name, answers)])

    @cached_property
    def priority(self) -> int:
        """How much it matters that its answers come soon, where queries compete: 1 for most."""
        return int(self.view.options.get("priority", 1))

    @property
    def late_to(self) -> str | None:
        """Where its late readings go."""
        return self.view.options.get("late_to")

    @property
    def shedding(self) -> Shedding | None:
        """How it gives readings up, if it does."""
        return self.state.shedding if self.state else None

    @property
    def states(self) -> tuple[Stateful, ...]:
        """All nodes that keep something, the lowest first."""
        return (*(each.state for each in self.below), *([self.state] if self.state else []))

    @cached_property
    def stateful(self) -> bool:
        """Whether it has a part that runs by key."""
        return self.state is not None

    @property
    def only_selects(self) -> bool:
        """Whether it is a selection and a projection, and nothing else."""
        return (
            self.state is None
            and len(self.feeds) == 1
            and [type(node) for node in self.feeds[0].below] == [Select, Project]
        )

    @cached_property
    def is_spread(self) -> bool:
        """Whether its state can be in several buckets."""
        return all(feed.keys for feed in self.feeds)

    @property
    def clocks(self) -> tuple[Feed, ...]:
        """The feeds whose watermarks count: a table is there from the start and holds nobody back."""
        return tuple(feed for feed in self.feeds if not feed.source.is_table) or self.feeds

    @cached_property
    def stream_numbers(self) -> dict[str, int]:
        """Which of the operator's streams each feed is."""
        return {feed.name: number for number, feed in enumerate(self.feeds)}

    @cached_property
    def tables_above(self) -> tuple[str, ...]:
        """The tables that answers of its states are looked up in, by name."""
        between = tuple(table.name for each in self.below for table in each.tables)
        above = tuple(table.name for node in self.above for table in node.tables) if self.state else ()
        return (*between, *above)

    def build_between(self, tables: Tables) -> list[tuple[Operator, ...]]:
        """What stands between its states, from the lowest up, with the tables as they are now."""
        return [each.build_between(tables) for each in self.below]

    def build_above(self, tables: Tables = NO_TABLES) -> list[Operator]:
        """What makes the view's rows of the answers of its state, with the tables as they are now."""
        return build_chain(self.above, tables)

    def build_operate(self, tables: Tables | None = None) -> Operator:
        """The part that runs by key. Without the tables that it looks up, it can do no more than tell its state."""
        assert self.state is not None, "a plan without state has no second part"
        top = build_state(self.name, self.state)
        if self.entries and not self.below:
            top = Entrance(top, [stream for _, stream in self.entries])
        if self.below:
            levels = [each.build_level(self.name, tables) for each in self.below]
            top = Cascade([*levels, Level(top)], self.entries)
        knows_all = tables is not None or not self.tables_above
        return Chain([top, *(self.build_above(tables or NO_TABLES) if knows_all else [])])


def cut_view(view: ViewPlan) -> CutView:
    """Cut a view where it is shuffled."""
    check_times(view)
    view = replace(view, root=pack_indexes(view.root))
    parts = [split_spine(part) for part in list_parts(view.root)]
    scans = [(above, base.source) for above, base in parts if isinstance(base, Scan)]
    if len(scans) == len(parts):
        return CutView(view, _number([Feed(source.name, source, above) for above, source in scans]), None, ())
    above, base = split_spine(view.root)
    assert isinstance(base, Stateful)
    return _Cutter(view).cut(above, base)


def _number(feeds: Sequence[Feed]) -> tuple[Feed, ...]:
    """Feeds under names that differ."""
    several = len(feeds) > 1
    return tuple(replace(feed, name=f"{number}:{feed.name}") if several else feed for number, feed in enumerate(feeds))


class _Cutter:
    """Goes down a plan from its state to the sources, and notes what it finds."""

    def __init__(self, view: ViewPlan) -> None:
        self._view = view
        self._feeds: list[Feed] = []
        self._entries: list[tuple[int, int]] = []
        self._below: dict[int, StateBelow] = {}
        self._count = 0

    def cut(self, above: tuple[Stateless, ...], state: Stateful) -> CutView:
        """The view, cut."""
        self._enter(state)
        if not self._below:
            streams = [stream for _, stream in self._entries]
            if streams == list(range(len(streams))):
                return CutView(self._view, tuple(self._feeds), state, above)
            return CutView(self._view, _number(self._feeds), state, above, entries=tuple(self._entries))
        # What one node spreads by is not what another does: all are in one bucket.
        feeds = tuple(replace(feed, name=f"{number}:{feed.name}", keys=()) for number, feed in enumerate(self._feeds))
        below = tuple(self._below[number] for number in range(len(self._below)))
        return CutView(self._view, feeds, state, above, below, tuple(self._entries))

    def _enter(self, state: Stateful) -> int:
        """Note what a node reads, then the node; give its number among those that keep something."""
        read: list[tuple[int, Feed]] = []
        found: dict[int, StateBelow] = {}
        partial = state if state.partial else None
        parts = [(position, part) for position, each in enumerate(state.inputs) for part in list_parts(each)]
        for position, relation in parts:
            between, base = split_spine(relation)
            if isinstance(base, Scan):
                read.append((position, _make_feed(state, position, base.source, between)))
                continue
            assert isinstance(base, Stateful)
            number = self._enter(base)
            lag_us = find_lag(self._view, state, position, base)
            found[number] = StateBelow(base, between, 0, position, lag_us, partial)
        own, self._count = self._count, self._count + 1
        self._below |= {number: replace(each, reader=own) for number, each in found.items()}
        for position, feed in read:
            self._feeds.append(feed)
            self._entries.append((own, position))
        return own


def _make_feed(state: Stateful, position: int, source: Source, below: tuple[Stateless, ...]) -> Feed:
    name, keys = state.feed_name(position, source), state.bucket_keys(position)
    partial, compared = state if state.partial else None, state.compared_keys(position)
    if state.needs_arrival_order:
        below = tuple(_carry_stamps(node) for node in below)
    return Feed(name, source, below, keys, partial, state.needs_arrival_order, compared)


def _carry_stamps(node: Stateless) -> Stateless:
    """A projection that lets the order of arrival pass: a view that is counted over need not know of it."""
    if not isinstance(node, Project):
        return node
    known = dict(node.columns)
    stamps = [(field.name, Expression.of(field.name, field.type)) for field in STAMPS if field.name not in known]
    return node.replace_fields(columns=(*node.columns, *stamps))
