"""Whether a view that reads other views can know when its windows are complete."""

from skerry.errors import InputError
from skerry.plan.node import Node, Stateful, Stateless
from skerry.plan.union import list_parts
from skerry.plan.view import ViewPlan

__all__ = ["check_times", "find_lag", "split_spine"]


def split_spine(root: Node) -> tuple[tuple[Stateless, ...], Node]:
    """The stateless nodes on the way down, from the lowest up, and what they stand on."""
    found: list[Stateless] = []
    node = root
    while isinstance(node, Stateless):
        found.append(node)
        node = node.input
    return tuple(reversed(found)), node


def check_times(view: ViewPlan) -> None:
    """Refuse a state over another state whose answers it cannot wait for."""
    _, base = split_spine(view.root)
    if isinstance(base, Stateful):
        _check_below(view, base)


def find_lag(view: ViewPlan, state: Stateful, position: int, base: Stateful) -> int:
    """How far behind the times are that a state goes by in the answers of one below it."""
    if not state.waits:
        return 0
    time = state.time_of(position)
    lag = None if time is None else state.inputs[position].lag_us(time)
    if lag is None:
        known = ", ".join(base.time_columns) or "none of its columns"
        message = "a window over answers of another view goes by a time that these come in the order of"
        raise InputError(f"view {view.name!r}: {message}; here {known} can be used{base.no_time_reason}")
    return lag


def _check_below(view: ViewPlan, state: Stateful) -> None:
    for position, relation in enumerate(state.inputs):
        for part in list_parts(relation):
            _, base = split_spine(part)
            if isinstance(base, Stateful):
                _check_below(view, base)
                find_lag(view, state, position, base)
