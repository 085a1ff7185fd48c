"""Figure 6: whichever of up to 2,000 sensors of one tuple a second share a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.snjoin.claims import judge_gain, judge_order
from skerry.experiments.snjoin.harness import Joining, Tally
from skerry.experiments.snjoin.measure_sizes import Course, Tell, measure_at_sizes
from skerry.experiments.snjoin.workload import WINDOW_US, Lifetime, Load, Values, generate, make_steady
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.rivals.joins.match_lists import Lists
from skerry.rivals.joins.variable_arity import (
    VariableArityMJoin,
    VariableAritySNJoin,
    VariableArityTechnique,
    VariableArityTree,
)

__all__ = ["MAKERS", "SLIM_TREE", "load_of", "measure_variable_arity"]

_RATE_HZ = 1
_LIMIT = 2**40
_PANELS = (
    Panel("processing_us", "processor time a tuple, µs"),
    Panel("delay_ms", "output delay, ms"),
    Panel("drop_percent", "input dropped, %"),
    Panel("answers_per_s", "answers a second"),
)
SLIM_TREE = "our tree hands one list up through its levels and copies nothing, so that a level costs what a probe does"
_BARE = "likely: these are bare kernels, in which the fixed costs of an engine do not level the techniques"


@dataclass(frozen=True)
class _Listing:
    """A join of variable arity at work."""

    technique: VariableArityTechnique

    def take(self, load: Load, chosen: Int64s) -> Lists:
        starts = load.times[chosen]
        lists = self.technique.arrive(load.sensors[chosen], load.keys[chosen], starts, chosen)
        self.technique.sweep(Micros(int(starts[-1])))
        return lists

    def tally(self, lists: Lists) -> Tally:
        offsets, rows = lists
        return Tally(int((np.diff(offsets) > 0).sum()), rows.size)


def _make_joining(technique: type[VariableArityTechnique], sensor_count: int) -> Joining:
    """None needs to know how many sensors there are."""
    return _Listing(technique(WINDOW_US, _LIMIT))


MAKERS = {
    "snjoin": partial(_make_joining, VariableAritySNJoin),
    "mjoin": partial(_make_joining, VariableArityMJoin),
    "tree": partial(_make_joining, VariableArityTree),
}


def load_of(lifetimes: Sequence[Lifetime]) -> Load:
    """The paper's load for joins of variable arity."""
    return generate(lifetimes, _RATE_HZ, Values())


def measure_variable_arity(course: Course, tell: Tell) -> Figure:
    """Measure the three techniques."""
    table = measure_at_sizes(MAKERS, "sensors", course, lambda size: load_of(make_steady(size, course.seconds)), tell)
    figure = Figure("figure6", "Figure 6: variable arity", table, "sensors", _PANELS, ())
    return figure.with_verdicts(_verdicts(figure), _notes(course))


def _verdicts(figure: Figure) -> list[Verdict]:
    ranking = [["snjoin"], ["mjoin"], ["tree"]]
    above = "output rate at 2,000 sensors: SNJoin above MJoin above binary trees"
    return [
        judge_order(figure, "answers_per_s", ranking, above, SLIM_TREE),
        judge_gain(
            figure, ("snjoin", "tree"), "answers_per_s", 150, "SNJoin's output rate over binary trees'", SLIM_TREE
        ),
        judge_gain(figure, ("snjoin", "mjoin"), "answers_per_s", 60, "SNJoin's output rate over MJoin's", _BARE),
    ]


def _notes(course: Course) -> list[str]:
    return [
        f"{course.seconds} s simulated, the first 60 not counted; slowdown {course.settings.slowdown:g}; "
        f"sensors of {_RATE_HZ} tuple a second, a window of a minute, the paper's law with one value a rank.",
        "An answer is a tuple with a list of all that it joins with, as in the paper's algorithm; the product of the "
        "lists' parts, which the paper says is the number of output tuples, is not formed by any technique.",
        "With so few values a list is thousands of tuples long. Sweeps are lazy, every 100 s or so: until then MJoin "
        "and the tree walk past tuples that have ended, where SNJoin stops at the first.",
    ]
