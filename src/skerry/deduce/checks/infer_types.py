"""What each column and each variable holds, found from declarations, constants and arithmetic. E110.

Declared columns are as declared. Columns of undeclared derived predicates hold what their rules put there; those of
undeclared base predicates what the rules expect of them, and if that is nothing, anything. Whole numbers where others
are floats are floats; other conflicts between undeclared columns give ``any``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skerry.deduce.values import kind
from skerry.model.term import Arithmetic, Call, Constant, Duration, Term, Terms, Variable, variables
from skerry.plan.program import Aggregate, Atom, Builtin, Column, Comparison, Function, Predicate, Rule, Type

__all__ = ["Typing", "infer_types", "kind", "union"]

Environment = dict[Variable, Type | None]
_ColumnKey = tuple[str, int]
"""A predicate and the index of a column."""

_NUMBERS = (Type.INT, Type.TIME, Type.FLOAT)
_UNIONS = {
    frozenset({Type.INT, Type.FLOAT}): Type.FLOAT,
    frozenset({Type.TIME, Type.FLOAT}): Type.FLOAT,
    frozenset({Type.INT, Type.TIME}): Type.TIME,
    frozenset({Type.INT, Type.NODE}): Type.NODE,
    frozenset({Type.STRING, Type.NODE}): Type.NODE,
    frozenset({Type.LIST, Type.POINT}): Type.LIST,
}


@dataclass(frozen=True)
class Typing:
    """The types of a program: its predicates, and by rule number those of the variables."""

    predicates: Mapping[str, Predicate]
    variables: Mapping[int, Mapping[Variable, Type]]


def infer_types(
    predicates: Mapping[str, Predicate], rules: Sequence[Rule], functions: Mapping[str, Function]
) -> Typing:
    """Find the type of everything."""
    search = _Search(predicates, rules, functions)
    search.run()
    search.open_ends()
    search.run()
    return Typing(
        {name: replace(each, columns=search.columns(each)) for name, each in predicates.items()},
        {rule.number: {name: found or Type.ANY for name, found in search.environment(rule).items()} for rule in rules},
    )


def union(first: Type | None, second: Type | None) -> Type | None:
    """The narrowest type that holds both; None is what is not known yet.

    >>> union(Type.INT, Type.FLOAT), union(Type.INT, Type.STRING)
    (<Type.FLOAT: 'float'>, <Type.ANY: 'any'>)
    """
    if first is None or second is None or first is second:
        return first or second
    return _UNIONS.get(frozenset({first, second}), Type.ANY)


class _Search:
    """Columns grow until every rule is content; a rule is looked at again when a column it names has changed."""

    def __init__(
        self, predicates: Mapping[str, Predicate], rules: Sequence[Rule], functions: Mapping[str, Function]
    ) -> None:
        self._predicates, self._rules, self._functions = predicates, rules, functions
        self._found: dict[_ColumnKey, Type | None] = {
            (each.name, index): column.type if each.declared else None
            for each in predicates.values()
            for index, column in enumerate(each.columns)
        }
        self._sides = {rule.number: list(_sides(rule)) for rule in rules}
        self._users: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            for name in {atom.predicate for atom in (rule.head, *_relations(rule))}:
                self._users[name].append(rule)

    def columns(self, predicate: Predicate) -> tuple[Column, ...]:
        """The columns of a predicate as found."""
        return tuple(
            replace(column, type=self._found[predicate.name, index] or Type.ANY)
            for index, column in enumerate(predicate.columns)
        )

    def run(self) -> None:
        """Look at rules until nothing changes."""
        waiting = dict.fromkeys(rule.number for rule in self._rules)
        by_number = {rule.number: rule for rule in self._rules}
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            for name in self._look_at(by_number[number]):
                waiting.update(dict.fromkeys(user.number for user in self._users[name]))

    def open_ends(self) -> None:
        """What rules do not say of a base column is anything."""
        for (name, index), found in self._found.items():
            if found is None and self._predicates[name].base:
                self._found[name, index] = Type.ANY

    def environment(self, rule: Rule) -> Environment:
        """The types of a rule's variables, from the relations and equations that bind them."""
        known: Environment = {}
        for atom in _relations(rule):
            for index, argument in enumerate(atom.arguments):
                if not isinstance(argument, Aggregate):
                    _bind(argument, self._found[atom.predicate, index], known, atom.negated)
        self._equate(rule, known)
        for variable, found in _parts(rule):
            known[variable] = known.get(variable) or found
        return known

    def _equate(self, rule: Rule, known: Environment) -> None:
        """Let equations tell what they say, each again when a variable of it has become known better."""
        sides = self._sides[rule.number]
        users: dict[Variable, list[int]] = defaultdict(list)
        for number, (_, value) in enumerate(sides):
            for variable in variables(value):
                users[variable].append(number)
        waiting = dict.fromkeys(range(len(sides)))
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            target, value = sides[number]
            found = union(known.get(target), self.type_of(value, known))
            if found is not known.get(target):
                known[target] = found
                waiting.update(dict.fromkeys(users[target]))

    def type_of(self, term: Term | Aggregate | None, known: Mapping[Variable, Type | None]) -> Type | None:
        """What a term holds."""
        match term:
            case Variable():
                return known.get(term)
            case Constant(value):
                return kind(value)
            case Duration():
                return Type.INT
            case Call(name, _):
                return self._functions[name].result
            case Arithmetic(operator, left, right):
                return _type_of_result(operator, self.type_of(left, known), self.type_of(right, known))
            case Aggregate(function, argument):
                return _type_of_aggregate(function, self.type_of(argument, known))
            case Terms(_, name, _):
                return Type.LIST if name is None else Type.ANY
        return None

    def _look_at(self, rule: Rule) -> Iterator[str]:
        known = self.environment(rule)
        for index, argument in enumerate(rule.head.arguments):
            if self._grow((rule.head.predicate, index), self.type_of(argument, known)):
                yield rule.head.predicate
        expected = self._expect(rule, known)
        for atom in _relations(rule):
            for index, argument in enumerate(atom.arguments):
                if self._predicates[atom.predicate].base and not isinstance(argument, Aggregate):
                    hint = expected.get(argument) if isinstance(argument, Variable) else self.type_of(argument, known)
                    if self._grow((atom.predicate, index), hint):
                        yield atom.predicate

    def _expect(self, rule: Rule, known: Environment) -> Environment:
        """What a rule wants its variables to be: as what they are known, put into columns, handed to built-ins."""
        expected = dict(known)
        for term, wanted in self._wishes(rule):
            if isinstance(term, Variable) and wanted is not Type.ANY:
                expected[term] = union(expected.get(term), wanted)
        return expected

    def _wishes(self, rule: Rule) -> Iterator[tuple[Term | Aggregate, Type | None]]:
        if self._predicates[rule.head.predicate].declared:
            for index, argument in enumerate(rule.head.arguments):
                yield argument, self._found[rule.head.predicate, index]
        for subgoal in rule.body:
            call = subgoal.right if isinstance(subgoal, Comparison) else subgoal
            if isinstance(call, Call | Builtin):
                yield from zip(call.arguments, self._functions[call.name].parameters, strict=True)

    def _grow(self, column: _ColumnKey, found: Type | None) -> bool:
        grown = union(self._found[column], found)
        if self._predicates[column[0]].declared or grown is self._found[column]:
            return False
        self._found[column] = grown
        return True


def _relations(rule: Rule) -> Iterator[Atom]:
    return (subgoal for subgoal in rule.body if isinstance(subgoal, Atom))


def _sides(rule: Rule) -> Iterator[tuple[Variable, Term]]:
    """Variables that an equation sets equal to a term."""
    for each in rule.body:
        if isinstance(each, Comparison) and each.operator == "=":
            for target, value in ((each.left, each.right), (each.right, each.left)):
                if isinstance(target, Variable):
                    yield target, value


def _parts(rule: Rule) -> Iterator[tuple[Variable, Type]]:
    """Variables inside the lists and function symbols of equations, which take them apart."""
    for each in rule.body:
        if isinstance(each, Comparison) and each.operator == "=":
            for term in (each.left, each.right):
                if isinstance(term, Terms):
                    fronts = {part.front for part in _lists(term)}
                    yield from ((part, Type.LIST if part in fronts else Type.ANY) for part in variables(term))


def _lists(term: Term) -> Iterator[Terms]:
    if isinstance(term, Terms):
        yield term
        for item in term.items:
            yield from _lists(item)


def _bind(term: Term, found: Type | None, known: Environment, negated: bool) -> None:
    """A variable in a relation holds what the column holds; inside a list it may hold anything."""
    match term:
        case Variable() if not negated:
            known[term] = union(known.get(term), found)
        case Terms(items, _, front):
            if front:
                known[front] = union(known.get(front), Type.LIST)
            for item in items:
                _bind(item, Type.FLOAT if found is Type.POINT else Type.ANY, known, negated)


def _type_of_result(operator: str, left: Type | None, right: Type | None) -> Type | None:
    if left is None or right is None:
        return None
    if operator == "/" or (Type.FLOAT in (left, right) and Type.ANY not in (left, right)):
        return Type.FLOAT
    if left is Type.TIME and right is Type.TIME:
        return Type.INT
    if operator == "+" and left is right is Type.STRING:
        return Type.STRING
    both = union(left, right)
    return both if both in _NUMBERS else Type.ANY


def _type_of_aggregate(function: str, argument: Type | None) -> Type | None:
    match function:
        case "count" | "count_distinct":
            return Type.INT
        case "avg" | "var":
            return Type.FLOAT
        case "collect":
            return Type.LIST
    return argument
