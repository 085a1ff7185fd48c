"""Groups of aggregates on one mote: those that live here, and parts of others, which go home over a tree.

Each mote adds what it has joined itself to what its children in the tree say. It tells its parent, the next mote on
the way to the group's home, whenever that has changed. So a parent hears one message per child, not per contribution.
Madden, Franklin, Hellerstein, Hong: TAG: a tiny aggregation service for ad-hoc sensor networks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.values import Row, coerce, row_key
from skerry.model.term import Value
from skerry.network.rules.node_program import DerivationKey, NodeRule, Schema
from skerry.network.rules.partial_aggregates import Counted, list_values, merge
from skerry.plan.program import Aggregate

__all__ = ["Group", "Groups", "Part"]

Part = tuple[Counted, ...]
"""One partial aggregate per aggregate of the head; empty if nothing contributes."""


@dataclass
class Group:
    """What a mote knows of a group: its own contributions, the parts of its children, and what it made of them last."""

    rule: NodeRule
    key: tuple[int, object]
    shared: Row
    """The values that group, in the order of the head."""
    home: int
    contributions: dict[DerivationKey, Row] = field(default_factory=dict)
    children: dict[int, tuple[int, Part]] = field(default_factory=dict)
    """By child, the version of its last message, and what that said."""
    row: Row | None = None
    """At home, the row that was derived last."""
    sent: Part = ()
    """Elsewhere, what was told last."""
    is_due: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing need be remembered of it."""
        return not (self.contributions or self.children or self.sent or self.row or self.is_due)

    def combine(self) -> Part:
        """All contributions and parts as one part."""
        parts = [part for _, part in self.children.values() if part]
        if not self.contributions and not parts:
            return ()
        own = [self.contributions[key] for key in sorted(self.contributions)]
        return tuple(
            merge(argument.function, [*(((row[column], 1),) for row in own), *(part[number] for part in parts)])
            for number, (column, argument) in enumerate(self._list_aggregates())
        )

    def aggregate(self, schema: Schema) -> Row | None:
        """The row of all contributions; None if there are none, or it does not fit its columns and limits."""
        part, shared = iter(self.combine()), iter(self.shared)
        row: list[Value] = []
        for argument, kind in zip(self.rule.head.arguments, schema.types, strict=True):
            if isinstance(argument, Aggregate):
                counted = next(part, ())
                whole = aggregate_values(argument.function, list_values(counted)) if counted else None
            else:
                whole = next(shared)
            value = None if whole is None else coerce(whole, kind)
            if value is None:
                return None
            row.append(value)
        return None if schema.exceeds_limit(tuple(row)) else tuple(row)

    @property
    def outline(self) -> Row:
        """The row without its aggregates, which are 0: what decides when it is settled."""
        shared = iter(self.shared)
        return tuple(0 if isinstance(each, Aggregate) else next(shared) for each in self.rule.head.arguments)

    def _list_aggregates(self) -> Iterator[tuple[int, Aggregate]]:
        arguments = enumerate(self.rule.head.arguments)
        return ((column, argument) for column, argument in arguments if isinstance(argument, Aggregate))


class Groups:
    """Groups by rule and by the values that they share."""

    def __init__(self) -> None:
        self._groups: dict[tuple[int, object], Group] = {}

    def find(self, rule: NodeRule, contribution: Row, home: int) -> Group:
        """The group that a contribution belongs to."""
        arguments = zip(contribution, rule.head.arguments, strict=True)
        return self.get(rule, tuple(value for value, each in arguments if not isinstance(each, Aggregate)), home)

    def get(self, rule: NodeRule, shared: Row, home: int) -> Group:
        """The group with these values."""
        key = (rule.number, row_key(shared))
        if key not in self._groups:
            self._groups[key] = Group(rule, key, shared, home)
        return self._groups[key]

    def tidy(self, group: Group) -> None:
        """Let go of a group that is over."""
        if group.is_over and self._groups.get(group.key) is group:
            del self._groups[group.key]
