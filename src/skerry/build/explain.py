"""A plan in words: the tree, what runs where, and what it keeps."""

import re
from collections.abc import Sequence

from skerry.build.cut import CutView, cut_view
from skerry.catalog.definitions import conceal_secrets
from skerry.plan.check_times import split_spine
from skerry.plan.fan_out import FanOut
from skerry.plan.node import Node, Stateful, Stateless
from skerry.plan.scan import Scan
from skerry.plan.sharing import FEWEST_INDEXED
from skerry.plan.union import Union, list_parts
from skerry.plan.view import ViewPlan

__all__ = ["explain"]

_NO_SHUFFLE = "route: beside the source, no shuffle"


def explain(view: ViewPlan, shared: ViewPlan | None = None, copied: str | None = None) -> str:
    """The tree of a view, from its answers down to its sources.

    ``shared`` is the plan that answers it with others, ``copied`` the view whose answers it has copies of.
    """
    cut = cut_view(view)
    copy = f"; not run: its answers are those of {copied}" if copied else ""
    lines = [f"view {view.name}" + _describe_options(view) + copy]
    if cut.state:
        where = "in one bucket, since several parts of it keep state" if cut.below else cut.state.describe_buckets()
        heading = f"-- operate: {where}; state: {cut.state.describe_state()}{_describe_sharing(shared)}"
        lines += _draw_state(heading, cut.above, cut.state, 1)
    else:
        depth = 1
        if isinstance(view.root, Union):
            lines, depth = [*lines, f"  {view.root.describe()}"], 2
        for feed in cut.feeds:
            lines += _draw_source(f"-- {_describe_selection(cut)}", feed.below, Scan(feed.source), depth)
    return _name_columns("\n".join(lines), cut.states)


def _draw_state(heading: str, above: Sequence[Stateless], state: Stateful, depth: int) -> list[str]:
    """A node that keeps something, what is above it, and all it reads."""
    nodes = [node.describe() for node in [*reversed(above), state]]
    lines = _indent([heading, *nodes], depth)
    for position, relation in enumerate(state.inputs):
        inner = depth + len(nodes)
        if isinstance(relation, Union):
            lines, inner = [*lines, "  " * inner + relation.describe()], inner + 1
        for part in list_parts(relation):
            between, base = split_spine(part)
            if isinstance(base, Scan):
                lines += _draw_source(f"-- {state.describe_route(position)}", between, base, inner)
            else:
                assert isinstance(base, Stateful)
                heading = f"-- in the same bucket; state: {base.describe_state()}"
                lines += _draw_state(heading, between, base, inner)
    return lines


def _draw_source(heading: str, below: Sequence[Node], scan: Scan, depth: int) -> list[str]:
    """What runs beside a source."""
    return _indent([heading, *(node.describe() for node in [*reversed(below), scan])], depth)


def _indent(lines: Sequence[str], depth: int) -> list[str]:
    """A heading, and nodes each a step further in than the one above it."""
    heading, *nodes = lines
    return ["  " * depth + heading, *("  " * (depth + more) + line for more, line in enumerate(nodes))]


def _describe_sharing(shared: ViewPlan | None) -> str:
    """With whom a view shares its join or aggregate, and what that is."""
    if shared is None:
        return ""
    assert isinstance(shared.root, FanOut)
    return shared.root.describe_sharing()


def _describe_selection(cut: CutView) -> str:
    if not cut.only_selects:
        return _NO_SHUFFLE
    return f"{_NO_SHUFFLE}; where a stream has {FEWEST_INDEXED} such views or more, by the query index"


def _describe_options(view: ViewPlan) -> str:
    options = ", ".join(f"{name} = {value!r}" for name, value in conceal_secrets(view.options).items())
    return f" ({options})" if options else ""


def _name_columns(text: str, states: Sequence[Stateful]) -> str:
    """Put what a column means in place of the name that only the plan knows it by."""
    known = [found for state in states if (found := state.meanings())]
    names = [name for found in known for name in found]
    if len(names) != len(set(names)):  # then one name has two meanings
        return text
    meanings = {name: meaning for found in known for name, meaning in found.items()}
    hidden = re.compile(
        r'"?\b(_(?:time|sensor|expected|received|completeness|key\d+|argument\d+|fold\d+|over\d+|call\d+))\b"?'
    )
    for _ in known:  # what a column of one state means may be a column of the one below
        text = hidden.sub(lambda found: meanings.get(found[1], found[0]), text)
    return text
