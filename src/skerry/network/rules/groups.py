"""Aggregates at the home of a group: one contribution per derivation in force."""

from dataclasses import dataclass, field

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.values import Row, coerce, row_key
from skerry.model.term import Value
from skerry.network.rules.node_program import DerivationKey, NodeRule, Schema
from skerry.plan.program import Aggregate

__all__ = ["Group", "Groups"]


@dataclass
class Group:
    """The contributions of a group, and the row that was derived from them last."""

    rule: NodeRule
    key: tuple[int, object]
    contributions: dict[DerivationKey, Row] = field(default_factory=dict)
    row: Row | None = None
    is_due: bool = False

    def aggregate(self, schema: Schema) -> Row | None:
        """The row that the contributions make; None if there are none, or it does not fit its columns and limits."""
        if not self.contributions:
            return None
        columns = list(zip(*(self.contributions[key] for key in sorted(self.contributions)), strict=True))
        row: list[Value] = []
        for argument, column, kind in zip(self.rule.head.arguments, columns, schema.types, strict=True):
            whole = aggregate_values(argument.function, column) if isinstance(argument, Aggregate) else column[0]
            value = coerce(whole, kind)
            if value is None:
                return None
            row.append(value)
        return None if schema.exceeds_limit(tuple(row)) else tuple(row)


class Groups:
    """Groups by rule and by the values that they share."""

    def __init__(self) -> None:
        self._groups: dict[tuple[int, object], Group] = {}

    def get(self, rule: NodeRule, contribution: Row) -> Group:
        """The group that a contribution belongs to."""
        shared = tuple(
            value
            for value, argument in zip(contribution, rule.head.arguments, strict=True)
            if not isinstance(argument, Aggregate)
        )
        key = (rule.number, row_key(shared))
        if key not in self._groups:
            self._groups[key] = Group(rule, key)
        return self._groups[key]

    def forget(self, group: Group) -> None:
        """Let go of a group without contributions."""
        self._groups.pop(group.key, None)
