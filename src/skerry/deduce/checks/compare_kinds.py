"""Refuses comparisons of values that are never of one kind: they would be false in silence, and ``!=`` true. E110."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from skerry.deduce.checks.check_types import meet
from skerry.deduce.checks.infer_types import Typing, infer_types, union
from skerry.deduce.rule_text import write_original, write_term
from skerry.deduce.values import Row, kind
from skerry.errors import RuleError
from skerry.model.term import Arithmetic, Call, Constant, Duration, Term, Terms, Value, Variable
from skerry.plan.program import Atom, Checked, Column, Comparison, Function, Predicate, Rule, Type

__all__ = ["check_kinds", "check_kinds_of_facts"]

_OPEN = (Type.ANY, Type.NODE)
_ADDED = ("$may ", "$needs ")
"""Predicates that the checks add for rules which have been looked at."""


def check_kinds(rules: Iterable[Rule], typing: Typing, functions: Mapping[str, Function]) -> None:
    """Refuse the first comparison whose sides are known to be of two kinds."""
    for rule in rules:
        _Rule(rule, typing, functions).check(lambda _: True)


def check_kinds_of_facts(checked: Checked, facts: Mapping[str, Sequence[Row]]) -> None:
    """The same with the kinds that facts have, where a program leaves them open.

    What only facts say is held against order and against values written down. Whether two columns are equal may be
    asked of any.
    """
    rules = [rule for rule in checked.rules if not rule.head.predicate.startswith(_ADDED)]
    if not any(_is_certain(each) for rule in rules for each in rule.body if isinstance(each, Comparison)):
        return
    bases = {name: _narrow(each, facts.get(name, ())) for name, each in checked.predicates.items() if each.base}
    known = {name: each for name, each in checked.predicates.items() if not name.startswith(_ADDED)}
    typing = infer_types({**known, **bases}, rules, checked.program.functions)
    for rule in rules:
        _Rule(rule, typing, checked.program.functions).check(_is_certain)


def _is_certain(comparison: Comparison) -> bool:
    return comparison.operator not in ("=", "!=") or Constant in (type(comparison.left), type(comparison.right))


def _narrow(predicate: Predicate, rows: Sequence[Row]) -> Predicate:
    """A predicate with the types that its facts have; so for the time of this check it is declared."""
    columns = tuple(
        _narrow_column(column, (row[index] for row in rows)) for index, column in enumerate(predicate.columns)
    )
    return replace(predicate, columns=columns, declared=True)


def _narrow_column(column: Column, values: Iterable[Value]) -> Column:
    if column.type not in _OPEN:
        return column
    found: Type | None = None
    for example in {type(value): value for value in values}.values():
        found = union(found, kind(example))
    return replace(column, type=found or Type.ANY)


class _Rule:
    def __init__(self, rule: Rule, typing: Typing, functions: Mapping[str, Function]) -> None:
        self._rule, self._functions = rule, functions
        self._types: dict[Variable, Type | None] = {}
        for atom in rule.body:
            if isinstance(atom, Atom) and not atom.negated:
                for column, argument in zip(typing.predicates[atom.predicate].columns, atom.arguments, strict=True):
                    if isinstance(argument, Variable):
                        self._types[argument] = union(self._types.get(argument), column.type)
        self._types = {**typing.variables[rule.number], **self._types}

    def check(self, asked: Callable[[Comparison], bool]) -> None:
        """Look at all comparisons that are asked for."""
        for subgoal in self._rule.body:
            if isinstance(subgoal, Comparison) and asked(subgoal):
                left, right = self._type(subgoal.left), self._type(subgoal.right)
                if not meet(left, right):
                    raise self._make_error(subgoal, left, right)

    def _type(self, term: Term) -> Type:
        match term:
            case Variable():
                return self._types.get(term) or Type.ANY
            case Constant(value):
                return kind(value)
            case Duration():
                return Type.INT
            case Terms(_, None, _):
                return Type.LIST
            case Call(name, _):
                return self._functions[name].result or Type.ANY
            case Arithmetic("+", left, right):
                both = union(self._type(left), self._type(right)) or Type.ANY
                return both if both in (Type.STRING, Type.INT, Type.TIME, Type.FLOAT) else Type.ANY
            case Arithmetic():
                return Type.FLOAT
        return Type.ANY

    def _make_error(self, comparison: Comparison, left: Type, right: Type) -> RuleError:
        text = write_original(comparison, self._rule)
        sides = [f"{_write(side)} is {type_}" for side, type_ in ((comparison.left, left), (comparison.right, right))]
        message = f"{text} compares two kinds: {', '.join(sides)}"
        location = comparison.location or self._rule.location
        return RuleError("E110", message, "compare values of one kind", self._rule.number, location)


def _write(term: Term) -> str:
    text = write_term(term)
    return "what is computed" if isinstance(term, Arithmetic | Call) or text.startswith("$") else text
