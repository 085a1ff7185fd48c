"""Views that make different rows and columns of the same state: one state for all of them.

    view 1: Project ─ Select ─ Over ─ Project ─ Scan            FanOut ─ Over ─ Project ─ Scan
    view 2: Project ─ Over ─ Project ─ Scan              ──►

Of joins and aggregates more can be shared (``joins``, ``aggregates``); this goes for whatever keeps state, and for
states over other states. What runs below must be equal in all, whatever it is called (``forms``).
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from skerry.model.expression import Columns, Expression, rename_columns
from skerry.plan.node import Stateful
from skerry.plan.project import Project
from skerry.plan.sharing.copies import list_sharing_options
from skerry.plan.sharing.forms import Form, form_of
from skerry.plan.sharing.member import Member, fan_out, parse_tree, recompute, split_selections
from skerry.plan.sharing.spelling import Spelling
from skerry.plan.union import Union
from skerry.plan.view import ViewPlan

__all__ = ["StateMember"]


@dataclass(frozen=True)
class StateMember(Member):
    """A view that may share its state."""

    view: ViewPlan
    node: Stateful
    asked: tuple[Expression, ...]
    columns: Columns
    options: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, view: ViewPlan) -> "StateMember | None":
        """None if the view keeps nothing, looks its answers up in tables, or has to keep to itself."""
        options = list_sharing_options(view)
        if options is None or not isinstance(view.root, Project):
            return None
        asked, node = split_selections(view.root.input)
        if not isinstance(node, Stateful) or isinstance(node, Union):
            return None
        return cls(view, node, asked, view.root.columns, options)

    @cached_property
    def form(self) -> Form:
        """What its state means."""
        return form_of(self.node)

    @property
    def alike(self) -> Hashable:
        """The state, the columns that can be made of it, and the options."""
        return self.form.rows, frozenset(self.form.columns.values()), self.options

    @classmethod
    def together(cls, members: Sequence["StateMember"]) -> ViewPlan:
        """One state for all; names are those of the first."""
        known = {token: name for name, token in members[0].form.columns.items()}
        conditions = [list(member.rename_conditions(known)) for member in members]
        columns = [recompute(member.columns, member.rename(known)) for member in members]
        return fan_out([member.view for member in members], members[0].node, conditions, columns)

    def rename(self, known: dict[Spelling, str]) -> dict[str, str]:
        """What the columns of its state are called elsewhere."""
        return {name: known[token] for name, token in self.form.columns.items()}

    def rename_conditions(self, known: dict[Spelling, str]) -> Iterator[exp.Expr]:
        """What it asks of rows, under other names."""
        for each in self.asked:
            yield rename_columns(parse_tree(each), self.rename(known))
