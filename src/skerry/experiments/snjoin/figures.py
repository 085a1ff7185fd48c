"""The figures of the SNJoin paper, and how long each is measured."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from skerry.experiments.figure import Figure
from skerry.experiments.snjoin.complete import complete, overloading
from skerry.experiments.snjoin.dynamic import dynamic
from skerry.experiments.snjoin.harness import Settings
from skerry.experiments.snjoin.load import WINDOW_US
from skerry.experiments.snjoin.overload import overload
from skerry.experiments.snjoin.sizes import Course, Tell
from skerry.experiments.snjoin.variable_arity import variable_arity

__all__ = ["FULL", "QUICK", "Extent", "figures", "figures_of"]


@dataclass(frozen=True)
class Extent:
    """How much of each figure is measured."""

    complete: Course
    overloads: tuple[float, ...]
    variable_arity: Course
    dynamic: Course


_HIGH_RATE = Settings(slowdown=1, warm_up_us=2 * WINDOW_US, buffer_size=20_000)
"""The slowdown is found anew. It makes seconds of the milliseconds in which a table grows: so the large buffer."""
_MANY_SENSORS = Settings(slowdown=16, warm_up_us=WINDOW_US, slice_size=25)
"""Lists are so long that a tuple takes up to milliseconds: so the small slices. A full course is long enough for
several sweeps, between which tables fill with tuples that have ended."""
_HURRIED = replace(_MANY_SENSORS, slowdown=48)

FULL = Extent(
    Course((2, 4, 8, 12, 16, 20), 360, _HIGH_RATE),
    (1.0, 1.5, 2.0, 2.5, 3.0),
    Course((200, 500, 1_000, 2_000), 300, _MANY_SENSORS),
    Course((500, 1_000, 2_000), 300, _MANY_SENSORS),
)
QUICK = Extent(
    Course((2, 8, 20), 180, _HIGH_RATE),
    (1.5, 2.5),
    Course((200, 2_000), 180, _HURRIED),
    Course((2_000,), 180, _HURRIED),
)


def figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Measure one figure after the other."""
    return figures_of(QUICK if quick else FULL, tell)


def figures_of(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Measure figures 5, 6 and 7, and how the first depends on the slowdown."""
    slow = overloading(extent.complete, tell)
    yield complete(slow, tell)
    yield overload(slow, extent.overloads, tell)
    static = variable_arity(extent.variable_arity, tell)
    yield static
    yield dynamic(extent.dynamic, static, tell)
