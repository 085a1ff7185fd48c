"""Many views over the same join: one join for all of them.

Views are alike if they join the same streams by the same keys; their windows, conditions and columns may differ. The
one join has the widest window of each stream and all columns that any of them needs. What a view asks beyond that (its
narrower windows, its conditions on one stream or on several) is its predicate over the combinations, and all
predicates are asked at once, through the query index.

    view 1: Project ─ Select ─ Join ─ Select ─ Scan            FanOut ─ Join ─ Project ─ SelectAny ─ Scan
    view 2: Project ─ Join ─ Select ─ Scan            ──►        └ (widest windows)
    ...
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlglot import exp

from skerry.catalog import Source
from skerry.model.expression import Columns, Expression, rename_columns
from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.model.time import END_OF_TIME
from skerry.plan.ages import age_of
from skerry.plan.fan_out import SelectAny
from skerry.plan.join import Join
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.sharing.member import Member, combine, fan_out, parse_tree, recompute, split_selections
from skerry.plan.side import Side
from skerry.plan.view import ViewPlan

__all__ = ["JoinMember"]

_OF_THE_JOIN = {"emit", "join", "max_combinations", *(option.name for option in SAMPLING_OPTIONS)}
"""Options that views of one join agree on, or that do not matter to it. A view with any other has its own."""


@dataclass(frozen=True)
class _Stream:
    """One side of a member's join: what is asked of its readings, and what is taken from them."""

    side: Side
    source: Source
    columns: Mapping[str, Expression]
    asked: tuple[Expression, ...]

    @classmethod
    def of(cls, relation: Node, side: Side) -> "_Stream | None":
        """None where there is more than a selection between the join and the readings."""
        if not isinstance(relation, Project):
            return None
        asked, below = split_selections(relation.input)
        if not isinstance(below, Scan) or below.source.is_table or side.joined:
            return None
        return cls(side, below.source, dict(relation.columns), asked)

    def key(self, number: int) -> Expression:
        """What the join compares."""
        return self.columns[self.side.keys[number]]

    @property
    def keys(self) -> list[str]:
        """All keys as text."""
        return [self.key(number).sql for number in range(len(self.side.keys))]

    @property
    def taken(self) -> set[str]:
        """The columns that are needed, but for keys that are computed."""
        asked = {column.name for each in self.asked for column in parse_tree(each).find_all(exp.Column)}
        return asked | {expression.column for expression in self.columns.values() if expression.column}


@dataclass(frozen=True)
class JoinMember(Member):
    """A view that may share its join. Its streams are in an order that does not depend on how it was written."""

    view: ViewPlan
    join: Join
    streams: tuple[_Stream, ...]
    asked: tuple[Expression, ...]
    columns: Columns

    @classmethod
    def of(cls, view: ViewPlan) -> "JoinMember | None":
        """None if the view is no join, or one that has to keep to itself."""
        if not isinstance(view.root, Project) or view.options.keys() - _OF_THE_JOIN:
            return None
        asked, join = split_selections(view.root.input)
        if not isinstance(join, Join) or join.overload is not None or join.needs_arrival_order:
            return None
        streams = [_Stream.of(*pair) for pair in zip(join.relations, join.sides, strict=True)]
        plain = [stream for stream in streams if stream]
        if len(plain) < len(streams):
            return None
        return cls(view, join, tuple(sorted(plain, key=_sort_key)), asked, view.root.columns)

    @cached_property
    def key_order(self) -> list[int]:
        """The keys' numbers, in an order that does not depend on how the view was written."""
        return sorted(range(len(self.streams[0].side.keys)), key=lambda n: [stream.keys[n] for stream in self.streams])

    @property
    def alike(self) -> tuple[Any, ...]:
        """What views must have in common to share a join."""
        keys = [stream.key(number) for stream in self.streams for number in self.key_order]
        streams = [(stream.source.name, stream.side.time) for stream in self.streams]
        return self.join.technique, self.join.limit, *streams, *((key.sql, key.type) for key in keys)

    @property
    def same_rows(self) -> tuple[Any, ...]:
        """What views have in common whose combinations are the same, too: no view pays for those of another."""
        return self.alike, *((_span(stream), *sorted(each.sql for each in stream.asked)) for stream in self.streams)

    @classmethod
    def together(cls, members: Sequence["JoinMember"]) -> ViewPlan:
        """One join for all."""
        return _Group(members).plan()


def _sort_key(stream: _Stream) -> tuple[Any, ...]:
    return stream.source.name, stream.side.time, sorted(stream.keys)


class _Group:
    """Members that are alike. Names are those of the first."""

    def __init__(self, members: Sequence[JoinMember]) -> None:
        self._members, self._first = tuple(members), members[0]
        sides = [self._side(position) for position in range(len(self._first.streams))]
        self._join = replace(
            self._first.join, relations=tuple(node for node, _ in sides), sides=tuple(side for _, side in sides)
        )

    def plan(self) -> ViewPlan:
        """One plan for all."""
        conditions = [list(self._conditions(member)) for member in self._members]
        columns = [recompute(member.columns, self._names(member)) for member in self._members]
        return fan_out([member.view for member in self._members], self._join, conditions, columns)

    def _side(self, position: int) -> tuple[Node, Side]:
        """A stream with the widest window and the columns that any member needs."""
        mine, streams = self._first.streams[position], [member.streams[position] for member in self._members]
        taken = set().union(*(stream.taken for stream in streams))
        columns = {each.name: Expression.of(each.name, each.type) for each in mine.source.schema if each.name in taken}
        keys = [mine.key(number) for number in self._first.key_order]
        names = [key.column or f"#{number}" for number, key in enumerate(keys)]
        columns |= zip(names, keys, strict=True)
        projected = Project(_select_wanted(mine.source, streams), tuple(columns.items()))
        span_us = max(_span(stream) for stream in streams)
        return projected, Side(mine.side.name, projected.schema, tuple(names), mine.side.time, span_us)

    def _conditions(self, member: JoinMember) -> Iterator[exp.Expr]:
        """All that a view asks of combinations: its windows, of single streams, of several."""
        for stream, side in zip(member.streams, self._join.sides, strict=True):
            if _span(stream) < _span_of(side):
                yield exp.column(age_of(side.name), quoted=True) <= _span(stream)
            for asked in stream.asked:
                yield rename_columns(
                    parse_tree(asked), {name: f"{side.name}.{name}" for name in stream.source.schema.names}
                )
        for asked in member.asked:
            yield rename_columns(parse_tree(asked), self._names(member))

    def _names(self, member: JoinMember) -> dict[str, str]:
        """What the columns of a member's combinations are called here."""
        return {
            f"{stream.side.name}.{name}": f"{side.name}.{name}"
            for stream, side in zip(member.streams, self._join.sides, strict=True)
            for name in stream.source.schema.names
        }


def _select_wanted(source: Source, streams: Sequence[_Stream]) -> Node:
    """The readings of a source, without those that no member wants."""
    if not all(stream.asked for stream in streams):
        return Scan(source)
    asked = {" AND ".join(each.sql for each in stream.asked): list(map(parse_tree, stream.asked)) for stream in streams}
    return SelectAny(Scan(source), tuple((text, combine(trees)) for text, trees in asked.items()))


def _span(stream: _Stream) -> int:
    return _span_of(stream.side)


def _span_of(side: Side) -> int:
    assert side.span_us is not None, "a window that counts rows is not shared"
    return min(side.span_us, END_OF_TIME)
