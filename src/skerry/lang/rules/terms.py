"""Trees of terms and subgoals into the words of a rule, names resolved."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from lark import Token, Tree

from skerry.errors import Location, RuleError
from skerry.lang.rules.ranges import PLACEHOLDER
from skerry.lang.rules.syntax import Syntax, location_of
from skerry.model.term import Arithmetic, Call, Compound, Constant, Duration, Term, Terms, Value, Variable
from skerry.plan.program import AGGREGATES, Aggregate, Atom, Builtin, Comparison, Function, Subgoal

__all__ = ["MOST_COLUMNS", "UNITS", "Names", "Reader", "microseconds", "text_of", "token_location", "tokens", "whole"]

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "day": 86_400_000_000}
MOST_COLUMNS = 256
_TRUTH = {"TRUE": True, "true": True, "FALSE": False, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_MOST_DIGITS = 20  # more than 64 bits can hold: what follows need not be read


@dataclass(frozen=True)
class Names:
    """What a program has declared, apart from predicates."""

    functions: Mapping[str, Function] = field(default_factory=dict)
    functors: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)


def text_of(token: Token) -> str:
    r"""What a text in quotes says.

    >>> text_of(Token("STRING", r"'it\'s'"))
    "it's"
    """
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1])


def whole(token: Token, what: str) -> int:
    """A number that must be whole."""
    value = _number(token, token_location(token))
    if isinstance(value, float) or value > _GREATEST:
        raise RuleError("E001", f"{what} is a whole number of 64 bits, got {token}", "", None, token_location(token))
    return value


def token_location(token: Token) -> Location:
    """Where a token begins."""
    return Location(token.line or 1, token.column or 1)


def microseconds(number: Token, unit: Token) -> int:
    """A length of time in words: ``5 s``."""
    location = token_location(number)
    if unit not in UNITS:
        raise RuleError("E001", f"unknown unit of time {str(unit)!r}", f"known: {', '.join(UNITS)}", None, location)
    span = _number(number, location) * UNITS[unit]
    if not span < _GREATEST:
        raise RuleError("E001", f"{number} {unit} is beyond 64 bits of microseconds", "", None, location)
    return round(span)


@dataclass(frozen=True)
class Reader:
    """Reads the terms of one rule, or of a declaration if there is no rule number."""

    names: Names
    location: Location
    rule: int | None = None

    def term(self, tree: Syntax) -> Term:
        """A term; lists and function symbols without variables are one constant."""
        match tree.data:
            case "number":
                return self._constant(_number(_token(tree), self.location))
            case "duration":
                return Duration(microseconds(_token(tree), _token(tree, 1)))
            case "string":
                return Constant(text_of(_token(tree)))
            case "name":
                return self._resolve(str(tree.children[0]))
            case "negative":
                return self._negative(_branch(tree))
            case "sum" | "product":
                return Arithmetic(str(tree.children[1]), self.term(_branch(tree)), self.term(_branch(tree, 2)))
            case "list":
                return self._list(tree)
            case "application":
                return self._application(tree)
        raise self.make_error("E001", "an aggregate stands in a head, and not inside another term", "", tree)

    def head(self, tree: Syntax) -> Atom:
        """What a rule derives."""
        self._width(tree)
        if tree.data == "name":
            return Atom(str(tree.children[0]), (), location=location_of(tree, self.location))
        name = str(tree.children[0])
        if name in self.names.functions:
            raise self.make_error("E003", f"{name!r} is a built-in and cannot be derived", "rename one of them", tree)
        arguments = tuple(map(self._head_argument, _branches(tree)))
        return Atom(name, arguments, location=location_of(tree, self.location))

    def subgoals(self, tree: Syntax) -> Iterator[Subgoal]:
        """What a part of a body asks; ``a < b < c`` asks two things."""
        match tree.data:
            case "comparison":
                yield from self._comparisons(tree)
            case "ranged":
                yield self._range(self.term(_branch(tree)), _branch(tree, 2), tree)
            case "negated":
                yield self._subgoal(tree.children[-1], negated=True)
            case _:
                yield self._subgoal(tree.children[0], negated=False)

    def make_error(self, code: str, message: str, fix: str, tree: Syntax) -> RuleError:
        """An error at a tree."""
        return RuleError(code, message, fix, self.rule, location_of(tree, self.location))

    def _range(self, value: Term, tree: Syntax, whole: Syntax) -> Atom:
        """A number of a range, to be spelled out as a predicate of its own."""
        ends = [self.term(part) for part in _branches(tree)]
        if tree.data != "application" or len(ends) not in (2, 3):
            raise self.make_error("E110", "a range has two ends, and perhaps a step", "write range(1, 10)", tree)
        low, high, step = (*ends, Constant(1))[:3]
        return Atom(PLACEHOLDER, (low, high, step, value), location=location_of(whole, self.location))

    def _is_range(self, tree: Syntax) -> bool:
        named = tree.data == "application" and str(tree.children[0]) == "range"
        return named and "range" not in {**self.names.functions, **self.names.functors}

    def _comparisons(self, tree: Syntax) -> Iterator[Subgoal]:
        if len(tree.children) == 3 and str(_branch(tree, 1).children[0]) == "=":
            for one, other in ((0, 2), (2, 0)):
                if self._is_range(_branch(tree, other)):
                    yield self._range(self.term(_branch(tree, one)), _branch(tree, other), tree)
                    return
        sides = [self.term(child) for child in _branches(tree) if child.data != "comparator"]
        operators = [str(child.children[0]) for child in _branches(tree) if child.data == "comparator"]
        for operator, (left, right) in zip(operators, pairwise(sides), strict=True):
            yield Comparison(operator, left, right, location_of(tree, self.location))

    def _subgoal(self, tree: Syntax | Token, *, negated: bool) -> Subgoal:
        assert isinstance(tree, Tree)
        if tree.data not in ("name", "application") or str(tree.children[0]) in _TRUTH:
            raise self.make_error("E001", "a value is no subgoal", "compare it, or ask a predicate", tree)
        self._width(tree)
        name, location = str(tree.children[0]), location_of(tree, self.location)
        if name in ("NOT", "not") and any(part.data == "application" for part in _branches(tree)):
            fix = "write NOT q(x), without parentheses around it"
            raise self.make_error("E001", f"{name} is no predicate", fix, tree)
        function = self.names.functions.get(name)
        if function is None:
            return Atom(name, tuple(map(self.term, _branches(tree))), negated, location)
        if function.result is not None:
            raise self.make_error("E003", f"built-in function {name!r} gives a value", "compare it with another", tree)
        self._count(name, len(function.parameters), tree)
        return Builtin(name, tuple(map(self.term, _branches(tree))), negated, location)

    def _head_argument(self, tree: Syntax) -> Term | Aggregate:
        if tree.data != "aggregate":
            return self.term(tree)
        name, argument = str(tree.children[0]), tree.children[1]
        if name not in AGGREGATES:
            raise self.make_error("E003", f"unknown aggregate {name!r}", f"known: {', '.join(AGGREGATES)}", tree)
        if isinstance(argument, Tree):
            return Aggregate(name, self.term(argument))
        if name != "count":
            raise self.make_error("E001", f"{name}<*> means nothing", f"name what to gather: {name}<v>", tree)
        return Aggregate(name, None)

    def _resolve(self, name: str) -> Term:
        if name in _TRUTH:
            return Constant(_TRUTH[name])
        return Constant(self.names.constants[name]) if name in self.names.constants else Variable(name)

    def _constant(self, value: int | float) -> Constant:
        if isinstance(value, int) and not _LEAST <= value <= _GREATEST:
            raise RuleError("E001", "a whole number is beyond 64 bits", "write a float: 1e20", self.rule, self.location)
        return Constant(value)

    def _negative(self, tree: Syntax) -> Term:
        if tree.data == "number":
            return self._constant(-_number(_token(tree), self.location))
        return Arithmetic("-", Constant(0), self.term(tree))

    def _list(self, tree: Syntax) -> Term:
        items = _branches(tree)
        if not items or items[-1].data != "front":
            return _fold_constant(Terms(tuple(map(self.term, items))))
        front = self.term(items[0])
        if len(items) != 2 or not isinstance(front, Variable):
            fix = "write [X|R]: X all but the last element, R the last"
            raise self.make_error("E001", "before | stands one variable, for the head of the list", fix, tree)
        return Terms(tuple(map(self.term, _branches(items[1]))), front=front)

    def _application(self, tree: Syntax) -> Term:
        name = str(tree.children[0])
        if name in self.names.functors:
            self._count(name, self.names.functors[name], tree)
            return _fold_constant(Terms(tuple(map(self.term, _branches(tree))), name))
        function = self.names.functions.get(name)
        if function is None and name.lower() in AGGREGATES:
            inside = ", ".join(str(part.children[0]) for part in _branches(tree) if part.data == "name") or "*"
            fix = f"write {name.lower()}<{inside}>, in a head"
            raise self.make_error("E003", f"{name!r} is an aggregate", fix, tree)
        if function is None or function.result is None:
            known = sorted({*self.names.functors, *(f.name for f in self.names.functions.values() if f.result)})
            fix = f"declared are {', '.join(known)}" if known else "declare it: functor, or builtin function"
            raise self.make_error("E003", f"{name!r} is no declared function or functor", fix, tree)
        self._count(name, len(function.parameters), tree)
        return Call(name, tuple(map(self.term, _branches(tree))))

    def _width(self, tree: Syntax) -> None:
        if len(tree.children) > MOST_COLUMNS + 1:
            raise self.make_error("E002", f"a predicate may have {MOST_COLUMNS} columns", "put some into a list", tree)

    def _count(self, name: str, wanted: int, tree: Syntax) -> None:
        got = len(_branches(tree))
        if got != wanted:
            raise self.make_error("E110", f"{name!r} takes {wanted} arguments, got {got}", "", tree)


def _fold_constant(term: Terms) -> Term:
    values = [item.value for item in term.items if isinstance(item, Constant)]
    if len(values) < len(term.items):
        return term
    return Constant(tuple(values) if term.name is None else Compound(term.name, tuple(values)))


def _number(token: Token, location: Location) -> int | float:
    if token.isdecimal():
        return int(token.lstrip("0")[:_MOST_DIGITS] or "0")
    value = float(token)
    if value == float("inf"):
        raise RuleError("E001", f"{token} is too large for a float", "", None, location)
    return value


def _token(tree: Syntax, position: int = 0) -> Token:
    token = tree.children[position]
    assert isinstance(token, Token)
    return token


def _branch(tree: Syntax, position: int = 0) -> Syntax:
    branch = tree.children[position]
    assert isinstance(branch, Tree)
    return branch


def _branches(tree: Syntax) -> list[Syntax]:
    return [child for child in tree.children if isinstance(child, Tree)]


def tokens(children: Iterable[Syntax | Token]) -> list[Token]:
    """The tokens among them."""
    return [child for child in children if isinstance(child, Token)]
