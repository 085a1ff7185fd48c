"""A checked program in words: what ``skerry rules check`` prints."""

from collections import Counter
from collections.abc import Iterator

from skerry.deduce.rule_text import write_limits, write_link, write_span
from skerry.errors import Location
from skerry.model.options import suggest
from skerry.plan.program import Atom, Checked, Class, Component, Predicate

__all__ = ["describe", "find_use", "list_doubtful_bases"]

_KINDS = {
    Class.N: "not recursive",
    Class.X: "recursive, settled stage by stage",
    Class.S: "positive recursion",
    Class.Y: "by stages, with positive recursion inside a stage",
    Class.L: "settled tuple by tuple, as the facts allow",
}


def describe(checked: Checked) -> str:
    """Types of all predicates, then the components in the order in which they are settled.

    Predicates whose names begin with $ were added by the checks: they stand for ``_`` under NOT. Those that order the
    tuples of class L, which have spaces in their names, are not shown.
    """
    limits = [line.removesuffix(".") for line in write_limits(checked.program.limits)]
    parts = [*_predicates(checked), "", *_components(checked), "", *_outputs(checked), *limits, *_spatial(checked)]
    return "\n".join(parts)


def list_doubtful_bases(checked: Checked) -> Iterator[str]:
    """Predicates that are base only because no rule derives them, where it looks as if another was meant."""
    known = [each for each in checked.predicates.values() if not each.name.startswith("$")]
    doubtful = [each for each in known if each.base and not each.declared]
    uses = Counter(
        subgoal.predicate for rule in checked.program.rules for subgoal in rule.body if isinstance(subgoal, Atom)
    )
    for predicate in doubtful:
        better = [each.name for each in known if each not in doubtful or uses[each.name] > uses[predicate.name]]
        near = suggest(predicate.name, better)
        if near or any(each.base and each.declared for each in known):
            rule, location = find_use(checked, predicate.name)
            where = f"{location}, rule {rule}" if location else f"rule {rule}"
            files = f"{predicate.name}.csv or {predicate.name}.facts"
            yield f"{where}: no rule derives {predicate.name!r}, so its facts have to be in {files}{near}"


def find_use(checked: Checked, predicate: str) -> tuple[int | None, Location | None]:
    """The rule that asks for a predicate first, and where."""
    for rule in checked.program.rules:
        for subgoal in rule.body:
            if isinstance(subgoal, Atom) and subgoal.predicate == predicate:
                return rule.number, subgoal.location
    return None, None


def _predicates(checked: Checked) -> Iterator[str]:
    shown = [each for each in checked.predicates.values() if " " not in each.name]
    for predicate in sorted(shown, key=lambda each: not each.base):
        columns = ", ".join(f"{column.name}: {column.type}" for column in predicate.columns)
        words = ["base" if predicate.base else "derived", f"{predicate.name}({columns})", *_options(predicate)]
        yield " ".join(words)


def _options(predicate: Predicate) -> Iterator[str]:
    if predicate.window_us is not None:
        yield f"window {write_span(predicate.window_us)}"
    if predicate.window_rows is not None:
        yield f"window {predicate.window_rows} rows"
    if predicate.host is not None:
        yield f"host {predicate.columns[predicate.host].name}"
    if predicate.link is not None:
        yield write_link(predicate.link)
    for column, greatest in predicate.limits.items():
        yield f"limit {predicate.columns[column].name} <= {greatest}"


def _components(checked: Checked) -> Iterator[str]:
    for component in checked.components:
        if " " in component.predicates[0]:
            continue
        rules = ", ".join(str(rule.number) for rule in component.rules)
        yield f"stratum {component.stratum}, class {component.kind} ({_KINDS[component.kind]}):"
        yield f"  {_order(component)}; rule{'s' * (len(component.rules) > 1)} {rules}"
        if component.stages:
            falling = "falling " if component.falling else ""
            yield f"  {falling}stages: {', '.join(_stage(checked, name, component) for name in component.predicates)}"
        if component.kind is Class.L:
            yield "  refused while it runs, E201, if facts make a tuple need itself through NOT or an aggregate"


def _order(component: Component) -> str:
    groups = [", ".join(group) for group in component.groups]
    return " before ".join(f"({group})" if ", " in group and len(groups) > 1 else group for group in groups)


def _stage(checked: Checked, name: str, component: Component) -> str:
    column = checked.predicates[name].columns[component.stages[name]]
    length = "length of " if column.type == "list" else ""
    return f"{length}{name}.{column.name}"


def _spatial(checked: Checked) -> Iterator[str]:
    for spatial in checked.program.spatial:
        pair = f"{spatial.left} ~ {spatial.right} within {spatial.hops} hops"
        yield f"spatial {pair}: in a network alone"


def _outputs(checked: Checked) -> Iterator[str]:
    for output in checked.outputs:
        yield f"output {output.predicate} mode {output.mode}" + (f" to {output.to}" if output.to else "")
