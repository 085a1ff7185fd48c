"""A plan in words: the tree, what runs where, and what it keeps."""

import re
from collections.abc import Sequence

from skerry.catalog import Source
from skerry.model.time import MICROS, show_span
from skerry.model.window import Window
from skerry.model.expression import Expression
from skerry.plan.side import Side
from skerry.build.builders import Stateful
from skerry.plan.deduce import Deduce
from skerry.plan.nodes import Absence, Aggregate, Gather, Join, Lookup, Node, Project, Scan, Select, ViewPlan
from skerry.plan.overload import Shedding, Spilling
from skerry.plan.shared import Deal
from skerry.build.stages import FEWEST_INDEXED, Stages, cut_into_stages, spine

__all__ = ["explain"]

_NO_SHUFFLE = "route: beside the source, no shuffle"


def explain(view: ViewPlan, shared: ViewPlan | None = None) -> str:
    """The tree of a view, from its answers down to its sources; ``shared`` is the plan that answers it with others."""
    stages = cut_into_stages(view)
    lines = [f"view {view.name}" + _options(view)]
    if stages.state:
        where = "in one bucket, since several parts of it keep state" if stages.below else _place(stages.state)
        heading = f"-- operate: {where}; state: {_kept(stages.state)}{_sharing(shared)}"
        lines += _branch(heading, stages.above, stages.state, 1)
    else:
        (feed,) = stages.feeds
        lines += _leaf(f"-- {_select(stages)}", feed.below, feed.source, 1)
    return _readable("\n".join(lines), stages.states)


def _branch(heading: str, above: Sequence[Node], state: Stateful, depth: int) -> list[str]:
    """A node that keeps something, what is above it, and all it reads."""
    told = [_told(node) for node in [*reversed(above), state]]
    lines = _indented([heading, *told], depth)
    for place, relation in enumerate(state.inputs):
        between, base = spine(relation)
        if isinstance(base, Scan):
            lines += _leaf(f"-- {_route(state, place)}", between, base.source, depth + len(told))
        else:
            assert isinstance(base, Stateful)
            lines += _branch(f"-- in the same bucket; state: {_kept(base)}", between, base, depth + len(told))
    return lines


def _leaf(heading: str, below: Sequence[Node], source: Source, depth: int) -> list[str]:
    """What runs beside a source."""
    return _indented([heading, *(_told(node) for node in [*reversed(below), Scan(source)])], depth)


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    """A heading, and nodes each a step further in than the one above it."""
    heading, *nodes = lines
    return ["  " * depth + heading, *("  " * (depth + place) + line for place, line in enumerate(nodes))]


def _place(state: Stateful) -> str:
    if isinstance(state, Aggregate):
        return f"by {', '.join(state.keys) or 'no key, in one bucket'}"
    if isinstance(state, Gather):
        return "by key"
    if isinstance(state, Deduce):
        return f"by {state.shard[0]}, the host that all rules share" if state.shard else "in one bucket"
    if isinstance(state, Absence):
        return f"by {', '.join(_meaning(state, 0, key) for key in state.sides[0].keys)}"
    if state.counted:
        return "in one bucket, since LAST_ROWS needs one order of arrival"
    if isinstance(state.overload, Shedding):
        return "in one bucket, since all readings share a budget"
    return f"by {', '.join(_meaning(state, 0, key) for key in state.sides[0].keys)}, a key in one bucket however hot"


def _kept(state: Stateful) -> str:
    if isinstance(state, Aggregate):
        return "one row a slice and group"
    if isinstance(state, Gather):
        return "every reading for its span"
    if isinstance(state, Deduce):
        return "every fact for its window, and what follows from them"
    if isinstance(state, Absence):
        return "readings until it is settled whether they have a partner, and their partners"
    return "the live readings within it" if isinstance(state.overload, Shedding) else "every live reading"


def _sharing(shared: ViewPlan | None) -> str:
    """With whom a view shares its join or aggregate, and what that is."""
    if shared is None:
        return ""
    assert isinstance(shared.root, Deal)
    one, others = shared.root.input, len(shared.root.views) - 1
    what = "aggregate"
    if isinstance(one, Join):
        what = f"join over {', '.join(f'{side.name} {_side_window(side)}' for side in one.sides)}"
    return f"; one {what} for this and {others} other views, told apart by the query index"


def _route(state: Stateful, place: int) -> str:
    if isinstance(state, Aggregate):
        return "route: beside the source, partial aggregates before the shuffle"
    name = f" {state.sides[place].name}" if isinstance(state, Join | Absence) else ""
    return f"route{name}: beside the source, only the columns that are needed"


def _select(stages: Stages) -> str:
    if not stages.only_selects:
        return _NO_SHUFFLE
    return f"{_NO_SHUFFLE}; where a stream has {FEWEST_INDEXED} such views or more, by the query index"


def _readable(text: str, states: Sequence[Stateful]) -> str:
    """Put what a column means in place of the name that only the plan knows it by."""
    aggregates = [state for state in states if isinstance(state, Aggregate)]
    if len(aggregates) != 1:
        return text
    (aggregate,) = aggregates
    below = aggregate.input
    assert isinstance(below, Project)
    meanings = {name: expression.column or expression.sql for name, expression in below.columns if name[0] == "_"}
    for fold in aggregate.folds:
        meanings[fold.name] = f"{fold.function.upper()}({meanings.get(fold.argument or '', fold.argument or '*')})"
    hidden = re.compile(r'"?\b(_(?:time|key\d+|argument\d+|fold\d+))\b"?')
    return hidden.sub(lambda found: meanings.get(found[1], found[0]), text)


def _key(join: Join | Absence, number: int) -> str:
    return " = ".join(f"{side.name}.{_meaning(join, p, side.keys[number])}" for p, side in enumerate(join.sides))


def _meaning(join: Join | Absence, place: int, name: str) -> str:
    """What a column of a side was computed from."""
    below = join.relations[place]
    assert isinstance(below, Project)
    expression = dict(below.columns)[name]
    return expression.column or expression.sql


def _options(view: ViewPlan) -> str:
    told = ", ".join(f"{name} = {value!r}" for name, value in view.options.items())
    return f" ({told})" if told else ""


def _told(node: Node) -> str:
    if isinstance(node, Select):
        return f"Select {node.text}"
    if isinstance(node, Project):
        return "Project " + ", ".join(dict.fromkeys(_column(name, expression) for name, expression in node.columns))
    if isinstance(node, Aggregate):
        folds = ", ".join(fold.name for fold in node.folds)
        return f"Aggregate {folds} by {', '.join((*node.keys, 'window'))} over {_window(node.window)}"
    if isinstance(node, Join | Absence):
        keys = " AND ".join(_key(node, number) for number in range(len(node.sides[0].keys)))
        windows = ", ".join(f"{side.name} {_side_window(side)}" for side in node.sides)
        if isinstance(node, Absence):
            return f"Absence of {node.sides[1].name}: {keys} over {windows}, given when the window is over"
        return f"Join ({node.technique}) {keys} over {windows}{_overload(node)}"
    if isinstance(node, Lookup):
        keys = " AND ".join(f"{mine.sql} = {other.sql}" for mine, other in node.keys)
        return f"Lookup {keys} in table {node.table.name}, read again when it changes"
    if isinstance(node, Gather):
        form = "one row a combination" if node.flatten else "factorised"
        moment = "on arrival, amended later" if node.early else "when the watermark passes"
        return f"Gather by key within {_span(node.span_us)}, {node.min_arity} sensors or more, {form}, {moment}"
    if isinstance(node, Deduce):
        facts = ", ".join(each.predicate for each in node.facts)
        return f"Deduce {node.output.predicate} from {facts}, every {_span(node.slide_us)}"
    assert isinstance(node, Scan)
    return _scan(node.source)


def _overload(join: Join) -> str:
    if isinstance(join.overload, Spilling):
        spilling = join.overload
        return f", up to {spilling.memory_rows} readings a bucket in memory and the others in {spilling.folder}"
    if join.overload is None:
        return ""
    shedding = join.overload
    lag = f", lag up to {show_span(shedding.max_lag_us)}" if shedding.max_lag_us else ""
    told = f", losses told in {shedding.loss_to}" if shedding.loss_to else ""
    return f", up to {shedding.memory_rows} readings a window{lag}, the others shed by {shedding.policy}{told}"


def _side_window(side: Side) -> str:
    return f"LAST_ROWS {side.last_rows}" if side.span_us is None else f"SLIDING {_span(side.span_us)}"


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
