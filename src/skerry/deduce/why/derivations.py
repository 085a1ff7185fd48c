"""How a tuple follows: found again from the rows that hold, whichever engine keeps them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

from skerry.deduce.evaluate import Binding, Calls, match_pattern
from skerry.deduce.subgoal_order import Step
from skerry.deduce.values import Row, compare, row_key, sort_key
from skerry.deduce.why.solver import Solver, steps
from skerry.deduce.why.tables import Tables
from skerry.model.term import Term, Value
from skerry.plan.program import RANGE, SINCE, Aggregate, Atom, Checked, Rule, Subgoal

__all__ = ["Derivation", "Derivations", "TupleRef"]

_CONTRIBUTIONS, _COUNTED = 1_000, 1_000_000
"""Of an aggregate, so many contributions are looked at, and so many counted."""


@dataclass(frozen=True)
class TupleRef:
    """A tuple of a predicate, identified by its key."""

    predicate: str
    key: tuple[object, ...]


@dataclass(frozen=True)
class Derivation:
    """One way in which a rule gives a tuple; of an aggregate, all contributions together."""

    rule: Rule
    needs: tuple[TupleRef, ...]
    bindings: tuple[Binding, ...]
    """Of an aggregate, those that decide it first: the least of min, the greatest of max."""
    contributions: int = 1
    """How many there are in all."""


class Derivations:
    """Finds derivations over the rows of a model."""

    def __init__(self, checked: Checked, rows: Callable[[str], Iterable[Row]], calls: Calls, unit: int) -> None:
        self.checked = checked
        tables = Tables(checked.predicates)
        for predicate in checked.predicates:
            for row in sorted(rows(predicate), key=lambda row: tuple(map(sort_key, row))):
                tables.add(predicate, row)
        self.solver = Solver(tables, calls, unit)
        self._rules: dict[str, list[Rule]] = {}
        for rule in checked.rules:
            self._rules.setdefault(rule.head.predicate, []).append(rule)

    def rules(self, predicate: str) -> list[Rule]:
        """The rules with this head, in the order in which they are written."""
        return sorted(self._rules.get(predicate, ()), key=lambda rule: rule.number)

    def row(self, ref: TupleRef) -> Row:
        """The values of a tuple that holds."""
        return self.solver.tables.keys(ref.predicate)[ref.key]

    def of(self, ref: TupleRef) -> Iterator[Derivation]:
        """All ways in which a tuple follows at once from others."""
        row = self.row(ref)
        for rule in self.rules(ref.predicate):
            binding = self.bind_head(rule, dict(enumerate(row)))
            if binding is None:
                continue
            found = self.solver.solutions(self.steps(rule, binding), binding)
            if rule.aggregates:
                gathered = self._gather(rule, row, found)
                if gathered is not None:
                    yield gathered
            else:
                for solution in found:
                    yield self._derivation(rule, (solution,))

    def _gather(self, rule: Rule, row: Row, found: Iterator[Binding]) -> Derivation | None:
        """All contributions of an aggregate. Many are only counted, but not those that decide it."""
        first, others, count = dict[int, Binding](), list[Binding](), 0
        for binding in islice(found, _COUNTED):
            count += 1
            decided = [column for column in self._decided(rule, row, binding) if column not in first]
            first |= dict.fromkeys(decided, binding)
            if not decided and len(others) < _CONTRIBUTIONS:
                others.append(binding)
        if not count:
            return None
        return replace(self._derivation(rule, (*first.values(), *others)), contributions=count)

    def _decided(self, rule: Rule, row: Row, binding: Binding) -> Iterator[int]:
        """The columns of min or max that hold what a contribution gives."""
        for column, (argument, value) in enumerate(zip(rule.head.arguments, row, strict=True)):
            if isinstance(argument, Aggregate) and argument.function in ("min", "max") and argument.argument:
                own = self.solver.evaluator.value(argument.argument, binding)
                if own is not None and compare("=", own, value):
                    yield column

    def steps(self, rule: Rule, bound: Iterable[str]) -> tuple[Step, ...]:
        """An order for a rule's body, small relations first where there is a choice."""
        return steps(sorted(rule.body, key=self._size), bound)

    def _size(self, subgoal: Subgoal) -> int:
        return len(self.solver.tables.rows(subgoal.predicate)) if isinstance(subgoal, Atom) else 0

    def bind_head(self, rule: Rule, values: Mapping[int, Value]) -> Binding | None:
        """What a head's arguments tell of its variables, aggregates left out; None if they do not fit."""
        binding: Binding | None = {}
        for column, value in values.items():
            argument = rule.head.arguments[column]
            if not isinstance(argument, Aggregate) and binding is not None:
                binding = match_pattern(argument, value, binding)
        return binding

    def find_proof(self, goal: TupleRef) -> dict[TupleRef, Derivation]:
        """For a tuple and all that its proof needs, a derivation whose tuples come before it: no proof is circular.

        Tuples are ranked in rounds, those first that need facts alone, so that the proof is as low as can be.
        """
        ways = self._reachable(goal)
        chosen: dict[TupleRef, Derivation] = {}
        ranked = {ref for ref in ways if self.checked.predicates[ref.predicate].base}
        while goal not in ranked:
            fresh = {
                ref: way
                for ref, found in ways.items()
                if ref not in ranked
                for way in found
                if ranked.issuperset(way.needs)
            }
            if not fresh:
                break
            chosen.update(fresh)
            ranked |= fresh.keys()
        return chosen

    def _reachable(self, goal: TupleRef) -> dict[TupleRef, list[Derivation]]:
        ways: dict[TupleRef, list[Derivation]] = {}
        waiting = [goal]
        while waiting:
            ref = waiting.pop()
            if ref not in ways:
                ways[ref] = list(self.of(ref))
                waiting += [need for way in ways[ref] for need in way.needs]
        return ways

    def _derivation(self, rule: Rule, bindings: tuple[Binding, ...]) -> Derivation:
        needs = {ref: None for binding in bindings for ref in self._find_needs(rule.body, binding)}
        return Derivation(rule, tuple(needs), bindings)

    def _find_needs(self, body: Iterable[Subgoal], binding: Binding) -> Iterator[TupleRef]:
        """The tuples that the positive atoms of a body stand for."""
        for subgoal in body:
            if isinstance(subgoal, Atom) and not subgoal.negated and not subgoal.predicate.startswith((SINCE, RANGE)):
                terms = cast(tuple[Term, ...], subgoal.arguments)
                values = self.solver.evaluator.row(terms, binding)
                columns = tuple(range(len(terms)))
                for row in self.solver.tables.matching(subgoal.predicate, columns, values or ()):
                    yield TupleRef(subgoal.predicate, row_key(row))
