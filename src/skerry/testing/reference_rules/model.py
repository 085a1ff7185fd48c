"""The model of a program over given facts, computed from nothing: what the reference engine does at every tick.

Components are taken in their order. One that is not recursive is computed once; positive recursion by adding what
follows until nothing does; one with stages stage by stage, in each its groups in order. A stage is final when the
next is begun, so a negated subgoal is only asked about what cannot change any more. One that only the facts can settle
is computed again and again, what is negated or aggregated being looked up in the last attempt, until two are equal.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from skerry.deduce.aggregates import NUMERIC, aggregate_values
from skerry.deduce.evaluate import Binding, Calls
from skerry.deduce.subgoal_order import Step
from skerry.deduce.values import Row, coerce, key, row_key
from skerry.deduce.why.solver import Solver, steps
from skerry.deduce.why.tables import Tables
from skerry.errors import RuleLimit
from skerry.model.term import Term, Value
from skerry.plan.program import Aggregate, Checked, Class, Component, Rule, Type
from skerry.testing.reference_rules.guard import Guard, exceeds_limit

__all__ = ["Modeller"]


class Modeller:
    """Computes models of one program."""

    def __init__(self, checked: Checked, calls: Calls, unit: int) -> None:
        self._checked, self._calls, self._unit = checked, calls, unit
        self._steps = {id(rule): steps(rule.body) for rule in checked.rules}

    def model(self, facts: Mapping[str, Iterable[Row]]) -> Tables:
        """All rows that follow from base facts, and these themselves."""
        tables = Tables(self._checked.predicates)
        for predicate, rows in facts.items():
            for row in rows:
                tables.add(predicate, row)
        made = _Model(self._checked, self._steps, Solver(tables, self._calls, self._unit))
        for component in self._checked.components:
            made.settle(component)
        return tables


class _Model:
    """A model in the making."""

    def __init__(self, checked: Checked, steps: Mapping[int, tuple[Step, ...]], solver: Solver) -> None:
        self._checked, self._predicates, self._steps, self._solver = checked, checked.predicates, steps, solver
        self._tables, self._guard = solver.tables, Guard(checked.program.limits)

    def settle(self, component: Component) -> None:
        """Derive all that a component's rules give."""
        if component.stages:
            self._settle_by_stages(component)
        elif component.kind == Class.L:
            self._settle_by_attempts(component)
        elif component.kind == Class.N:
            self._derive(component.rules)
        else:
            while self._derive(component.rules):
                pass

    def _settle_by_stages(self, component: Component) -> None:
        count, stage = 0, self._next_stage(component, None)
        while stage is not None:
            count += 1
            self._guard.stages(count, component.predicates[0], component.rules[0].number)
            for group in component.groups:
                rules = [rule for rule in component.rules if rule.head.predicate in group]
                while self._derive(rules, (stage, component)) and component.kind == Class.Y:
                    pass
            stage = self._next_stage(component, stage)

    def _settle_by_attempts(self, component: Component) -> None:
        """Attempt after attempt, the first against nothing. Where one comes again later, they go in a cycle."""
        attempts = [self._tables]
        while True:
            found = self._attempt(component, attempts[-1])
            same = [index for index, each in enumerate(attempts) if _are_equal(found, each, component.predicates)]
            if same and same[-1] == len(attempts) - 1:
                break
            if same:
                message = f"{component.predicates[0]!r} has no model that all agree on"
                raise RuleLimit(message, "", component.rules[0].number, "E201")
            attempts.append(found)
        for name in component.predicates:
            for row in found.rows(name):
                self._tables.add(name, row)

    def _attempt(self, component: Component, earlier: Tables) -> Tables:
        """What follows if what is negated or aggregated is as it was in an earlier attempt."""
        tables, own = Tables(self._predicates), set(component.predicates)
        for name in self._predicates.keys() - own:
            for row in self._tables.rows(name):
                tables.add(name, row)
        past = _Model(self._checked, self._steps, self._solver.over(earlier))
        for rule in component.rules:
            for row in past._heads(rule) if rule.aggregates else ():
                tables.add(rule.head.predicate, row)
        now = _Model(self._checked, self._steps, self._solver.over(tables, negated={name: earlier for name in own}))
        while now._derive(rule for rule in component.rules if not rule.aggregates):
            pass
        return tables

    def _next_stage(self, component: Component, last: int | None) -> int | None:
        """The least stage beyond the last of which a head follows from what is there."""
        stages = (
            _stage(row, component.stages[rule.head.predicate], component.falling)
            for rule in component.rules
            for row in self._heads(rule)
        )
        return min((stage for stage in stages if last is None or stage > last), default=None)

    def _derive(self, rules: Iterable[Rule], stage: tuple[int, Component] | None = None) -> bool:
        """Add what follows at once from what is there, of one stage alone if given; return whether any is new."""
        grown = False
        for rule in rules:
            predicate, found = rule.head.predicate, dict[object, Row]()
            for row in self._heads(rule):
                if stage is None or _stage(row, stage[1].stages[predicate], stage[1].falling) == stage[0]:
                    found[row_key(row)] = row
                    self._guard.tuples(len(found), predicate, rule.number)
            for row in found.values():
                grown |= self._tables.add(predicate, row)
            self._guard.tuples(len(self._tables.rows(predicate)), predicate, rule.number)
        return grown

    def _heads(self, rule: Rule) -> Iterator[Row]:
        """The rows that a rule gives over what is there."""
        predicate = self._predicates[rule.head.predicate]
        try:
            for values in self._aggregate(rule) if rule.aggregates else self._plain(rule):
                row = _fit_row(values, [column.type for column in predicate.columns])
                if row is not None and not exceeds_limit(row, predicate):
                    self._guard.row(row, predicate.name, rule.number)
                    yield row
        except OverflowError as error:
            raise RuleLimit(str(error), "declare a limit, or count in floats", rule.number) from None

    def _plain(self, rule: Rule) -> Iterator[Row]:
        terms = [argument for argument in rule.head.arguments if not isinstance(argument, Aggregate)]
        for binding in self._bindings(rule):
            row = self._solver.evaluator.row(terms, binding)
            if row is not None:
                yield row

    def _bindings(self, rule: Rule) -> Iterator[Binding]:
        pulse = partial(self._guard.step, rule.head.predicate, rule.number)
        return self._solver.solutions(self._steps[id(rule)], {}, pulse)

    def _aggregate(self, rule: Rule) -> Iterator[Row]:
        groups: dict[object, list[Row]] = {}
        seen: set[object] = set()
        for binding in self._bindings(rule):
            identity = tuple(key(binding[name]) for name in sorted(binding))
            row = None if identity in seen else self._contribution(rule, binding)
            seen.add(identity)
            if row is not None:
                group = tuple(
                    value for value, each in zip(row, rule.head.arguments, strict=True) if not _is_aggregate(each)
                )
                groups.setdefault(row_key(group), []).append(row)
        for rows in groups.values():
            yield tuple(
                aggregate_values(argument.function, column) if isinstance(argument, Aggregate) else column[0]
                for argument, column in zip(rule.head.arguments, zip(*rows, strict=True), strict=True)
            )

    def _contribution(self, rule: Rule, binding: Binding) -> Row | None:
        """The head's plain arguments, and what goes into its aggregates; None if one of them has no value."""
        columns = self._predicates[rule.head.predicate].columns
        row: list[Value] = []
        for argument, column in zip(rule.head.arguments, columns, strict=True):
            if isinstance(argument, Aggregate):
                value = 1 if argument.argument is None else self._solver.evaluator.value(argument.argument, binding)
                fits = argument.function not in NUMERIC or type(value) in (int, float)
                value = value if fits else None
            else:
                value = self._solver.evaluator.value(argument, binding)
                value = None if value is None else coerce(value, column.type)
            if value is None:
                return None
            row.append(value)
        return tuple(row)


def _is_aggregate(argument: Term | Aggregate) -> bool:
    return isinstance(argument, Aggregate)


def _stage(row: Row, column: int, falling: bool) -> int:
    """Which stage a row belongs to: a list counts by its length, and what falls from the other end."""
    value = row[column]
    stage = len(value) if isinstance(value, tuple) else value if isinstance(value, int) else 0
    return -stage if falling else stage


def _are_equal(one: Tables, other: Tables, predicates: Iterable[str]) -> bool:
    return all(one.keys(name).keys() == other.keys(name).keys() for name in predicates)


def _fit_row(values: Row, types: Iterable[Type]) -> Row | None:
    row: list[Value] = []
    for value, kind in zip(values, types, strict=True):
        fitted = coerce(value, kind)
        if fitted is None:
            return None
        row.append(fitted)
    return tuple(row)
