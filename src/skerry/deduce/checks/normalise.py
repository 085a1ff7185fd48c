"""Rules in the form the engines take them: see ``plan.program``.

Each term is computed once: ``d + 1`` in the head and under NOT become one variable and one equation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from skerry.deduce.rule_text import write_rule, write_term
from skerry.deduce.subgoal_order import variables_of
from skerry.errors import Location, RuleError
from skerry.model.term import Arithmetic, Call, Constant, Duration, Term, Terms, Variable, variables
from skerry.plan.program import Aggregate, Atom, Builtin, Comparison, Rule, Subgoal, fresh

__all__ = ["normalise"]

_ANYTHING = Variable("_")


def normalise(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Rules in the engines' form; rules of projection predicates, which ``_`` under NOT asks for, at the end."""
    rules = tuple(rules)
    projections = _Projections(max((rule.number for rule in rules), default=0))
    rewritten = tuple(_Rewriting(rule, projections).rule() for rule in rules)
    return rewritten + tuple(projections.rules.values())


@dataclass
class _Projections:
    """Predicates that stand for ``p(x, _)`` under NOT; one for each shape that is asked."""

    last: int
    rules: dict[tuple[str, tuple[str, ...]], Rule] = field(default_factory=dict)

    def project(self, atom: Atom, location: Location | None) -> Atom:
        """The atom to ask instead."""
        kept = tuple(_keep_arguments(atom.arguments)) or (Constant(0),)
        shape = (atom.predicate, _shape(atom.arguments))
        if shape not in self.rules:
            name = f"${atom.predicate}{len(self.rules) + 1}"
            self.rules[shape] = self._rule(Atom(name, kept, location=location), atom, location)
        return Atom(self.rules[shape].head.predicate, kept, negated=True, location=location)

    def _rule(self, head: Atom, atom: Atom, location: Location | None) -> Rule:
        taken = {variable.name for variable in variables_of(atom)}
        arguments = tuple(_fill_anonymous(term, taken) for term in _plain_arguments(atom))
        rule = Rule(
            head,
            (Atom(atom.predicate, arguments, location=location),),
            self.last + len(self.rules) + 1,
            location=location,
        )
        return replace(rule, text=write_rule(rule))


def _plain_arguments(atom: Atom) -> list[Term]:
    return [argument for argument in atom.arguments if not isinstance(argument, Aggregate)]


def _keep_arguments(arguments: Iterable[Term | Aggregate]) -> Iterable[Term]:
    for argument in arguments:
        if isinstance(argument, Aggregate) or argument == _ANYTHING:
            continue
        inside = list(variables(argument))
        yield from (variable for variable in inside if variable != _ANYTHING) if _ANYTHING in inside else [argument]


def _shape(arguments: Iterable[Term | Aggregate]) -> tuple[str, ...]:
    """Equal for atoms that differ in the names of their variables alone."""
    numbers: dict[Variable, Variable] = {_ANYTHING: _ANYTHING}

    def rename(term: Term) -> Term:
        match term:
            case Variable():
                return numbers.setdefault(term, Variable(f"v{len(numbers)}"))
            case Terms(items, name, front):
                first = numbers.setdefault(front, Variable(f"v{len(numbers)}")) if front else None
                return Terms(tuple(map(rename, items)), name, first)
        return term

    return tuple(write_term(rename(term)) for term in arguments if not isinstance(term, Aggregate))


def _fill_anonymous(term: Term, taken: set[str]) -> Term:
    match term:
        case Variable("_"):
            return fresh("_", taken)
        case Terms(items, name, front):
            first = fresh("_", taken) if front == _ANYTHING else front
            return Terms(tuple(_fill_anonymous(item, taken) for item in items), name, first)
    return term


def _split_equation(subgoal: Subgoal) -> Iterator[Subgoal]:
    """An equation of two lists of one length, or of two terms with one function symbol, part by part."""
    match subgoal:
        case Comparison("=", Terms(ones, name, None), Terms(others, other, None)) if name == other:
            if len(ones) == len(others):
                for one, other_ in zip(ones, others, strict=True):
                    if _ANYTHING not in (one, other_):
                        yield from _split_equation(replace(subgoal, left=one, right=other_))
                return
    yield subgoal


class _Rewriting:
    """One rule on its way."""

    def __init__(self, rule: Rule, projections: _Projections) -> None:
        self._rule = rule
        self._projections = projections
        self._taken = {variable.name for part in (rule.head, *rule.body) for variable in variables_of(part)}
        self._computed: dict[str, Variable] = {}
        self._added: list[Subgoal] = []

    def rule(self) -> Rule:
        """The rule in its new form."""
        if _ANYTHING in variables_of(self._rule.head):
            raise self._make_error("E102", "'_' stands in a head", "name a variable of the body", self._rule.head)
        body = [self._subgoal(part) for subgoal in self._rule.body for part in _split_equation(subgoal)]
        head = replace(self._rule.head, arguments=tuple(map(self._head_argument, self._rule.head.arguments)))
        return replace(self._rule, head=head, body=(*body, *self._added))

    def _subgoal(self, subgoal: Subgoal) -> Subgoal:
        if isinstance(subgoal, Atom):
            return self._rewrite_negated(subgoal) if subgoal.negated else self._rewrite_positive(subgoal)
        if isinstance(subgoal, Comparison) and subgoal.operator == "=":
            subgoal = replace(subgoal, left=self._fill(subgoal.left), right=self._fill(subgoal.right))
        if _ANYTHING in variables_of(subgoal):
            raise self._make_error("E103", "'_' has no value to compare or to hand over", "name a variable", subgoal)
        if isinstance(subgoal, Builtin):
            return replace(subgoal, arguments=tuple(map(self._plain, subgoal.arguments)))
        return self._comparison(subgoal)

    def _fill(self, term: Term) -> Term:
        """A list or function symbol of an equation, which may hold ``_``."""
        return _fill_anonymous(term, self._taken) if isinstance(term, Terms) else term

    def _rewrite_positive(self, atom: Atom) -> Atom:
        arguments = (_fill_anonymous(term, self._taken) for term in _plain_arguments(atom))
        return replace(atom, arguments=tuple(map(self._plain, arguments)))

    def _rewrite_negated(self, atom: Atom) -> Atom:
        plain = replace(atom, arguments=tuple(map(self._plain, _plain_arguments(atom))))
        return self._projections.project(plain, atom.location) if _ANYTHING in variables_of(plain) else plain

    def _comparison(self, comparison: Comparison) -> Comparison:
        left, right = comparison.left, comparison.right
        if comparison.operator == "=" and isinstance(left, Call) and isinstance(right, Variable):
            left, right = right, left
        if comparison.operator == "=" and isinstance(left, Variable) and isinstance(right, Call):
            return replace(comparison, left=left, right=self._call(right))
        return replace(comparison, left=self._expression(left), right=self._expression(right))

    def _head_argument(self, argument: Term | Aggregate) -> Term | Aggregate:
        if not isinstance(argument, Aggregate):
            return self._plain(argument)
        return argument if argument.argument is None else replace(argument, argument=self._plain(argument.argument))

    def _plain(self, term: Term) -> Term:
        """A term without arithmetic and calls; what it computes becomes an equation."""
        match term:
            case Terms(items, name, front):
                return Terms(tuple(map(self._plain, items)), name, front)
            case Call():
                return self._once(self._call(term))
            case Arithmetic() | Duration():
                return self._once(self._expression(term))
        return term

    def _expression(self, term: Term) -> Term:
        """A side of a comparison: arithmetic may stay, calls may not."""
        if isinstance(term, Arithmetic):
            return Arithmetic(term.operator, self._expression(term.left), self._expression(term.right))
        return term if isinstance(term, Duration) else self._plain(term)

    def _call(self, call: Call) -> Call:
        return Call(call.name, tuple(map(self._plain, call.arguments)))

    def _once(self, term: Term) -> Variable:
        written = write_term(term)
        if written not in self._computed:
            self._computed[written] = fresh("v", self._taken)
            self._added.append(Comparison("=", self._computed[written], term, self._rule.location))
        return self._computed[written]

    def _make_error(self, code: str, message: str, fix: str, at: Subgoal) -> RuleError:
        return RuleError(code, message, fix, self._rule.number, at.location or self._rule.location)
