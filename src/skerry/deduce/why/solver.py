"""What a rule's body means, plainly: the bindings of its variables for which all subgoals hold.

Each step takes a binding and gives those that it allows. Here rows are looked at one by one: this is for the
reference engine and for explanations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

from skerry.deduce.evaluate import Binding, Calls, Evaluator, match_pattern, match_patterns
from skerry.deduce.subgoal_order import Bind, Check, Match, Step, TakeApart, order
from skerry.deduce.values import compare
from skerry.deduce.why.tables import Tables
from skerry.model.term import Term, Variable, variables
from skerry.plan.program import Atom, Builtin, Comparison, Subgoal

__all__ = ["Solver", "steps"]


def steps(body: Iterable[Subgoal], bound: Iterable[str] = ()) -> tuple[Step, ...]:
    """An order for the body of a checked rule, which has one."""
    found = order(body, [Variable(name) for name in bound])
    if found is None:
        raise ValueError("no order of these subgoals binds all variables", body)
    return found


class Solver:
    """Finds the bindings for which subgoals hold, over given rows."""

    def __init__(
        self, tables: Tables, calls: Calls, unit: int = 1, negated: Mapping[str, Tables] | None = None
    ) -> None:
        self.tables, self.evaluator, self._calls, self._unit = tables, Evaluator(calls, unit), calls, unit
        self._negated = negated or {}
        """By predicate, the rows that NOT asks, where these are not the same."""

    def over(self, tables: Tables, negated: Mapping[str, Tables] | None = None) -> "Solver":
        """The same over other rows."""
        return Solver(tables, self._calls, self._unit, negated)

    def solutions(
        self, steps: Sequence[Step], binding: Binding, pulse: Callable[[], None] = lambda: None
    ) -> Iterator[Binding]:
        """All bindings that extend a given one; ``pulse`` is called now and then, and may put an end to it."""
        if not steps:
            yield binding
            return
        begun = [self.take_step(steps[0], binding)]
        while begun:
            pulse()
            found = next(begun[-1], None)
            if found is None:
                begun.pop()
            elif len(begun) == len(steps):
                yield found
            else:
                begun.append(self.take_step(steps[len(begun)], found))

    def take_step(self, step: Step, binding: Binding) -> Iterator[Binding]:
        """The bindings that one step allows."""
        match step:
            case Match(atom):
                return self._rows(atom, binding)
            case Check(subgoal):
                return iter((binding,) if self._holds(subgoal, binding) else ())
            case TakeApart(pattern, term):
                value = self.evaluator.value(term, binding)
                found = None if value is None else match_pattern(pattern, value, binding)
                return iter(() if found is None else (found,))
            case Bind(variable, term, integer):
                value = self.evaluator.value(term, binding)
                fits = value is not None and (not integer or type(value) is int)
                return iter(({**binding, variable.name: value},) if value is not None and fits else ())

    def _rows(self, atom: Atom, binding: Binding) -> Iterator[Binding]:
        terms = cast(tuple[Term, ...], atom.arguments)
        known = tuple(
            column for column, term in enumerate(terms) if all(each.name in binding for each in variables(term))
        )
        values = self.evaluator.row([terms[column] for column in known], binding)
        rest = [column for column in range(len(terms)) if column not in known]
        for row in () if values is None else self.tables.matching(atom.predicate, known, values):
            found = match_patterns([terms[column] for column in rest], [row[column] for column in rest], binding)
            if found is not None:
                yield found

    def _holds(self, subgoal: Subgoal, binding: Binding) -> bool:
        """Compare, ask a built-in, or look whether a negated atom is absent; false where a term has no value."""
        match subgoal:
            case Comparison(operator, left, right):
                row = self.evaluator.row((left, right), binding)
                return row is not None and compare(operator, *row)
            case Builtin(name, arguments, negated):
                row = self.evaluator.row(arguments, binding)
                answer = None if row is None else self._calls.call(name, [row])[0]
                return answer is not None and bool(answer) != negated
            case Atom(predicate):
                row = self.evaluator.row(cast(tuple[Term, ...], subgoal.arguments), binding)
                tables = self._negated.get(predicate, self.tables)
                return row is not None and not tables.holds(predicate, row)
