"""Why a tuple holds: its proof as a tree; or why not: for each rule, the subgoal at which the best attempt fails."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.evaluate import Binding, Calls, match_pattern
from skerry.deduce.rule_text import write_original, write_rule, write_subgoal, write_term, write_value
from skerry.deduce.subgoal_order import Bind, Check, Match, Step, TakeApart, variables_of
from skerry.deduce.values import Row, row_key, sort_key
from skerry.deduce.why.derivations import Derivation, Derivations, TupleRef
from skerry.deduce.why.substitute import substitute
from skerry.deduce.why.times import Times
from skerry.model.term import Constant, Term, Variable
from skerry.plan.program import RANGE, SINCE, Aggregate, Atom, Checked, Comparison, Rule, Subgoal

__all__ = ["Why"]

_ATTEMPTS = 200_000
"""So many bindings are tried to find the best attempt of a rule."""

_SHOWN = 5
"""Of an aggregate's contributions, and of the tuples that fit a question, so many are shown."""


class Why:
    """Explains the answers of a program, from the rows that an engine holds."""

    def __init__(self, checked: Checked, rows: Callable[[str], Iterable[Row]], calls: Calls, unit: int = 1) -> None:
        self._derivations = Derivations(checked, rows, calls, unit)
        self._solver, self._checked = self._derivations.solver, checked
        self._times = Times(checked, unit)

    def explain(self, question: Atom) -> str:
        """The proof of every tuple that fits a question, or why there is none. Variables in it stand for any value."""
        arguments = cast(tuple[Term, ...], question.arguments)
        rows = list(self._solver.take_step(Match(question), {}))
        if not rows:
            return "\n".join(self._missing(question.predicate, arguments))
        values = [self._solver.evaluator.row(arguments, binding) for binding in rows]
        found = sorted((row for row in values if row is not None), key=lambda row: tuple(map(sort_key, row)))
        proofs = ["\n".join(self._proof(question.predicate, row)) for row in found[:_SHOWN]]
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        return "\n".join([*proofs, *more])

    def _proof(self, predicate: str, row: Row) -> Iterator[str]:
        """Lines of the tree, each tuple's proof written out once."""
        goal = next(
            TupleRef(predicate, row_key(found))
            for found in self._solver.tables.matching(predicate, tuple(range(len(row))), row)
        )
        proof = self._derivations.find_proof(goal)
        written: set[TupleRef] = set()
        waiting: list[tuple[int, TupleRef | str]] = [(0, goal)]
        while waiting:
            level, entry = waiting.pop()
            if isinstance(entry, str):
                yield "  " * level + entry
                continue
            way = proof.get(entry)
            yield "  " * level + self._line(entry, way, entry in written)
            if way is not None and entry not in written:
                waiting += [(level + 1, child) for child in reversed(self._children(way))]
            written.add(entry)

    def _line(self, ref: TupleRef, way: Derivation | None, again: bool) -> str:
        atom = Atom(ref.predicate, tuple(map(Constant, self._derivations.row(ref))))
        text = write_subgoal(self._times.with_timestamps(atom))
        if way is None:
            return f"{text}  a fact"
        if not way.rule.body:
            return f"{text}  a fact of the program, rule {way.rule.number}"
        return f"{text}  as above" if again else f"{text}  by rule {way.rule.number}: {_text(way.rule)}"

    def _children(self, way: Derivation) -> list[TupleRef | str]:
        """What a derivation rests on: tuples, and what was tested."""
        if not way.rule.aggregates:
            tests = [subgoal for subgoal in way.rule.body if not isinstance(subgoal, Atom) or subgoal.negated]
            shown = [test for test in tests if not _is_fresh(test) and not _find_range(test, way.rule)]
            written = (self._write_test(test, way.rule, way.bindings[0]) for test in shown)
            return [*way.needs, *written]
        count = way.contributions
        head = f"gathered from {count} contribution{'s' if count > 1 else ''}"
        rest = str(len(way.needs) - _SHOWN) if count <= len(way.bindings) else "many"
        more = [f"and {rest} more tuples"] if len(way.needs) > _SHOWN else []
        return [head, *way.needs[:_SHOWN], *more]

    def _missing(self, predicate: str, arguments: Sequence[Term]) -> Iterator[str]:
        """Lines that say why no tuple fits."""
        yield f"{self._write(Atom(predicate, tuple(arguments)), {})} does not hold"
        if self._checked.predicates[predicate].base:
            yield "  there is no such fact"
        elif not self._derivations.rules(predicate):
            yield "  no rule has this head"
        for rule in self._derivations.rules(predicate):
            yield f"  rule {rule.number}: {_text(rule)}"
            yield f"    {self._failure(rule, arguments)}"

    def _failure(self, rule: Rule, arguments: Sequence[Term]) -> str:
        known = {column: term.value for column, term in enumerate(arguments) if isinstance(term, Constant)}
        binding = self._derivations.bind_head(rule, known)
        if binding is None:
            return f"its head {write_subgoal(rule.head)} does not fit"
        attempt = self._best(rule, binding)
        if attempt.failed is None:
            return self._explain_cut(rule, attempt.binding)
        return self._reason(attempt.failed, rule, attempt.binding)

    def _best(self, rule: Rule, binding: Binding) -> "_Attempt":
        """The attempt that gets through the most subgoals; that it gives the tuple that is asked for comes first."""
        todo = _test_values_first(self._derivations.steps(rule, binding))
        best, deepest = _Attempt(binding, todo[0] if todo else None), 0
        begun, tried = [iter((binding,))], 0
        while begun and tried < _ATTEMPTS:
            found = next(begun[-1], None)
            tried += 1
            if found is None:
                begun.pop()
                continue
            if len(begun) > deepest:
                deepest, best = len(begun), _Attempt(found, todo[len(begun) - 1] if len(begun) <= len(todo) else None)
            if best.failed is None:
                return best
            begun.append(self._solver.take_step(todo[len(begun) - 1], found))
        return best

    def _explain_cut(self, rule: Rule, binding: Binding) -> str:
        """Why a rule whose body holds does not give the tuple."""
        if not rule.aggregates:
            return "its body holds; a limit cuts the tuple off"
        group = {name: binding[name] for each in rule.head.arguments for name in _plain_names(each) if name in binding}
        rows = list(self._solver.solutions(self._derivations.steps(rule, group), group))
        arguments = tuple(self._aggregate(argument, rows) for argument in rule.head.arguments)
        return f"it gives {write_subgoal(self._times.with_timestamps(Atom(rule.head.predicate, arguments)))}"

    def _aggregate(self, argument: Term | Aggregate, rows: Sequence[Binding]) -> Term:
        if not isinstance(argument, Aggregate):
            value = self._solver.evaluator.value(argument, rows[0])
            return Variable("_") if value is None else Constant(value)
        term = argument.argument or Constant(1)
        values = [value for row in rows if (value := self._solver.evaluator.value(term, row)) is not None]
        return Constant(aggregate_values(argument.function, values)) if values else Variable("_")

    def _reason(self, step: Step, rule: Rule, binding: Binding) -> str:
        match step:
            case Match(atom) if atom.predicate.startswith(RANGE):
                return _explain_range(atom, binding)
            case Check(Comparison() as equation) if _find_range(equation, rule):
                return _explain_range(_find_range(equation, rule)[0], binding)
            case Match(atom):
                return f"no tuple fits {self._write(atom, binding)}"
            case Bind(variable, term):
                equation, values = Comparison("=", variable, term), self._times.binding_with_timestamps(rule, binding)
                return f"{self._write(equation, values)} has no value"
            case TakeApart(pattern, term):
                return f"false: {self._write_test(Comparison('=', term, pattern), rule, binding)}"
            case Check(Atom() as atom):
                return f"blocked by {self._blocking(atom, binding)}"
            case Check(Comparison(_, moment, Variable(name))) if name == SINCE.strip():
                shown = self._times.binding_with_timestamps(rule, binding)
                return f"its window begins after {write_subgoal(substitute(Atom('', (moment,)), shown))[1:-1]}"
            case Check(Comparison() as equation) if _is_fresh(equation):
                return self._explain_difference(equation, rule, binding)
            case Check(subgoal):
                return f"false: {self._write_test(subgoal, rule, binding)}"

    def _explain_difference(self, equation: Comparison, rule: Rule, binding: Binding) -> str:
        """Why an argument that is computed is not what was asked for."""
        shown = self._times.binding_with_timestamps(rule, binding)
        written = write_subgoal(substitute(replace(equation, left=equation.right), shown)).partition(" = ")[0]
        found = self._solver.evaluator.value(equation.right, binding)
        asked = self._solver.evaluator.value(equation.left, binding)
        if found is None or asked is None:
            return f"{written} has no value"
        return f"false: {written} is {write_value(found)}, not {write_value(asked)}"

    def _blocking(self, atom: Atom, binding: Binding) -> str:
        """The tuple that a negated subgoal runs into."""
        meant = self._restore_meaning(replace(atom, negated=False), binding)
        for found in self._solver.take_step(Match(meant), {}):
            return write_subgoal(self._times.with_timestamps(cast(Atom, substitute(meant, found))))
        return write_subgoal(self._times.with_timestamps(meant))

    def _write_test(self, subgoal: Subgoal, rule: Rule, binding: Binding) -> str:
        """A test with its values; where it calculates, as it was written and as it came out."""
        if isinstance(subgoal, Atom):
            return self._write(subgoal, binding)
        binding = self._times.binding_with_timestamps(rule, binding)
        plain = self._write(subgoal, binding)
        given = {name: value for name, value in binding.items() if not name.startswith("$v")}
        body = tuple(substitute(each, given, keep=True) for each in rule.body)
        written = write_original(substitute(subgoal, given, keep=True), replace(rule, body=body))
        return plain if written == plain else f"{written}, that is {plain}"

    def _write(self, subgoal: Subgoal, binding: Binding) -> str:
        if isinstance(subgoal, Atom):
            return write_subgoal(substitute(self._times.with_timestamps(self._restore_meaning(subgoal, binding)), {}))
        return write_subgoal(substitute(subgoal, binding))

    def _restore_meaning(self, atom: Atom, binding: Binding) -> Atom:
        """An atom with its values; one of the checks' own predicates as what it stands for."""
        asked = cast(Atom, substitute(atom, binding, keep=True))
        if not atom.predicate.startswith("$"):
            return asked
        [rule] = self._derivations.rules(atom.predicate)
        inner: Binding | None = {}
        for pattern, term in zip(rule.head.arguments, asked.arguments, strict=True):
            if isinstance(term, Constant) and not isinstance(pattern, Aggregate) and inner is not None:
                inner = match_pattern(pattern, term.value, inner)
        body = next(subgoal for subgoal in rule.body if isinstance(subgoal, Atom))
        return replace(cast(Atom, substitute(body, inner or {}, keep=True)), negated=atom.negated)


@dataclass(frozen=True)
class _Attempt:
    """How far a rule got: what was bound, and the step that failed; None if none did."""

    binding: Binding
    failed: Step | None


def _text(rule: Rule) -> str:
    return " ".join((rule.text or write_rule(rule)).split())


def _is_fresh(subgoal: Subgoal) -> bool:
    """Whether a subgoal only names a value: an equation that the checks made."""
    match subgoal:
        case Comparison("=", Variable(name), _) | Comparison(_, _, Variable(name)):
            return name.startswith("$v") if subgoal.operator == "=" else name == SINCE.strip()
    return False


def _test_values_first(steps: Iterable[Step]) -> list[Step]:
    """The same steps; of tests that follow each other, those of computed values first."""
    runs = groupby(steps, lambda step: isinstance(step, Check))
    return [step for is_test, run in runs for step in (sorted(run, key=_is_other_test) if is_test else run)]


def _is_other_test(step: Step) -> bool:
    return not (isinstance(step, Check) and _is_fresh(step.subgoal))


def _find_range(subgoal: Subgoal, rule: Rule) -> list[Atom]:
    """The range whose number an equation computes, if that is what it does."""
    named = {variable for variable in variables_of(subgoal) if variable.name.startswith("$index ")}
    atoms = [each for each in rule.body if isinstance(each, Atom) and each.predicate.startswith(RANGE)]
    return [atom for atom in atoms if named & set(variables_of(atom))]


def _explain_range(atom: Atom, binding: Binding) -> str:
    low, high, _ = (write_term(term) for term in cast(Atom, substitute(atom, binding)).arguments)
    return f"the range from {low} to {high} has no such number"


def _plain_names(argument: Term | Aggregate) -> list[str]:
    return [] if isinstance(argument, Aggregate) else [argument.name] if isinstance(argument, Variable) else []
