"""GROUP BY: which parts of a SELECT are keys, which are folds, and what is computed from them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.aggregate_calls import Call, EventTime, is_comparable, is_number, read_call
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.group_windows import find_group_window
from skerry.lang.sql.lift_windows import depends_on_window_alone, lift_windows, names_window
from skerry.lang.sql.offered_functions import check_calls_around
from skerry.lang.sql.samples import Samples, find_sample_call
from skerry.lang.sql.scalar import Scope, scalar, type_of_call
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Columns, Expression
from skerry.model.landmark import Landmark
from skerry.model.session_window import SessionWindow
from skerry.model.types import TIMESTAMP, sql_name
from skerry.model.window import WINDOW_END, WINDOW_START, GroupWindow, Window
from skerry.operators.partial_aggregate import SLICE
from skerry.plan.aggregate import Aggregate, Grouping
from skerry.plan.fold import Fold, Method
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.revised_aggregate import RevisedAggregate
from skerry.plan.sampled_aggregate import SampledAggregate
from skerry.plan.session_aggregate import SessionAggregate

__all__ = ["AggregateBinder"]

_AGGREGATES: dict[type[GroupWindow | None], Callable[..., Grouping]] = {
    Window: Aggregate,
    SessionWindow: SessionAggregate,
    Landmark: partial(RevisedAggregate, gives_changes=False),
    type(None): RevisedAggregate,
}
"""The node that groups by a kind of window."""
_NUMERIC = ("avg", "sum", "stddev_pop", "stddev_samp", "var_pop", "var_samp")
_TIME, _SENSOR = "_time", "_sensor"


class AggregateBinder:
    """Bind one aggregating SELECT.

    Keys and arguments become columns of a projection below the aggregate; what the SELECT list and
    HAVING compute from them is bound above it. The window belongs to every group, named or not. ``samples`` says what
    is to be known of the samples in each window, if anything.
    """

    def __init__(
        self, tree: exp.Select, scope: Scope, window: GroupWindow | None, samples: Samples | None = None
    ) -> None:
        self._tree, self._scope, self._laid, self._samples = tree, scope, window, samples
        self._keys: dict[str, exp.Expr] = {}
        self._arguments: dict[str, exp.Expr] = {}
        self._calls: dict[str, _BoundCall] = {}
        self._window = window
        self._collect_keys()
        having = tree.args.get("having")
        for part in [*tree.selects, *([having.this] if having else [])]:
            self._collect_folds(self._lift(part))

    def aggregate(self, node: Node, time: str | None) -> Grouping:
        """The aggregate over ``node``. Only without a window may there be no time."""
        if time is None and EventTime() in self._arguments.values():
            raise SqlError(f"{self._scope.name} has no time by which FIRST and LAST could go", location_of(self._tree))
        bound = {name: _bind_signed(tree, self._scope) for name, tree in (self._keys | self._arguments).items()}
        self._check_keys(bound)
        moment = ((_TIME, Expression.of(time, self._scope.schema.field(time).type)),) if time else ()
        folds = tuple(self._fold(name, bound) for name in self._calls)
        if self._samples:
            return self._sampled_aggregate(node, moment, bound, folds)
        below = Project(node, (*moment, *bound.items()))
        own = _TIME if time else None
        return _AGGREGATES[type(self._window)](below, self._window, own, tuple(self._keys), folds)

    def _sampled_aggregate(
        self, node: Node, moment: Columns, bound: dict[str, Expression], folds: tuple[Fold, ...]
    ) -> Grouping:
        """The aggregate that counts samples."""
        asked = self._samples
        assert asked is not None
        assert isinstance(self._window, Window)
        sensor = _bind_signed(asked.sensor, self._scope)
        if not is_comparable(sensor.type):
            raise SqlError(f"{sql_name(sensor.type)} cannot tell sensors apart; cast it", location_of(asked.sensor))
        below = Project(node, (*moment, (_SENSOR, sensor), *bound.items()))
        rates = _SENSOR, asked.period_us, asked.periods, asked.forget_us, asked.silent_rows
        return SampledAggregate(below, self._window, _TIME, tuple(self._keys), folds, *rates)

    def over_groups(self, tree: exp.Expr, schema: pa.Schema) -> Expression:
        """Bind an expression over keys, folds and the window."""
        replaced = self._lift(tree).transform(self._replace_parts)
        if self._window != self._laid:  # the group has several windows
            schema = pa.schema([field for field in schema if field.name not in (WINDOW_START, WINDOW_END)])
        return scalar(replaced, _GroupScope(self._scope, schema))

    def _lift(self, tree: exp.Expr) -> exp.Expr:
        """An expression without aggregates of the window's ends, where these are not known row by row."""
        return tree.copy() if self._scope.rewrites or not names_window(tree) else lift_windows(tree)

    def _replace_parts(self, node: exp.Expr) -> exp.Expr:
        name = self._name_of(node)
        if name is None:
            return node
        column = exp.column(name, quoted=True)
        location = next((part.meta for part in node.walk() if "line" in part.meta), {})
        column.meta.update(location)
        return column

    def _name_of(self, node: exp.Expr) -> str | None:
        """The column below which a node was computed, if it was."""
        if self._samples and (counted := find_sample_call(node)):
            return counted
        key = self._resolve(node)
        if isinstance(node, exp.Filter | exp.AggFunc):
            return next((name for name, call in self._calls.items() if self._resolve(call.tree) == key), None)
        return next((name for name, tree in self._keys.items() if self._resolve(tree) == key), None)

    def _resolve(self, node: exp.Expr) -> str:
        """A text that two spellings of one expression share."""
        return write_expression(node.unnest().copy().transform(self._spell))

    def _spell(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return node
        self._scope.check_table(node)
        if identifier(node) in (WINDOW_START, WINDOW_END):
            return exp.column(identifier(node), quoted=True)
        return exp.column(self._scope.find(node), quoted=True)

    def _collect_keys(self) -> None:
        group = self._tree.args.get("group")
        if group and any(group.args.get(kind) for kind in ("cube", "rollup", "grouping_sets", "all", "totals")):
            raise SqlError("GROUP BY takes a list of expressions", location_of(group))
        of_window: list[exp.Expr] = []
        for part in group.expressions if group else []:
            if isinstance(part, exp.Cube | exp.Rollup | exp.GroupingSets):
                raise SqlError("GROUP BY takes a list of expressions", location_of(part))
            tree = self._resolve_group_part(part)
            if tree.find(exp.AggFunc):
                raise SqlError("GROUP BY cannot hold an aggregate", location_of(part))
            if depends_on_window_alone(tree):
                self._resolve(tree)
                of_window.append(tree)
            else:
                self._keys.setdefault(self._key_name(tree), tree)
        # Joined readings stay as long as the window that was laid, so that a longer one cannot take its place.
        self._window = find_group_window(of_window, self._laid, is_fixed=WINDOW_START not in self._scope.rewrites)
        if self._window != self._laid:
            for tree in of_window:
                self._keys.setdefault(self._key_name(tree), tree)

    def _key_name(self, tree: exp.Expr) -> str:
        """The column's own name where it cannot be taken for one of ours."""
        name = self._scope.find(tree) if isinstance(tree, exp.Column) and not tree.find(exp.Star) else ""
        own = re.fullmatch("[a-z][a-z0-9_]*", name) and name not in (SLICE, WINDOW_START, WINDOW_END)
        return name if own else f"_key{len(self._keys)}"

    def _check_keys(self, bound: dict[str, Expression]) -> None:
        for name, tree in self._keys.items():
            type_ = bound[name].type
            if not is_comparable(type_):
                instead = _write_comparable(tree, type_, "VARCHAR")
                raise SqlError(f"GROUP BY cannot compare {sql_name(type_)}; write {instead}", location_of(tree))

    def _resolve_group_part(self, part: exp.Expr) -> exp.Expr:
        """What a part of GROUP BY stands for: a position in the SELECT list, one of its aliases, or itself."""
        if isinstance(part, exp.Literal) and not part.is_string:
            position = int(part.name) if part.name.isdigit() else 0
            if not 1 <= position <= len(self._tree.selects):
                raise SqlError(
                    f"GROUP BY {part.name} is outside the {len(self._tree.selects)} columns", location_of(part)
                )
            return self._tree.selects[position - 1].unalias()
        if isinstance(part, exp.Column) and not part.table and not self._scope.has(part):
            for chosen in self._tree.selects:
                if isinstance(chosen, exp.Alias) and identifier(chosen.args["alias"]) == identifier(part):
                    return chosen.this
        return part

    def _collect_folds(self, part: exp.Expr) -> None:
        for node in part.find_all(exp.AggFunc):
            whole = node.parent if isinstance(node.parent, exp.Filter) else node
            if node.find_ancestor(exp.AggFunc):
                raise SqlError("an aggregate cannot hold another", location_of(node))
            if self._name_of(whole):
                continue
            call = read_call(node, whole, self._scope)
            names = tuple(self._name_argument(tree) for tree in call.arguments)
            where = self._name_argument(call.where) if call.where is not None else None
            self._calls[f"_fold{len(self._calls)}"] = _BoundCall(whole, call, names, where)

    def _name_argument(self, tree: exp.Expr) -> str:
        """The column of the projection below that holds an argument."""
        if isinstance(tree, EventTime):
            return _TIME
        text = self._resolve(tree)
        same = [name for name, known in self._arguments.items() if self._resolve(known) == text]
        name = same[0] if same else f"_argument{len(self._arguments)}"
        self._arguments[name] = tree
        return name

    def _fold(self, name: str, bound: dict[str, Expression]) -> Fold:
        given = self._calls[name]
        call, types = given.call, [TIMESTAMP if each == _TIME else bound[each].type for each in given.names]
        _check_types(call, types, given.tree)
        text, answer = call.text, None
        if text:
            columns = pa.schema([pa.field(f"c{number}", type_) for number, type_ in enumerate(types)])
            text, answer = type_of_call(text, columns, given.tree)
        return Fold(
            call.function,
            given.names[0] if given.names else None,
            types[0] if types else None,
            name,
            call.method,
            tuple(zip(given.names[1:], types[1:], strict=True)),
            call.order,
            given.where,
            call.keeps_null,
            text,
            call.settings,
            answer,
        )


@dataclass(frozen=True)
class _BoundCall:
    """A call, and the columns of the projection below that hold its arguments."""

    tree: exp.Expr
    call: Call
    names: tuple[str, ...]
    where: str | None


def _check_types(call: Call, types: Sequence[pa.DataType], tree: exp.Expr) -> None:
    """Refuse values that a function does not take."""
    if not types or call.function == "count" or call.method in (Method.CHOSEN, Method.COLLECTED):
        return
    spelled, type_ = call.function.upper().replace("_DISTINCT", " DISTINCT"), types[0]
    if call.function in _NUMERIC and not is_number(type_):
        is_nested = pa.types.is_nested(type_)
        instead = "" if is_nested else f"; write {spelled}({_write_comparable(call.arguments[0], type_, 'DOUBLE')})"
        raise SqlError(f"{spelled} needs a number, got {sql_name(type_)}{instead}", location_of(tree))
    if not is_comparable(type_):
        instead = _write_comparable(call.arguments[0], type_, "VARCHAR")
        raise SqlError(f"{spelled} of {sql_name(type_)} is not available; write {instead} in it", location_of(tree))


def _write_comparable(tree: exp.Expr, type_: pa.DataType, other: str) -> str:
    """A value as a number or a text: a time or a span by its seconds."""
    written = write_expression(tree)
    return f"epoch({written})" if pa.types.is_temporal(type_) else f"CAST({written} AS {other})"


def _bind_signed(tree: exp.Expr, scope: Scope) -> Expression:
    """A key or an argument, in a type that the kernels know: they have no numbers without a sign."""
    bound = scalar(tree, scope)
    if not pa.types.is_unsigned_integer(bound.type):
        return bound
    return scalar(exp.cast(tree.copy(), "DECIMAL(20, 0)" if bound.type == pa.uint64() else "BIGINT"), scope)


class _GroupScope(Scope):
    """What may be named above an aggregate."""

    def __init__(self, below: Scope, schema: pa.Schema) -> None:
        super().__init__(below.name, schema)
        self._below = below

    def check_table(self, column: exp.Column) -> None:
        """What may be written before a column is what may be below."""
        self._below.check_table(column)

    def find(self, column: exp.Column) -> str:
        """A key, a fold or the window's ends; a column of the stream is told apart from a misspelling."""
        try:
            return super().find(column)
        except UnknownColumn:
            self._below.find(column)
            check_calls_around(column)
            message = f"column {column.name!r} must stand in GROUP BY or inside an aggregate"
            raise SqlError(message, location_of(column)) from None
