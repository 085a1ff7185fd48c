"""Figure 7: the join of variable arity while sensors come and go."""

from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.snjoin.claims import judge_fall, judge_order, judge_steadiness
from skerry.experiments.snjoin.figure6_variable_arity import MAKERS, SLIM_TREE, load_of
from skerry.experiments.snjoin.measure_sizes import Course, Tell, measure_at_sizes
from skerry.experiments.snjoin.workload import make_churning

__all__ = ["measure_dynamic"]

_PANELS = (Panel("answers_per_s", "answers a second"),)
_CHEAP = (
    "ours reorganise when a new sensor is first heard, in one pass over the window, which takes about a millisecond"
)
_WANDERING = "the number of sensors is not that of Figure 6"


def measure_dynamic(course: Course, against: Figure, tell: Tell) -> Figure:
    """Measure as for Figure 6, ``against``, with another set of sensors every minute."""
    table = measure_at_sizes(MAKERS, "sensors", course, lambda size: load_of(make_churning(size, course.seconds)), tell)
    figure = Figure("figure7", "Figure 7: sensors come and go", table, "sensors", _PANELS, ())
    return figure.with_verdicts(_verdicts(figure, against), _notes(course))


def _verdicts(figure: Figure, against: Figure) -> list[Verdict]:
    figures, measure = (against, figure), "answers_per_s"
    ranking = [["snjoin"], ["mjoin"], ["tree"]]
    above = "output rate while sensors come and go: SNJoin above MJoin above binary trees"
    return [
        judge_order(figure, measure, ranking, above, SLIM_TREE),
        judge_fall(figures, "tree", measure, 50, "binary trees give less than in Figure 6", _CHEAP),
        judge_fall(figures, "mjoin", measure, 25, "MJoin gives less than in Figure 6", _CHEAP),
        judge_steadiness(figures, "snjoin", measure, 4, "SNJoin gives hardly less than in Figure 6", _WANDERING),
    ]


def _notes(course: Course) -> list[str]:
    return [
        f"{course.seconds} s simulated; else as Figure 6.",
        "Every minute between 1 and 100 sensors, at random, are added or removed, at random; so the number of sensors "
        "wanders from the one that is drawn.",
    ]
