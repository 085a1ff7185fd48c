"""The figures of the SNJoin paper, and how long each is measured."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from skerry.experiments.figure import Figure
from skerry.experiments.snjoin.disk_support import measure_disk_support
from skerry.experiments.snjoin.figure4_probing_sequences import SequenceCourse, measure_probing_sequences
from skerry.experiments.snjoin.figure5_complete_join import choose_slowdown, measure_complete_join
from skerry.experiments.snjoin.figure5_overload import measure_overload
from skerry.experiments.snjoin.figure6_variable_arity import measure_variable_arity
from skerry.experiments.snjoin.figure7_sensors_come_and_go import measure_dynamic
from skerry.experiments.snjoin.figure8_distributed_join import StarCourse, measure_distributed_join
from skerry.experiments.snjoin.figure9_regions import RegionCourse, measure_regions
from skerry.experiments.snjoin.harness import Settings
from skerry.experiments.snjoin.measure_sizes import Course, Tell
from skerry.experiments.snjoin.workload import WINDOW_US
from skerry.model.time import MICROS

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]


@dataclass(frozen=True)
class Extent:
    """How much of each figure is measured."""

    sequences: SequenceCourse
    complete: Course
    overloads: tuple[float, ...]
    disk: Course
    variable_arity: Course
    dynamic: Course
    distributed: StarCourse
    regions: RegionCourse


_HIGH_RATE = Settings(slowdown=1, warm_up_us=2 * WINDOW_US, buffer_size=20_000)
"""The slowdown is found anew. It makes seconds of the milliseconds in which a table grows: so the large buffer."""
_BY_THE_SECOND = replace(_HIGH_RATE, warm_up_us=WINDOW_US, slice_size=5_000, wait_us=MICROS["SECOND"])
"""Operators of views take batches: what has come in a second."""
_MANY_SENSORS = Settings(slowdown=16, warm_up_us=WINDOW_US, slice_size=25)
"""Lists are so long that a tuple takes up to milliseconds: so the small slices. A full course is long enough for
several sweeps, between which tables fill with tuples that have ended."""
_HURRIED = replace(_MANY_SENSORS, slowdown=48)

FULL = Extent(
    SequenceCourse((4, 8, 12, 16, 20), 120),
    Course((2, 4, 8, 12, 16, 20), 360, _HIGH_RATE),
    (1.0, 1.5, 2.0, 2.5, 3.0),
    Course((2, 3, 4, 6, 8, 12, 20), 240, _BY_THE_SECOND),
    Course((200, 500, 1_000, 2_000), 300, _MANY_SENSORS),
    Course((500, 1_000, 2_000), 300, _MANY_SENSORS),
    StarCourse(tuple(range(200, 2_001, 200)), 90, seeds=5),
    RegionCourse(400, 90, (1, 2, 4)),
)
QUICK = Extent(
    SequenceCourse((4, 8, 20), 70),
    Course((2, 8, 20), 180, _HIGH_RATE),
    (1.5, 2.5),
    Course((2, 8, 20), 150, _BY_THE_SECOND),
    Course((200, 2_000), 180, _HURRIED),
    Course((2_000,), 180, _HURRIED),
    StarCourse((200, 400), 75),
    RegionCourse(200, 75, (1, 4)),
)


def measure_figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Measure one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell)


def measure_extent(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Measure figures 4 to 9, how the second depends on the slowdown, disk support, and figure 9 by regions."""
    yield measure_probing_sequences(extent.sequences, tell)
    slow = choose_slowdown(extent.complete, tell)
    yield measure_complete_join(slow, tell)
    yield measure_overload(slow, extent.overloads, tell)
    static = measure_variable_arity(extent.variable_arity, tell)
    yield static
    yield measure_dynamic(extent.dynamic, static, tell)
    yield measure_disk_support(extent.disk, tell)
    yield from measure_distributed_join(extent.distributed, tell)
    yield measure_regions(extent.regions, tell)
