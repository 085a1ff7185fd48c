"""Builds a plan: puts the subgoals of a rule's body into an order in which each finds what it needs."""

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.encoding import Kind, kind_of
from skerry.deduce.engine.equations import calls_any, names_in, names_of, rename_variables, solve_for, terms_of
from skerry.deduce.engine.evaluation import Evaluation, Types, type_of
from skerry.deduce.engine.plan import Plan
from skerry.deduce.engine.relation import Relation
from skerry.deduce.engine.steps import (
    BESIDE,
    Absent,
    Ask,
    Assign,
    Compare,
    Key,
    Match,
    Present,
    Same,
    Step,
    TakeApart,
    Unpack,
    make_key,
)
from skerry.model.term import Call, Constant, Term, Terms, Variable, is_pattern, variables
from skerry.plan.program import Atom, Builtin, Comparison, Predicate, Rule, Subgoal, Type

__all__ = ["PlanBuilder", "Scope"]


@dataclass(frozen=True)
class Agreement:
    """A term must have the value of a column that was read before the term was known."""

    term: Term
    column: str
    type: Type
    stored: bool


Waiting = Subgoal | Agreement

_PIECE, _SMALL_PIECE = 1 << 20, 1 << 13
"""How many bindings are made at once. Fewer where values are handled one by one, so that time limits are met."""


@dataclass(frozen=True)
class Scope:
    """What all plans of a rule share."""

    rule: Rule
    setting: Setting
    evaluation: Evaluation
    predicates: Mapping[str, Predicate]
    ranked: Collection[str]
    """The predicates that are settled together with the rule's head."""
    natural: Types
    """What the rule, as it is written, finds its variables to be: a plan must not depend on its order."""
    solutions: Sequence[tuple[Comparison, str, Term]] = ()
    """The equations that bind in the rule as it is written: what, and to what."""

    def types(self, predicate: str) -> tuple[Type, ...]:
        """The types of a predicate's columns."""
        return tuple(column.type for column in self.predicates[predicate].columns)

    def is_relational(self, name: str) -> bool:
        """Whether a variable stands in a relation of the body by itself."""
        atoms = [each for each in self.rule.body if isinstance(each, Atom) and not each.negated]
        return any(Variable(name) in atom.arguments for atom in atoms)


class PlanBuilder:
    """A plan in the making: what is known, and what waits."""

    def __init__(self, scope: Scope, written: bool = False) -> None:
        self._scope, self._setting, self._evaluation = scope, scope.setting, scope.evaluation
        self._written = written
        """Whether to go as the rule is written: this finds out what its variables are."""
        self.known: dict[str, Type] = {}
        self._steps: list[tuple[Step, set[str]]] = []
        self._waiting: list[Waiting] = []
        self._numbers = itertools.count()
        self._unpack = Unpack((), ())
        self.solutions: list[tuple[Comparison, str, Term]] = []
        self.unchanged: Sequence[Subgoal] = ()
        """Subgoals whose relations are looked at in their unchanged rows alone."""

    def start_from(self, terms: Iterable[Term], types: Iterable[Type], stored: bool) -> None:
        """Rows of these terms are there to begin with."""
        names, constants, later = list[tuple[str, int]](), list[tuple[int, int | None]](), list[tuple[Term, str]]()
        for column, (term, type_) in enumerate(zip(terms, types, strict=True)):
            if isinstance(term, Constant):
                constants.append((column, self._constant(term, type_, stored)))
            else:
                names.append((self._name_column(term, type_, later), column))
        self._unpack = Unpack(tuple(names), tuple(constants))
        self._read(later, stored)

    def add_body(self, body: Iterable[Subgoal]) -> None:
        """Take subgoals until none is left."""
        self._waiting += body
        while self._waiting:
            if not any(self._take_first(ready) for ready in (self._settle, self._present, self._absent, self._call)):
                atoms = [each for each in self._waiting if isinstance(each, Atom) and not each.negated]
                if atoms:
                    self._match(min(atoms, key=self._cost))
                else:
                    self._force()

    def build(self, head: tuple[tuple[Term, Type], ...], every: bool = False) -> Plan:
        """The plan, each step knowing what is still needed after it.

        Unless every binding counts, one row does where nothing of it is needed.
        """
        needed = {name for term, _ in head for name in names_of(term)}
        steps: list[Step] = []
        for step, reads in reversed(self._steps):
            kept = step.with_needs((*BESIDE, *needed), reads)
            if isinstance(kept, Match) and not every and not needed.intersection(name for name, _ in kept.binds):
                kept = replace(kept, once=not kept.ranked)
            steps.append(kept)
            needed |= reads
        rule = self._scope.rule
        done = tuple(reversed(steps))
        known, piece = dict(self.known), _PIECE if _is_quick(done, head) else _SMALL_PIECE
        return Plan(rule, self._setting, self._evaluation, self._unpack, done, head, known, every, piece)

    def _constant(self, term: Constant, type_: Type, stored: bool) -> int | None:
        if not stored:
            return self._setting.encoding.constant_to_search(term.value, type_)
        return self._setting.encoding.constant_to_store(term.value, type_)

    def _name_column(self, term: Term, type_: Type, later: list[tuple[Term, str]]) -> str:
        """The name under which a column is read: a variable's, or one of its own, to be looked at later."""
        if isinstance(term, Variable) and term.name not in self.known and self._is_direct(term.name, type_):
            self.known[term.name] = type_
            return term.name
        column = f"#{next(self._numbers)}"
        self.known[column] = type_
        later.append((term, column))
        return column

    def _is_direct(self, name: str, type_: Type) -> bool:
        """Whether codes of this type are what the rule, as it is written, would find for a variable."""
        natural = type_ if self._written else self._scope.natural.get(name, type_)
        return kind_of(natural) is kind_of(type_) and (natural is Type.POINT) == (type_ is Type.POINT)

    def _read(self, later: Iterable[tuple[Term, str]], stored: bool) -> None:
        """Bind or test terms by the columns that were read."""
        for term, column in later:
            type_ = self.known[column]
            if isinstance(term, Variable) and self._is_any(term, type_):
                self._assign(term.name, Variable(column), Type.ANY)
            elif isinstance(term, Terms) and not self._knows(term) and not (stored and type_ is Type.POINT):
                self._take_apart(term, Variable(column))
            else:
                self._waiting.append(Agreement(term, column, type_, stored))

    def _is_any(self, variable: Variable, type_: Type) -> bool:
        """Whether a variable not known yet may be of any type, and codes of this type are one of them."""
        exact = kind_of(type_) in (Kind.INT, Kind.BOOL)
        return exact and self._scope.natural.get(variable.name) is Type.ANY and not self._knows(variable)

    def _take_first(self, ready: Callable[[Waiting], bool]) -> bool:
        """Take the first of those waiting that is ready in some way."""
        for each in self._waiting:
            if ready(each):
                self._waiting.remove(each)
                return True
        return False

    def _settle(self, each: Waiting) -> bool:
        """What costs little: comparisons, and equations that bind."""
        match each:
            case Agreement(term, column, type_, stored) if self._knows(term):
                self._add(
                    Same(self._evaluation, self._setting, term, column, type_, stored, dict(self.known)),
                    {column, *names_of(term)},
                )
                return True
            case Comparison(operator, left, right) if not calls_any(left) and not calls_any(right):
                if self._knows(left) and self._knows(right):
                    self._compare(each)
                    return True
                if operator == "=" and not self._written:
                    return self._equate(left, right) or self._equate(right, left)
        return False

    def _equate(self, left: Term, right: Term) -> bool:
        """Bind by an equation whose right side is known, if that gives what the rule as written would find."""
        if not self._knows(right):
            return False
        unknown = {name for name in names_of(left) if name not in self.known}
        if isinstance(left, Terms) and is_pattern(left):
            self._take_apart(left, right)
            return True
        if len(unknown) != 1:
            return False
        [name] = unknown
        solution = solve_for(left, right, name)
        if solution is None or not self._may_bind(name, left, right, solution):
            return False
        self._assign(name, solution, type_of(self._setting, solution, self.known))
        return True

    def _may_bind(self, name: str, left: Term, right: Term, solution: Term) -> bool:
        type_ = type_of(self._setting, solution, self.known)
        natural = self._scope.natural[name]
        if isinstance(left, Variable):
            free = kind_of(natural) is Kind.INT or not self._scope.is_relational(name)
            return free and self._is_direct(name, type_)
        return kind_of(type_) is Kind.INT and kind_of(natural) is Kind.INT

    def _present(self, each: Waiting) -> bool:
        """A relation all of whose columns are known."""
        if not isinstance(each, Atom) or each.negated or not all(map(self._knows, terms_of(each))):
            return False
        step = Present(self._relation(each), self._key(each), self._ranks(each), self._is_unchanged(each))
        self._add(step, names_in(each))
        return True

    def _absent(self, each: Waiting) -> bool:
        if not isinstance(each, Atom) or not each.negated or not all(map(self._knows, terms_of(each))):
            return False
        self._add(Absent(self._relation(each), self._key(each)), names_in(each))
        return True

    def _call(self, each: Waiting) -> bool:
        """Built-ins: they cost most."""
        match each:
            case Builtin(name, arguments, negated) if all(map(self._knows, arguments)):
                reads = {read for argument in arguments for read in names_of(argument)}
                self._add(Ask(self._evaluation, name, arguments, negated, dict(self.known)), reads)
                return True
            case Comparison(_, left, right) if self._knows(left) and self._knows(right):
                self._compare(each)
                return True
            case Comparison("=", Variable(name), Call() as call) if self._knows(call):
                type_ = type_of(self._setting, call, self.known)
                if self._written:
                    return False
                if self._is_direct(name, type_) and not self._scope.is_relational(name):
                    self._assign(name, call, type_)
                    return True
        return False

    def _match(self, atom: Atom) -> None:
        """Go through the rows of a relation that fit what is known."""
        self._waiting.remove(atom)
        terms, types = terms_of(atom), self._scope.types(atom.predicate)
        columns = tuple(column for column, term in enumerate(terms) if self._knows(term))
        known = [terms[column] for column in columns]
        key = make_key(self._setting, self._evaluation, known, [types[column] for column in columns], self.known)
        later: list[tuple[Term, str]] = []
        others = (column for column in range(len(terms)) if column not in columns)
        binds = tuple((self._name_column(terms[column], types[column], later), column) for column in others)
        reads = {name for term in known for name in names_of(term)}
        ranked, unchanged = self._ranks(atom), self._is_unchanged(atom)
        self._add(Match(self._relation(atom), columns, key, binds, ranked, unchanged), reads)
        self._read(later, stored=False)

    def _force(self) -> None:
        """Only equations are left that bind what nothing else does."""
        for each in self._waiting:
            if isinstance(each, Comparison) and each.operator == "=" and self._bind(each):
                self._waiting.remove(each)
                step = self._steps[-1][0]
                if isinstance(step, Assign):
                    self.solutions.append((each, step.name, step.term))
                return
        raise ValueError("no order of these subgoals binds all variables", self._waiting)

    def _bind(self, equation: Comparison) -> bool:
        for left, right in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(left, Variable) and not self._knows(left) and self._knows(right):
                self._assign(left.name, right, type_of(self._setting, right, self.known))
                return True
            if isinstance(left, Terms) and self._knows(right):
                self._take_apart(left, right)
                return True
        return self._solve(equation.left, equation.right) or self._solve(equation.right, equation.left)

    def _solve(self, left: Term, right: Term) -> bool:
        """Bind the one unknown of an equation of whole numbers; others do not count."""
        unknown = {name for name in names_of(left) if name not in self.known}
        if len(unknown) != 1 or not self._knows(right) or calls_any(left) or calls_any(right):
            return False
        [name] = unknown
        solution = solve_for(left, right, name)
        if solution is None:
            return False
        self._assign(name, solution, Type.INT)
        return True

    def _compare(self, comparison: Comparison) -> None:
        """Test a comparison; one that binds in the rule as written wants the very value, not an equal number."""
        left, right = comparison.left, comparison.right
        reads, known = {*names_of(left), *names_of(right)}, dict(self.known)
        for equation, name, term in self._scope.solutions:
            if equation is comparison:
                self._add(Same(self._evaluation, self._setting, term, name, known[name], True, known), reads)
                return
        self._add(Compare(self._evaluation, self._setting, comparison.operator, left, right, known), reads)

    def _assign(self, name: str, term: Term, type_: Type) -> None:
        self._add(Assign(self._evaluation, self._setting, name, term, type_, dict(self.known)), set(names_of(term)))
        self.known[name] = type_

    def _take_apart(self, pattern: Terms, term: Term) -> None:
        """Every variable of the pattern is read, under its own name if that is new."""
        known, later = dict(self.known), list[tuple[Term, str]]()
        names = {
            variable.name: self._name_column(variable, Type.ANY, later)
            for variable in dict.fromkeys(variables(pattern))
        }
        self._add(TakeApart(self._evaluation, term, rename_variables(pattern, names), known), set(names_of(term)))
        self._read(later, stored=False)

    def _add(self, step: Step, reads: set[str]) -> None:
        self._steps.append((step, reads))

    def _knows(self, term: Term) -> bool:
        return all(name in self.known for name in names_of(term))

    def _relation(self, atom: Atom) -> Relation:
        return self._setting.relations[atom.predicate]

    def _ranks(self, atom: Atom) -> bool:
        return atom.predicate in self._scope.ranked

    def _is_unchanged(self, atom: Atom) -> bool:
        return any(each is atom for each in self.unchanged)

    def _key(self, atom: Atom) -> Key:
        types = self._scope.types(atom.predicate)
        return make_key(self._setting, self._evaluation, terms_of(atom), types, self.known)

    def _cost(self, atom: Atom) -> float:
        """About how many rows a binding meets. As written, relations with more known columns come first."""
        terms, relation = terms_of(atom), self._relation(atom)
        known = tuple(column for column, term in enumerate(terms) if self._knows(term))
        if self._written:
            return -len(known)
        counted = relation.rows_per_key(known)
        return float(max(relation.size, 1)) ** (1 - len(known) / max(len(terms), 1)) if counted is None else counted


def _is_quick(steps: Iterable[Step], head: Iterable[tuple[Term, Type]]) -> bool:
    """Whether no value is taken apart, put together or handed to Python one by one."""
    terms = [term for term, _ in head] + [step.term for step in steps if isinstance(step, Assign | Same)]
    slow = any(isinstance(step, TakeApart | Ask) for step in steps)
    return not slow and not any(isinstance(term, Terms | Call) for term in terms)
