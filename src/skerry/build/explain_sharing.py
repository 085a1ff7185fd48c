"""What several views share, in words: what runs once, and what each of them adds to it."""

from collections.abc import Mapping, Sequence

from skerry.model.window import Window
from skerry.plan.aggregate import Aggregate
from skerry.plan.fan_out import FanOut
from skerry.plan.join import Join
from skerry.plan.node import walk
from skerry.plan.sharing import Copy
from skerry.plan.sliced_aggregate import SlicedAggregate
from skerry.plan.view import ViewPlan

__all__ = ["explain_sharing"]

_MOST_NAMED = 20
"""Of so many views of a group it is said what each adds; of the rest, how many there are."""


def explain_sharing(views: Sequence[ViewPlan], running: Sequence[ViewPlan], copies: Sequence[Copy]) -> list[str]:
    """A paragraph about what is shared, if anything is. ``running`` are the plans as they run, some with ``copies``."""
    known = {view.name: view for view in views}
    lines = [line for plan in running if isinstance(plan.root, FanOut) for line in _explain_group(plan.root, known)]
    leaders: dict[str, list[str]] = {}
    for copy in copies:
        leaders.setdefault(copy.of, []).append(copy.name)
    for leader, names in leaders.items():
        lines.append(f"  {leader} runs once for {len(names) + 1} equal views")
        lines += [f"    {name}: adds the writing of its answers, and no state" for name in names[:_MOST_NAMED]]
        lines += _count_rest(names)
    return ["\n".join(["shared", *lines])] if lines else []


def _explain_group(shared: FanOut, known: Mapping[str, ViewPlan]) -> list[str]:
    names = [name for name, _ in shared.views]
    added = [f"    {name}: adds {_explain_added(shared, known[name])}" for name in names[:_MOST_NAMED]]
    state = f"; state: {shared.input.describe_state()}"
    return [f"  {shared.describe_shared()} for {len(names)} views{state}", *added, *_count_rest(names)]


def _explain_added(shared: FanOut, view: ViewPlan) -> str:
    """What there would not be without a view."""
    if isinstance(shared.input, SlicedAggregate):
        return _explain_window(shared.input, _window_of(view))
    if isinstance(shared.input, Join):
        return "its predicate over combinations, its own windows in it, in the query index"
    return "its predicate and its columns, per row of the state"


def _explain_window(store: SlicedAggregate, window: Window) -> str:
    """State goes by the longest window, work by the slices that a window is made of."""
    slices = store.slices.count_within(window.size_us)
    others = [each.size_us for each in store.windows if each != window]
    longest = max(others, default=0)
    state = "no state"
    if window.size_us > longest:
        more = slices - store.slices.count_within(longest)
        state = f"rows of about {_count_slices(more)} per group, for it is the longest"
    return f"{state}; when a window closes, the merge of up to {_count_slices(slices)} per group; no fold of readings"


def _count_slices(count: int) -> str:
    return f"{count} slice{'' if count == 1 else 's'}"


def _window_of(view: ViewPlan) -> Window:
    return next(node.window for node in walk(view.root) if isinstance(node, Aggregate))


def _count_rest(names: Sequence[str]) -> list[str]:
    rest = len(names) - _MOST_NAMED
    return [f"    and {rest} more"] if rest > 0 else []
