"""A plan in words: the tree, what runs where, and what it keeps."""

import re
from collections.abc import Iterator

from skerry.catalog import Source
from skerry.model.time import MICROS
from skerry.model.window import Window
from skerry.operators.derive import Expression
from skerry.plan.nodes import Aggregate, Node, Project, Scan, Select, ViewPlan
from skerry.plan.stages import Stages, cut_into_stages

__all__ = ["explain"]


def explain(view: ViewPlan) -> str:
    """The tree of a view, from its answers down to its source."""
    stages = cut_into_stages(view)
    lines = [f"view {view.name}" + _options(view)]
    depth = 1
    for where, node in _placed(stages):
        if where:
            lines.append("  " * depth + f"-- {where}")
        lines.append("  " * depth + _told(node))
        depth += 1
    return _readable("\n".join(lines), stages)


def _readable(text: str, stages: Stages) -> str:
    """Put what a column means in place of the name that only the plan knows it by."""
    if stages.aggregate is None:
        return text
    below = stages.aggregate.input
    assert isinstance(below, Project)
    meanings = {name: expression.column or expression.sql for name, expression in below.columns if name[0] == "_"}
    for fold in stages.aggregate.folds:
        meanings[fold.name] = f"{fold.function.upper()}({meanings.get(fold.argument or '', fold.argument or '*')})"
    hidden = re.compile(r'"?\b(_(?:time|key\d+|argument\d+|fold\d+))\b"?')
    return hidden.sub(lambda found: meanings.get(found[1], found[0]), text)


def _options(view: ViewPlan) -> str:
    told = ", ".join(f"{name} = {value!r}" for name, value in view.options.items())
    return f" ({told})" if told else ""


def _placed(stages: Stages) -> Iterator[tuple[str, Node]]:
    """The nodes from the top, each stage announced before its first."""
    route = "route: beside the source, no shuffle"
    if stages.aggregate:
        keys = ", ".join(stages.keys) or "no key, in one bucket"
        for place, node in enumerate([*reversed(stages.above), stages.aggregate]):
            yield (f"operate: by {keys}; state: one row a pane and group" if place == 0 else ""), node
        route = "route: beside the source, partial aggregates before the shuffle"
    below: list[Node] = [*reversed(stages.below), Scan(stages.source)]
    for place, node in enumerate(below):
        yield (route if place == 0 else ""), node


def _told(node: Node) -> str:
    if isinstance(node, Select):
        return f"Select {node.text}"
    if isinstance(node, Project):
        return "Project " + ", ".join(dict.fromkeys(_column(name, expression) for name, expression in node.columns))
    if isinstance(node, Aggregate):
        folds = ", ".join(fold.name for fold in node.folds)
        return f"Aggregate {folds} by {', '.join((*node.keys, 'window'))} over {_window(node.window)}"
    assert isinstance(node, Scan)
    return _scan(node.source)


def _column(name: str, expression: Expression) -> str:
    if expression.column == name or name[0] == "_":
        return expression.column or expression.sql
    return f"{name} = {expression.sql}"


def _window(window: Window) -> str:
    if window.tumbling:
        return f"TUMBLE {_span(window.size_us)}"
    return f"HOP {_span(window.slide_us)} of {_span(window.size_us)}"


def _scan(source: Source) -> str:
    options = ", ".join(f"{name} = {value!r}" for name, value in source.options.items())
    mark = "no watermark" if source.delay_us is None else f"watermark {source.event_time} - {_span(source.delay_us)}"
    return f"Scan {source.name} ({source.connector}: {options}; {mark})"


def _span(span_us: int) -> str:
    """A span in the largest unit that divides it.

    >>> _span(90_000_000)
    '90 SECOND'
    """
    units = [(unit, size) for unit, size in MICROS.items() if span_us % size == 0 and unit != "WEEK"]
    unit, size = units[-1]
    return f"{span_us // size} {unit}" if span_us else "0 SECOND"
