"""Binds a rule program to the catalogue: its base predicates are streams, its outputs can be read like one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyarrow import types as kinds

from skerry.catalog import Source
from skerry.deduce.checks import check, check_streams
from skerry.deduce.engine import arrow_type
from skerry.errors import InputError, RuleError
from skerry.model.expression import Expression
from skerry.model.term import Variable
from skerry.model.time import seconds
from skerry.model.types import TIMESTAMP, sql_name
from skerry.plan.deduce import Deduce
from skerry.plan.facts import Facts
from skerry.plan.node import Node
from skerry.plan.program import Atom, Checked, Column, Output, Predicate, Program, Rule, Type
from skerry.plan.project import Project
from skerry.plan.scan import Scan

__all__ = ["deduce_node"]

_SLIDE_US = seconds(1)
_TIME = "#time"
"""The column of a relation that says when its facts begin to hold."""

_FITTING: Mapping[Type, tuple[Callable[[pa.DataType], bool], str]] = {
    Type.INT: (kinds.is_integer, "INT"),
    Type.FLOAT: (lambda type_: kinds.is_integer(type_) or kinds.is_floating(type_), "DOUBLE"),
    Type.STRING: (kinds.is_string, "VARCHAR"),
    Type.BOOL: (kinds.is_boolean, "BOOLEAN"),
    Type.TIME: (lambda type_: type_ == TIMESTAMP, "TIMESTAMP"),
    Type.NODE: (lambda type_: kinds.is_integer(type_) or kinds.is_string(type_), "INT or VARCHAR"),
    Type.POINT: (kinds.is_string, "VARCHAR, as [x, y]"),
    Type.LIST: (kinds.is_string, "VARCHAR, as JSON"),
}
"""What a stream's column may be, by the type a predicate declares."""


@dataclass(frozen=True)
class _BoundPredicate:
    """A base predicate and its stream."""

    predicate: Predicate
    source: Source

    @property
    def time(self) -> str | None:
        """The column that says when a fact begins to hold."""
        if self.source.is_table:
            return None
        declared = self.predicate.time
        return self.source.event_time if declared is None else self._column(declared)

    def _column(self, index: int) -> str:
        return self.predicate.columns[index].name

    @property
    def relation(self) -> Node:
        """Its columns in the predicate's types, and its time."""
        columns = [(column.name, self._cast(column)) for column in self.predicate.columns]
        if self.time is not None:
            columns.append((_TIME, Expression.of(self.time, TIMESTAMP)))
        return Project(Scan(self.source), tuple(columns))

    def _cast(self, column: Column) -> Expression:
        """A stream's column as the engine takes it."""
        wanted, given = arrow_type(column.type), self.source.schema.field(column.name).type
        bare = Expression.of(column.name, given)
        return bare if given == wanted else Expression(f"CAST({bare.sql} AS {sql_name(wanted)})", wanted)

    @property
    def facts(self) -> Facts:
        """How the relation is read."""
        names = tuple(column.name for column in self.predicate.columns)
        time = None if self.time is None else _TIME
        return Facts(self.predicate.name, self.relation.schema, names, time, self.predicate.window_us)


def deduce_node(
    program: Program,
    output: str | None,
    find: Callable[[str], Source],
    builtins: tuple[tuple[str, ...], str] = ((), "."),
) -> Deduce:
    """Bind a program to streams, which ``find`` knows by name. ``builtins``: the modules allowed, and their folder."""
    _refuse_derived_windows(program)
    base = [predicate for predicate in check(program).predicates.values() if predicate.base]
    bound = [_bind(predicate, find(predicate.name)) for predicate in base]
    typed = {each.predicate.name: each.predicate for each in bound}
    checked = check(replace(program, predicates={**program.predicates, **typed}))
    check_streams(checked, {each.predicate.name for each in bound if not each.source.is_table})
    chosen = _output(checked, output)
    columns = checked.predicates[chosen.predicate].columns
    return Deduce(
        tuple(each.relation for each in bound),
        tuple(each.facts for each in bound),
        checked,
        chosen,
        min((each.predicate.slide_us for each in bound if each.predicate.slide_us), default=_SLIDE_US),
        pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns]),
        tuple(_lags(checked, chosen.predicate).items()),
        _shard(checked, [each.predicate.name for each in bound]),
        *builtins,
    )


def _refuse_derived_windows(program: Program) -> None:
    """Nobody says when a derived tuple leaves its window: ticks come with facts that come or leave."""
    for predicate in program.predicates.values():
        if not predicate.base and predicate.window_us is not None:
            message = f"{predicate.name!r} is derived, and over streams facts alone have windows"
            raise RuleError("E303", message, "give the base predicate a window", location=predicate.location)


def _bind(predicate: Predicate, source: Source) -> _BoundPredicate:
    """A base predicate with the types of its stream's columns: by name if it is declared, else by position."""
    if predicate.window_rows is not None:
        message = f"{predicate.name!r} counts rows; over streams a window is a time: window 60 s"
        raise RuleError("E303", message, location=predicate.location)
    if not predicate.declared:
        return _BoundPredicate(_bind_by_position(predicate, source), source)
    known = source.schema.names
    for column in predicate.columns:
        if column.name not in known:
            message = f"{predicate.name!r} declares {column.name!r}, and stream {source.name!r} has {', '.join(known)}"
            raise RuleError("E110", message, location=predicate.location)
    columns = tuple(_fit_column(predicate, column, source) for column in predicate.columns)
    found = _BoundPredicate(replace(predicate, columns=columns), source)
    _check_time(found)
    return found


def _bind_by_position(predicate: Predicate, source: Source) -> Predicate:
    if predicate.arity != len(source.schema):
        given = len(source.schema)
        message = f"{predicate.name!r} has {predicate.arity} arguments, and the stream of that name {given}"
        raise RuleError("E110", message, f"declare it: base {predicate.name}(name: type, ...)")
    columns = tuple(Column(field.name, _type_of(field.type)) for field in source.schema)
    return replace(predicate, columns=columns, declared=True)


def _fit_column(predicate: Predicate, column: Column, source: Source) -> Column:
    given = source.schema.field(column.name).type
    if column.type in (Type.NODE, Type.ANY):
        return replace(column, type=_type_of(given))
    fits, wanted = _FITTING[column.type]
    if not fits(given):
        message = f"{predicate.name}.{column.name} is declared {column.type}, which needs {wanted}; the stream has"
        raise RuleError("E110", f"{message} {sql_name(given)}", location=predicate.location)
    return column


def _type_of(type_: pa.DataType) -> Type:
    for kind in (Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIME):
        if _FITTING[kind][0](type_):
            return kind
    raise InputError(f"a rule cannot read a column of type {sql_name(type_)}; cast it in a view")


def _check_time(bound: _BoundPredicate) -> None:
    source, time = bound.source, bound.time
    if source.is_table:
        return
    if time is None:
        message = f"stream {source.name!r} does not say when its readings are"
        raise RuleError("E303", message, "declare WATERMARK FOR its time, or name the time: base p(...) time t")
    if source.event_time is not None and time != source.event_time:
        message = (
            f"{bound.predicate.name!r} goes by {time!r}, but the watermark of {source.name!r} by {source.event_time!r}"
        )
        raise RuleError("E303", message, location=bound.predicate.location)


def _output(checked: Checked, name: str | None) -> Output:
    known = [output.predicate for output in checked.outputs]
    if name is None and len(known) == 1:
        return checked.outputs[0]
    derived = [predicate for predicate in checked.predicates.values() if not predicate.base]
    shown = [predicate.name for predicate in derived if not predicate.name.startswith("$")]
    if name not in shown:
        message = "which predicate is the answer? write" if name is None else f"the rules derive no {name!r}; write"
        raise InputError(f"{message} WITH (output='...'); derived are {', '.join(shown) or 'none'}")
    return next((output for output in checked.outputs if output.predicate == name), Output(name))


def _lags(checked: Checked, output: str) -> dict[str, int]:
    """The output's columns that are times of facts, and by how much these may be older than the tick."""
    lags: dict[tuple[str, int], int | None] = {}
    for predicate in checked.predicates.values():
        for index, column in enumerate(predicate.columns):
            if column.type == Type.TIME:
                lags[predicate.name, index] = (
                    (predicate.window_us if index == predicate.time else None) if predicate.base else 0
                )
    changed = True
    while changed:
        found = lags | {at: _find_lag(checked, at, lags) for at in lags if not checked.predicates[at[0]].base}
        changed, lags = found != lags, found
    columns = checked.predicates[output].columns
    return {columns[index].name: lag for (name, index), lag in lags.items() if name == output and lag is not None}


def _find_lag(checked: Checked, at: tuple[str, int], lags: Mapping[tuple[str, int], int | None]) -> int | None:
    """The greatest over its rules; None if a rule computes it."""
    name, index = at
    found = [_lag_in(rule, index, lags) for rule in checked.rules if rule.head.predicate == name]
    known = [lag for lag in found if lag is not None]
    return max(known, default=None) if len(known) == len(found) else None


def _lag_in(rule: Rule, index: int, lags: Mapping[tuple[str, int], int | None]) -> int | None:
    wanted = rule.head.arguments[index]
    bounds = [
        lags.get((atom.predicate, at))
        for atom in rule.body
        if isinstance(atom, Atom) and not atom.negated
        for at, argument in enumerate(atom.arguments)
        if isinstance(wanted, Variable) and argument == wanted
    ]
    return min((lag for lag in bounds if lag is not None), default=None)


def _shard(checked: Checked, base: Sequence[str]) -> tuple[str, ...]:
    """By base predicate, the column of the host by which all rules hang together; nothing if they do not."""
    hosts = {name: predicate.host for name, predicate in checked.predicates.items() if predicate.host is not None}
    for _ in checked.predicates:
        for rule in checked.rules:
            _spread_hosts(rule, hosts)
    if any(not _shares_host(rule, hosts) for rule in checked.rules) or any(name not in hosts for name in base):
        return ()
    return tuple(checked.predicates[name].columns[hosts[name]].name for name in base)


def _spread_hosts(rule: Rule, hosts: dict[str, int]) -> None:
    """What a head's host is in the body, is the host there."""
    atoms = [rule.head, *(atom for atom in rule.body if isinstance(atom, Atom))]
    known = [atom.arguments[hosts[atom.predicate]] for atom in atoms if atom.predicate in hosts]
    for atom in atoms:
        if known and atom.predicate not in hosts and known[0] in atom.arguments:
            hosts[atom.predicate] = atom.arguments.index(known[0])


def _shares_host(rule: Rule, hosts: Mapping[str, int]) -> bool:
    atoms = [rule.head, *(atom for atom in rule.body if isinstance(atom, Atom))]
    if any(atom.predicate not in hosts for atom in atoms):
        return False
    found = {atom.arguments[hosts[atom.predicate]] for atom in atoms}
    return len(found) == 1 and isinstance(found.pop(), Variable)
