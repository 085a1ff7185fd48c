"""Figure 5: the complete join of up to 20 sensors of 100 tuples a second."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.snjoin.claims import judge_gain, judge_order, judge_saving
from skerry.experiments.snjoin.harness import Joining, Tally
from skerry.experiments.snjoin.measure_sizes import Course, Tell, measure_at_sizes
from skerry.experiments.snjoin.workload import WINDOW_US, Load, Values, generate, make_steady
from skerry.model.arrays import Int64s
from skerry.model.time import MICROS, Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.make_technique import TECHNIQUES, make_technique
from skerry.operators.joins.technique import Technique

__all__ = ["MAKERS", "OVERLOAD", "RANKING", "RATE_HZ", "choose_slowdown", "load_of", "measure_complete_join"]

RATE_HZ = 100
_VALUES = Values(values_a_rank=4_000, seed=2)
_LIMIT = 50_000_000
OVERLOAD = 2.5
"""How many times the time there is the slowest technique needs at the largest size, before it drops anything."""
RANKING = (("snjoin",), ("mjoin",), ("xjoin", "shj"))
_PANELS = (
    Panel("processing_us", "processor time a tuple, µs"),
    Panel("delay_ms", "output delay, ms", logarithmic=True),
    Panel("drop_percent", "input dropped, %"),
    Panel("answers_per_s", "answers a second", logarithmic=True),
)
_STEEP = (
    "an answer needs a tuple of each stream that was not dropped, so the output falls with a high power of the share "
    "that is kept, and hangs on the overload (figure5_overload)"
)
_KERNELS = "likely: these are bare kernels, in which the fixed costs of an engine do not level the techniques"
_SWAPPED = (
    "our trees keep all partial results of a minute; the paper's two savings stand in the other order than its two "
    "output rates, and may have been swapped"
)


@dataclass(frozen=True)
class _Complete:
    """A complete join at work."""

    technique: Technique

    def take(self, load: Load, chosen: Int64s) -> Int64s:
        starts = load.times[chosen]
        arrivals = Arrivals(load.sensors[chosen], load.keys[chosen], starts, starts + WINDOW_US, chosen)
        found = self.technique.arrive(arrivals)
        self.technique.sweep(Micros(int(starts[-1])))
        return found

    def tally(self, found: Int64s) -> Tally:
        """Rows are numbered by arrival: a combination belongs to the last of its tuples."""
        return Tally(int(np.unique(found.max(axis=1)).size) if found.size else 0, int(found.shape[0]))


def measure_complete_join(course: Course, tell: Tell) -> Figure:
    """Measure all techniques, so slow that the largest size overloads the slowest."""
    table = measure_at_sizes(MAKERS, "streams", course, partial(load_of, course.seconds), tell)
    figure = Figure("figure5", "Figure 5: complete join", table, "streams", _PANELS, ())
    return figure.with_verdicts(_verdicts(figure), _notes(course))


def _make_joining(name: str, size: int) -> Joining:
    return _Complete(make_technique(name, [0] * size, _LIMIT))


MAKERS = {name: partial(_make_joining, name) for name in TECHNIQUES}
"""All techniques; the paper has SNJoin, MJoin and trees of XJoins."""


def load_of(seconds: int, size: int) -> Load:
    """The load for complete joins."""
    return generate(make_steady(size, seconds), RATE_HZ, _VALUES)


def choose_slowdown(course: Course, tell: Tell) -> Course:
    """The same course with the slowdown that makes ``OVERLOAD`` true on this machine."""
    largest, unhurried = course.sizes[-1], replace(course.settings, slowdown=0.0)
    once = Course((largest,), course.seconds, unhurried)
    table = measure_at_sizes(MAKERS, "streams", once, partial(load_of, course.seconds), tell)
    busy = max(table.column("processing_us").to_pylist()) * largest * RATE_HZ / MICROS["SECOND"]
    return replace(course, settings=replace(course.settings, slowdown=float(f"{OVERLOAD / busy:.2g}")))


def _verdicts(figure: Figure) -> list[Verdict]:
    above = "output rate at 20 streams: SNJoin above MJoin above binary trees"
    return [
        judge_order(figure, "answers_per_s", RANKING, above, _STEEP),
        judge_saving(
            figure, ("snjoin", "mjoin"), "processing_us", 38, "SNJoin's processing time below MJoin's", _KERNELS
        ),
        judge_saving(
            figure, ("snjoin", "xjoin"), "processing_us", 18, "SNJoin's processing time below XJoins'", _SWAPPED
        ),
        judge_gain(figure, ("snjoin", "xjoin"), "answers_per_s", 100, "SNJoin's output rate over XJoins'", _STEEP),
        judge_gain(figure, ("snjoin", "mjoin"), "answers_per_s", 45, "SNJoin's output rate over MJoin's", _STEEP),
    ]


def _notes(course: Course) -> list[str]:
    settings, values = course.settings, _VALUES.values_a_rank
    return [
        f"{course.seconds} s simulated, the first {settings.warm_up_us // MICROS['SECOND']} not counted; sensors of "
        f"{RATE_HZ} tuples a second, a window of a minute.",
        f"Slowdown {settings.slowdown:g}: the slowest technique, before it drops anything, needs {OVERLOAD:g} times "
        f"the time there is at {course.sizes[-1]} streams. How much the output rates depend on that is drawn apart.",
        "An answer is a tuple that completes at least one combination; content is the number of combinations.",
        "The paper's law with one value a rank gives some 10^60 combinations a tuple at 20 streams. Here a rank stands "
        f"for {values:,} values, so that the likeliest come about once a window and stream.",
        "Techniques that drop much have smaller tables, and so cost less a tuple than they would. With few streams "
        "slices are small, and a tuple bears more of what a slice costs.",
    ]
