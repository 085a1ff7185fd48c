"""Views that are equal but for names: one runs, and the others have copies of its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.plan.fan_out import FanOut
from skerry.plan.sharing.forms import form_of
from skerry.plan.sharing.spelling import Spelling
from skerry.plan.view import ViewPlan

__all__ = ["Copy", "find_copies", "list_sharing_options"]

_SHARING = {"emit", "join", "max_combinations", "output", "rules"}
"""Options of views that may be equal. A view with another one has an output, or a budget, of its own."""
_OF_SENSORS = {option.name for option in SAMPLING_OPTIONS}


@dataclass(frozen=True)
class Copy:
    """A view whose answers are those of another, under other names."""

    name: str
    of: str
    columns: tuple[tuple[str, str], ...]
    """Its columns, and what they are called in the other view."""

    def rename(self, answers: pa.RecordBatch) -> pa.RecordBatch:
        """The answers of the other view as those of this one, without a copy in memory."""
        chosen = [answers.column(theirs) for _, theirs in self.columns]
        return pa.RecordBatch.from_arrays(chosen, names=[mine for mine, _ in self.columns])


def find_copies(views: Sequence[ViewPlan]) -> tuple[list[ViewPlan], tuple[Copy, ...]]:
    """The views that run, and the copies of these. Of equal views, the first runs."""
    first: dict[Spelling, tuple[ViewPlan, Mapping[Spelling, str]]] = {}
    running, copies = [], []
    for view in views:
        options = list_sharing_options(view)
        if options is None or isinstance(view.root, FanOut):
            running.append(view)
            continue
        form = form_of(view.root)
        names = {token: name for name, token in form.columns.items()}
        leader, known = first.setdefault((form.rows, frozenset(names), options), (view, names))
        if leader is view:
            running.append(view)
        else:
            columns = tuple((name, known[form.columns[name]]) for name in view.root.schema.names)
            copies.append(Copy(view.name, leader.name, columns))
    return running, tuple(copies)


def list_sharing_options(view: ViewPlan) -> frozenset[tuple[str, str]] | None:
    """The options by which its answers follow from its plan; None if it has to keep to itself."""
    options = {name: value for name, value in view.options.items() if name not in _OF_SENSORS}
    if options.keys() - _SHARING:
        return None
    return frozenset(each for each in options.items() if each != ("emit", "final"))
