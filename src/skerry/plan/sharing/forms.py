"""What a plan means, whatever its columns are called and in whichever order it was written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import pyarrow as pa

from skerry.model.arrival import STAMPS
from skerry.plan.aggregate import Grouping
from skerry.plan.fold import Fold
from skerry.plan.join import Join
from skerry.plan.node import Node
from skerry.plan.over import Call, Clause, OrderKey
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.sharing.spelling import Spelling, Tokens, find_token, spell_conditions, spell_expression
from skerry.plan.side import Side
from skerry.plan.union import Union

__all__ = ["Form", "form_of"]

_OF_THE_PLAN = "_#"
"""What names begin with that only the plan knows. No word that a field may hold beside names begins so."""


@dataclass(frozen=True)
class Form:
    """What the rows of a relation are, and what its columns were made of. Plans with equal forms have equal rows."""

    rows: Spelling
    columns: Mapping[str, Spelling]


def form_of(node: Node) -> Form:
    """The form of a plan.

    A projection makes no rows: its columns are what they were computed from. Conditions over each other are one set.
    Of a node that is not known here, the columns that it reads must have the same names, and all else must be equal.
    """
    if isinstance(node, Scan):
        names = [*node.schema.names, *(stamp.name for stamp in STAMPS)]  # what is above may read those too
        return Form(("scan", node.source.name), {name: name for name in names})
    if isinstance(node, Project):
        below = form_of(node.input)
        return Form(below.rows, {name: spell_expression(each, below.columns) for name, each in node.columns})
    if isinstance(node, Select):
        return _form_of_selection(node, form_of(node.input))
    if isinstance(node, Grouping):
        return _form_of_grouping(node, form_of(node.input))
    if isinstance(node, Join) and not node.needs_arrival_order and not any(side.joined for side in node.sides):
        return _form_of_join(node)
    inputs = [form_of(each) for each in node.inputs]
    if isinstance(node, Union):
        parts = {name: ("union", tuple(each.columns[name] for each in inputs)) for name in node.schema.names}
        return Form(("union", tuple(each.rows for each in inputs)), parts)
    return _form_of_other(node, inputs)


def _form_of_other(node: Node, inputs: Sequence[Form]) -> Form:
    """Names that only the plan knows do not count, but where two inputs have them: they stand for what they mean."""
    known = Counter(name for each in inputs for name in each.columns)
    own = {name for name, count in known.items() if count == 1 and name[0] in _OF_THE_PLAN}
    tokens = {name: token for each in inputs for name, token in each.columns.items() if name in own}
    read = tuple(
        (each.rows, frozenset((tokens.get(name, name), token) for name, token in each.columns.items()))
        for each in inputs
    )
    others = _replace_names(_list_fields(node, "input", "relations"), tokens, getattr(node, "condition", None) is None)
    return Form(_Same(node, read, others), {name: ("column", tokens.get(name, name)) for name in node.schema.names})


def _replace_names(value: Any, tokens: Tokens, without_aliases: bool) -> Any:
    """A field with tokens in place of the names that only the plan knows, and if nothing asks for them no aliases."""
    if isinstance(value, str):
        return tokens.get(value, value)
    if isinstance(value, tuple):
        return tuple(_replace_names(each, tokens, without_aliases) for each in value)
    if isinstance(value, pa.Schema):
        return tuple((tokens.get(each.name, each.name), each.type) for each in value)
    if isinstance(value, Side):
        hidden = ("name",) if without_aliases else ()
        return _replace_names(_list_fields(value, *hidden), tokens, without_aliases)
    if isinstance(value, Clause | Call | OrderKey):
        return type(value), _replace_names(_list_fields(value), tokens, without_aliases)
    return value


def _form_of_selection(node: Select, below: Form) -> Form:
    conditions = spell_conditions(node.predicate, below.columns, node.input.schema)
    rows = below.rows
    if isinstance(rows, tuple) and rows[0] == "select":
        _, more, rows = rows
        conditions |= more
    return Form(("select", conditions, rows), below.columns)


def _form_of_grouping(node: Grouping, below: Form) -> Form:
    """Keys and folds may come in any order."""
    keys = {key: ("key", below.columns[key]) for key in node.keys}
    folds = {fold.name: _spell_fold(fold, below.columns) for fold in node.folds}
    others = _list_fields(node, "input", "keys", "folds", "time")
    moment = below.columns[node.time] if node.time else None
    rows = _Same(node, (below.rows, moment, frozenset(keys.values()), frozenset(folds.values())), others)
    own = {name: ("column", name) for name in node.schema.names}
    return Form(rows, {**own, **keys, **folds})


def _spell_fold(fold: Fold, tokens: Tokens) -> Spelling:
    arguments = tuple(tokens[name] for name in fold.columns)
    shape = (fold.argument is None, len(fold.others), fold.where is None, str(fold.argument_type))
    rest = fold.method, fold.order, fold.keeps_null, fold.text, fold.settings, str(fold.answer)
    return "fold", fold.function, arguments, shape, rest


def _form_of_join(node: Join) -> Form:
    """Sides and keys may come in any order; sides that are alike in all keep theirs."""
    sides = [(side, form_of(relation)) for side, relation in zip(node.sides, node.relations, strict=True)]
    order = sorted(range(len(sides)), key=lambda position: _sort_key(*sides[position]))
    ordered = [sides[position] for position in order]
    keys = frozenset(zip(*(_list_keys(side, form) for side, form in ordered), strict=True))
    streams = tuple((form.rows, find_token(side.time, form.columns), side.span_us) for side, form in ordered)
    columns = {
        side.column(name): ("side", number, find_token(name, form.columns))
        for number, (side, form) in enumerate(ordered)
        for name in side.schema.names
    }
    return Form(_Same(node, (streams, keys), _list_fields(node, "relations", "sides")), columns)


def _sort_key(side: Side, form: Form) -> tuple[str, ...]:
    """An order that does not depend on how a view was written, as far as that is easy: sources, keys, windows."""
    return (_spell_plainly(form.rows), *sorted(map(str, _list_keys(side, form))), str(side.span_us))


def _list_keys(side: Side, form: Form) -> tuple[Spelling, ...]:
    return tuple(find_token(key, form.columns) for key in side.keys)


def _spell_plainly(rows: Spelling) -> str:
    """A text that equal forms share, whatever the order in which sets give what is in them."""
    if isinstance(rows, tuple | frozenset):
        spelled = [_spell_plainly(each) for each in rows]
        return f"({', '.join(sorted(spelled) if isinstance(rows, frozenset) else spelled)})"
    return type(rows.node).__name__ if isinstance(rows, _Same) else repr(rows)


def _list_fields(node: Node | Side | Clause | Call | OrderKey, *known: str) -> tuple[Any, ...]:
    """The values of a node's other fields."""
    return tuple(
        getattr(node, each.name) for each in fields(cast(Any, node)) if each.name not in known and each.compare
    )


@dataclass(frozen=True, eq=False)
class _Same:
    """A node that keeps something, by what it reads and by its other fields, which need not be hashable."""

    node: Node
    inputs: tuple[Any, ...]
    others: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        """Whether both are of one type, and equal in all."""
        if not isinstance(other, _Same) or type(self.node) is not type(other.node):
            return False
        return self.inputs == other.inputs and self.others == other.others

    def __hash__(self) -> int:
        """By what can be hashed."""
        return hash((type(self.node), self.inputs))
