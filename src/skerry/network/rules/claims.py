"""A claim: that a derivation is in force, as far as somebody knows. It travels to the home of what it derives.

On its way it stops at the home of each tuple that is denied, which passes it on while that does not hold. Whoever
passes a claim on counts its versions up, and a receiver ignores older ones: so duplicates and reordering change
nothing.
"""

from dataclasses import dataclass
from typing import Any, cast

from skerry.deduce.aggregates import NUMERIC
from skerry.deduce.evaluate import Binding, Evaluator
from skerry.deduce.values import Row, coerce, row_key
from skerry.model.term import Term, Value
from skerry.network.rules.homes import find_home
from skerry.network.rules.join import Found
from skerry.network.rules.node_program import Denial, DerivationKey, NodeProgram, NodeRule, Schema
from skerry.network.rules.packing import pack, unpack
from skerry.plan.program import Aggregate, Atom, Type

__all__ = ["FIRST", "LAST", "Claim", "Stop", "make_claim", "read_claim"]

FIRST, LAST = 1, 2
"""The versions of a derivation where it is joined: it comes into force once, and goes once."""


@dataclass(frozen=True)
class Stop:
    """Where a claim is heard: the home of what is denied, or of what is derived, and the tuple that it is about.

    An open denial is about many tuples: ``denial`` is its position in the rule, and ``row`` has what is given.
    """

    home: int
    predicate: str
    row: Row
    denial: int | None = None

    def to_plain(self) -> tuple[Any, ...]:
        """As plain data, for a message."""
        return (self.home, self.predicate, pack(self.row), self.denial)


def _read_stop(plain: tuple[Any, ...]) -> Stop:
    home, predicate, row, denial = plain
    return Stop(home, predicate, unpack(row), denial)


@dataclass(frozen=True)
class Claim:
    """A derivation on its way: ``stops`` are the denials that are still ahead, then the head.

    ``expiry_us`` is when the first of its tuples ceases to count, by the clock.
    """

    key: DerivationKey
    stops: tuple[Stop, ...]
    version: int
    in_force: bool
    expiry_us: int | None

    @property
    def head(self) -> Stop:
        """What it derives."""
        return self.stops[-1]

    def to_plain(self) -> tuple[Any, ...]:
        """As plain data, for a message."""
        stops = tuple(stop.to_plain() for stop in self.stops)
        return (self.key, stops, self.version, self.in_force, self.expiry_us)


def read_claim(plain: tuple[Any, ...]) -> Claim:
    """A claim from plain data."""
    key, stops, version, in_force, expiry_us = plain
    return Claim(key, tuple(map(_read_stop, stops)), version, in_force, expiry_us)


def make_claim(rule: NodeRule, found: Found, program: NodeProgram, evaluator: Evaluator) -> Claim | None:
    """What follows from a rule's joined tuples; None if a term has no value, or a limit cuts it off."""
    schema = program.schemas[rule.head.predicate]
    head = _contribute(rule.head, schema, found.binding, evaluator)
    if head is None or (not rule.aggregates and schema.exceeds_limit(head)):
        return None
    stops: list[Stop] = []
    for number, denial in enumerate(rule.denials):
        if denial.is_open:
            stops.append(_stop_at_open(number, denial, found.binding, program, evaluator))
            continue
        asked = program.schemas[denial.atom.predicate]
        row = evaluator.row(cast(tuple[Term, ...], denial.atom.arguments), found.binding)
        if row is None or _is_known(row, asked):
            return None
        fitted = _fit_asked(row, asked)
        if fitted is not None and asked.known is None:
            stops.append(Stop(find_home(asked, fitted, program.motes), asked.name, fitted))
    stops.append(Stop(find_home(schema, head, program.motes), schema.name, head))
    ends = [end for end in (found.expiry_us, _find_end(head, schema, program)) if end is not None]
    return Claim((rule.number, found.ids), tuple(stops), FIRST, True, min(ends, default=None))


def _stop_at_open(number: int, denial: Denial, binding: Binding, program: NodeProgram, evaluator: Evaluator) -> Stop:
    schema, terms = program.schemas[denial.atom.predicate], cast(tuple[Term, ...], denial.atom.arguments)
    columns = schema.keys if schema.host is None else (schema.host,)
    values = {column: evaluator.value(terms[column], binding) for column in columns}
    row = tuple(cast(Value, values.get(column, 0)) for column in range(len(terms)))
    given = tuple(binding[name] for name in denial.given or ())
    return Stop(find_home(schema, row, program.motes), schema.name, given, number)


def _find_end(head: Row, schema: Schema, program: NodeProgram) -> int | None:
    """When the head leaves the window of its own predicate."""
    if schema.span is None or schema.time is None:
        return None
    time = head[schema.time]
    return program.calendar.find_expiry(time + schema.span) if isinstance(time, int) else None


def _contribute(atom: Atom, schema: Schema, binding: Binding, evaluator: Evaluator) -> Row | None:
    """The head's row; where it aggregates, what goes into the aggregates."""
    row: list[Value] = []
    for argument, kind in zip(atom.arguments, schema.types, strict=True):
        if isinstance(argument, Aggregate):
            value = 1 if argument.argument is None else evaluator.value(argument.argument, binding)
            value = value if argument.function not in NUMERIC or type(value) in (int, float) else None
        else:
            value = evaluator.value(argument, binding)
            value = None if value is None else coerce(value, kind)
        if value is None:
            return None
        row.append(value)
    return tuple(row)


def _is_known(row: Row, schema: Schema) -> bool:
    return schema.known is not None and row_key(row) in map(row_key, schema.known)


def _fit_asked(row: Row, schema: Schema) -> Row | None:
    """A negated atom's row as its predicate would hold it; None if it cannot."""
    fitted: list[Value] = []
    for value, kind in zip(row, schema.types, strict=True):
        whole = isinstance(value, float) and value.is_integer() and kind in (Type.INT, Type.TIME, Type.NODE)
        found = int(value) if whole and isinstance(value, float) else coerce(value, kind)
        if found is None:
            return None
        fitted.append(found)
    return tuple(fitted)
