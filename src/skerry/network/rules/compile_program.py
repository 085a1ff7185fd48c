"""A checked program into what motes are given."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import cast

from skerry.deduce.values import Row, coerce
from skerry.model.term import Constant, Variable
from skerry.network.rules.ask_less import ask_less
from skerry.network.rules.distances import Distances, host_of
from skerry.network.rules.join_sites import lay_out
from skerry.network.rules.node_program import Calendar, Denial, NodeProgram, NodeRule, Schema, Site
from skerry.network.rules.ranges import list_ranges
from skerry.network.rules.refusals import refuse_program
from skerry.network.rules.survey import Survey
from skerry.plan.program import (
    RANGE,
    SINCE,
    Aggregate,
    Atom,
    Checked,
    Comparison,
    Predicate,
    Rule,
    Spatial,
    Subgoal,
    Type,
    in_units,
)

__all__ = ["compile_program"]

_MOST_TRIED = 256
"""So many ways to choose homes are compared; beyond that, one predicate after the other is decided."""


def compile_program(checked: Checked, survey: Survey, calendar: Calendar) -> NodeProgram:
    """Find homes, join sites and ranges for a network, so that the fewest messages are expected."""
    refuse_program(checked)
    schemas = {each.name: each for each in _list_schemas(checked, calendar.unit)}
    outputs = [output.predicate for output in checked.outputs]
    apart = [_take_apart(rule, checked) for rule in checked.rules if schemas[rule.head.predicate].known is None]
    whole = _list_needed(apart, outputs)
    chosen = schemas | _choose_homes(checked, schemas, whole, survey)
    rules = _list_needed(ask_less(whole, chosen), outputs)
    layout = lay_out(rules, chosen, checked.program.spatial, survey)
    nearness = {rule.number: _find_nearness(rule, chosen, checked.program.spatial) for rule in rules}
    return NodeProgram(chosen, layout.rules, layout.ranges, survey.motes, calendar, nearness)


def _list_needed(rules: Sequence[NodeRule], outputs: Iterable[str]) -> list[NodeRule]:
    """The rules that an output needs."""
    needed, waiting = set[str](), list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            for rule in (rule for rule in rules if rule.head.predicate == name):
                waiting += [atom.predicate for atom in (*rule.positives, *(each.atom for each in rule.denials))]
    return [rule for rule in rules if rule.head.predicate in needed]


def _find_nearness(
    rule: NodeRule, schemas: Mapping[str, Schema], spatial: Sequence[Spatial]
) -> tuple[tuple[int | None, ...], ...]:
    distances = Distances(rule.positives, rule.conditions, schemas, spatial)
    hosts = [host_of(atom, schemas) for atom in (*rule.positives, *(each.atom for each in rule.denials))]
    return tuple(tuple(distances.between(one, other) for other in hosts) for one in hosts)


def _list_schemas(checked: Checked, unit: int) -> Iterator[Schema]:
    positions = {
        name: (number, position, component)
        for number, component in enumerate(checked.components)
        for position, name in enumerate(component.predicates)
    }
    for name, each in checked.predicates.items():
        if name.startswith(SINCE):
            continue
        number, position, component = positions.get(name, (-1, 0, None))
        schema = Schema(
            name=name,
            types=tuple(column.type for column in each.columns),
            host=0 if each.link is not None else each.host,
            keys=_list_keys(each, checked),
            limits=tuple(sorted(each.limits.items())),
            component=number,
            position=position,
            stage=component.stages.get(name) if component is not None else None,
            falling=component is not None and component.falling,
            link=each.link,
            known=_list_known(each, checked),
            time=each.time,
            span=None if each.window_us is None else in_units(each.window_us, unit),
        )
        yield schema if schema.known is None else _drop_beyond_limits(schema, schema.known)


def _drop_beyond_limits(schema: Schema, known: Sequence[Row]) -> Schema:
    return replace(schema, known=tuple(row for row in known if not schema.exceeds_limit(row)))


def _list_keys(predicate: Predicate, checked: Checked) -> tuple[int, ...]:
    """The columns that no rule aggregates: all tuples of a group live on one mote."""
    aggregated = {
        column
        for rule in checked.rules
        if rule.head.predicate == predicate.name
        for column, argument in enumerate(rule.head.arguments)
        if isinstance(argument, Aggregate)
    }
    return tuple(column for column in range(predicate.arity) if column not in aggregated)


def _list_known(predicate: Predicate, checked: Checked) -> tuple[Row, ...] | None:
    """The tuples of a predicate that only facts of the program's text derive."""
    rules = [rule for rule in checked.rules if rule.head.predicate == predicate.name]
    arguments = [argument for rule in rules for argument in rule.head.arguments]
    if predicate.base or any(rule.body for rule in rules) or not all(isinstance(each, Constant) for each in arguments):
        return None
    rows = [
        tuple(
            coerce(cast(Constant, term).value, column.type)
            for term, column in zip(rule.head.arguments, predicate.columns, strict=True)
        )
        for rule in rules
    ]
    return tuple(dict.fromkeys(cast(Row, row) for row in rows if None not in row))


def _take_apart(rule: Rule, checked: Checked) -> NodeRule:
    """Subgoals by kind. Where the window of a derived predicate begins, its home knows without asking.

    Every mote can count the numbers of a range.
    """
    atoms = [subgoal for subgoal in rule.body if isinstance(subgoal, Atom)]
    begins = [atom.arguments[0] for atom in atoms if atom.predicate.startswith(SINCE)]
    return NodeRule(
        number=rule.number,
        head=rule.head,
        positives=tuple(atom for atom in atoms if not atom.negated and not atom.predicate.startswith((SINCE, RANGE))),
        conditions=tuple(each for each in rule.body if not isinstance(each, Atom) and not _asks(each, begins)),
        denials=tuple(Denial(atom) for atom in atoms if atom.negated),
        site=Site(None),
        ranges=list_ranges(rule, checked.rules),
    )


def _asks(subgoal: Subgoal, begins: Sequence[object]) -> bool:
    return isinstance(subgoal, Comparison) and isinstance(subgoal.right, Variable) and subgoal.right in begins


def _choose_homes(
    checked: Checked, schemas: Mapping[str, Schema], rules: Sequence[NodeRule], survey: Survey
) -> dict[str, Schema]:
    """Try the node columns of predicates without a declared host."""
    open_ones = {
        name: columns
        for name, schema in schemas.items()
        if schema.host is None and schema.known is None and (columns := _list_node_columns(schema))
    }
    chosen = {name: replace(schemas[name], host=columns[0]) for name, columns in open_ones.items()}

    def price(changed: Mapping[str, Schema]) -> float:
        return lay_out(rules, {**schemas, **changed}, checked.program.spatial, survey).cost

    for choice in _list_choices(open_ones):
        changed = {**chosen, **{name: replace(schemas[name], host=column) for name, column in choice.items()}}
        if price(changed) < price(chosen):
            chosen = changed
    return chosen


def _list_choices(open_ones: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
    several = {name: columns for name, columns in open_ones.items() if len(columns) > 1}
    count = 1
    for columns in several.values():
        count *= len(columns)
    if count <= _MOST_TRIED:
        yield from (dict(zip(several, columns, strict=True)) for columns in product(*several.values()))
    else:
        yield from ({name: column} for name, columns in several.items() for column in columns)


def _list_node_columns(schema: Schema) -> list[int]:
    return [column for column in schema.keys if schema.types[column] is Type.NODE]
