"""Checks that values fit the columns, parameters and operators that they are used in. E110."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from skerry.deduce.checks.infer_types import Typing
from skerry.deduce.rule_text import write_term
from skerry.deduce.values import coerce, kind
from skerry.errors import RuleError
from skerry.model.term import Arithmetic, Call, Constant, Duration, Term, Terms, Variable
from skerry.plan.program import Aggregate, Atom, Builtin, Comparison, Function, Predicate, Rule, Subgoal, Type

__all__ = ["check_types", "fit_constants", "meet"]

_NUMBERS = (Type.INT, Type.TIME, Type.FLOAT)
_OPEN = (Type.ANY, Type.NODE)
_FIT = {
    (Type.INT, Type.FLOAT),
    (Type.INT, Type.TIME),
    (Type.INT, Type.NODE),
    (Type.TIME, Type.INT),
    (Type.TIME, Type.FLOAT),
    (Type.NODE, Type.INT),
    (Type.NODE, Type.STRING),
    (Type.STRING, Type.NODE),
    (Type.LIST, Type.POINT),
    (Type.POINT, Type.LIST),
}


def check_types(rules: tuple[Rule, ...], typing: Typing, functions: Mapping[str, Function]) -> None:
    """Refuse what can never match or never be kept."""
    for predicate in typing.predicates.values():
        _check_limits(predicate)
    for rule in rules:
        _Rule(rule, typing, functions).check()


def fit_constants(rule: Rule, predicates: Mapping[str, Predicate]) -> Rule:
    """A rule whose atoms ask for values as their columns hold them: a float for 1, a point for [1, 2]."""
    body = (_fit_atom(each, predicates) if isinstance(each, Atom) else each for each in rule.body)
    return replace(rule, body=tuple(body))


def _fit_atom(atom: Atom, predicates: Mapping[str, Predicate]) -> Atom:
    arguments = []
    for column, argument in zip(predicates[atom.predicate].columns, atom.arguments, strict=True):
        value = coerce(argument.value, column.type) if isinstance(argument, Constant) else None
        arguments.append(argument if value is None else Constant(value))
    return replace(atom, arguments=tuple(arguments))


def _check_limits(predicate: Predicate) -> None:
    for column_index in predicate.limits:
        column = predicate.columns[column_index]
        if column.type not in (*_NUMBERS, Type.LIST, Type.ANY):
            message = f"a limit is for numbers and lists; {column.name!r} is of type {column.type}"
            raise RuleError("E110", message, "limit another column", None, predicate.location)


class _Rule:
    def __init__(self, rule: Rule, typing: Typing, functions: Mapping[str, Function]) -> None:
        self._rule, self._typing, self._functions = rule, typing, functions
        self._known = typing.variables[rule.number]

    def check(self) -> None:
        self._head()
        self._joins()
        for subgoal in self._rule.body:
            self._subgoal(subgoal)

    def _head(self) -> None:
        predicate = self._typing.predicates[self._rule.head.predicate]
        for column, argument in zip(predicate.columns, self._rule.head.arguments, strict=True):
            if isinstance(argument, Aggregate):
                self._aggregate(argument)
            found = self._type(argument)
            if predicate.declared and not _fits(found, column.type):
                message = (
                    f"column {column.name!r} of {predicate.name!r} is {column.type}, {self._write(argument)} is {found}"
                )
                raise self._make_error(
                    message, f"declare {column.name}: {found}, or give it {column.type} values", self._rule.head
                )

    def _aggregate(self, aggregate: Aggregate) -> None:
        found = self._type(aggregate.argument) if aggregate.argument else Type.ANY
        if aggregate.function in ("sum", "avg", "var") and found not in (*_NUMBERS, *_OPEN):
            message = f"{aggregate.function} is for numbers, {self._write(aggregate.argument)} is {found}"
            raise self._make_error(message, "gather a number", self._rule.head)

    def _joins(self) -> None:
        """A variable that stands in two declared columns whose types share no value can never be bound."""
        seen: dict[Variable, tuple[str, Type]] = {}
        for atom, column, argument in self._list_declared():
            if isinstance(argument, Variable):
                before, first = seen.setdefault(argument, (f"{atom.predicate}.{column[0]}", column[1]))
                if not meet(first, column[1]):
                    here = f"{column[1]} in {atom.predicate}.{column[0]}"
                    message = f"{self._write(argument)} is {first} in {before} and {here}"
                    raise self._make_error(message, "use two variables", atom)
            elif isinstance(argument, Constant | Terms) and not meet(self._type(argument), column[1]):
                message = f"column {column[0]!r} of {atom.predicate!r} is {column[1]}, not {self._type(argument)}"
                raise self._make_error(message, f"write {column[1]} values there", atom)

    def _list_declared(self) -> Iterator[tuple[Atom, tuple[str, Type], Term | Aggregate]]:
        for atom in self._rule.body:
            if isinstance(atom, Atom) and self._typing.predicates[atom.predicate].declared:
                columns = self._typing.predicates[atom.predicate].columns
                for column, argument in zip(columns, atom.arguments, strict=True):
                    yield atom, (column.name, column.type), argument

    def _subgoal(self, subgoal: Subgoal) -> None:
        if isinstance(subgoal, Builtin):
            self._call(subgoal, subgoal)
        if isinstance(subgoal, Comparison):
            for side in (subgoal.left, subgoal.right):
                self._expression(side, subgoal)

    def _expression(self, term: Term, at: Subgoal) -> None:
        if isinstance(term, Call):
            self._call(term, at)
        if isinstance(term, Arithmetic):
            sides = (term.left, term.right)
            texts = term.operator == "+" and all(self._type(side) in (Type.STRING, *_OPEN) for side in sides)
            for side in sides:
                self._expression(side, at)
                if self._type(side) not in (*_NUMBERS, *_OPEN) and not texts:
                    use = "numbers, or two texts" if term.operator == "+" else "numbers"
                    message = f"{self._write(side)} is {self._type(side)}: {term.operator} is for {use}"
                    raise self._make_error(message, f"compute with {use}", at)

    def _call(self, call: Call | Builtin, at: Subgoal) -> None:
        for argument, wanted in zip(call.arguments, self._functions[call.name].parameters, strict=True):
            found = self._type(argument)
            if not _fits(found, wanted):
                message = f"{call.name!r} takes {wanted}, {self._write(argument)} is {found}"
                raise self._make_error(message, f"hand over {wanted} values", at)

    def _type(self, term: Term | Aggregate) -> Type:
        match term:
            case Variable():
                return self._known.get(term, Type.ANY)
            case Constant(value):
                return kind(value)
            case Duration():
                return Type.INT
            case Terms(_, None, _):
                return Type.LIST
            case Arithmetic("+", left, right) if self._type(left) is self._type(right) is Type.STRING:
                return Type.STRING
            case Aggregate("count" | "count_distinct", _):
                return Type.INT
            case Aggregate("avg" | "var", _):
                return Type.FLOAT
            case Aggregate("collect", _):
                return Type.LIST
            case Aggregate(_, argument) if argument is not None:
                return self._type(argument)
        return Type.ANY

    def _write(self, term: Term | Aggregate | None) -> str:
        """A term as the user wrote it: computed ones have no name of their own."""
        text = write_term(term) if term else "*"
        return "a computed value" if text.startswith("$") else repr(text) if isinstance(term, Variable) else text

    def _make_error(self, message: str, fix: str, at: Subgoal) -> RuleError:
        return RuleError("E110", message, fix, self._rule.number, at.location or self._rule.location)


def _fits(found: Type, wanted: Type) -> bool:
    return found is wanted or Type.ANY in (found, wanted) or (found, wanted) in _FIT


def meet(first: Type, second: Type) -> bool:
    """Whether two columns of these types can hold the same value."""
    return _fits(first, second) or _fits(second, first) or (first in _NUMBERS and second in _NUMBERS)
