"""All techniques for selection queries over the same data, timed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skerry.experiments.duality.claims import MEASURE
from skerry.experiments.duality.timing import check_agreement, measure_time
from skerry.experiments.duality.workload import Queries, make_points, make_queries
from skerry.experiments.figure import Panel
from skerry.index.box_index import BoxIndex
from skerry.model.arrays import Int64s
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.ibs_trees import IntervalTrees
from skerry.rivals.query_index.spatial_join import join_batch, join_immediately

__all__ = ["TIME", "Effort", "Techniques", "Timed", "measure_technique", "measure_techniques", "rehearse"]

Boxes = tuple[Int64s, Int64s]
Match = Callable[[Int64s], int]
"""Points to how many pairs of a point and a query there are."""

TIME = Panel(MEASURE, "time an element, µs", logarithmic=True)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    batch: int = 10_000
    """Elements that are processed together."""
    few: int = 1_000
    """How many elements are measured for techniques that take one after the other."""
    repeats: int = 3


@dataclass(frozen=True)
class Timed:
    """A technique at one point of a figure."""

    technique: str
    microseconds: float
    """Per element."""
    pairs: int
    """Of an element and a query that is true for it."""
    elements: int
    cluster: int


@dataclass(frozen=True)
class Techniques:
    """The paper's three, and the index that ships, over the same queries."""

    alone: Mapping[str, Match]
    """Those that take one element after the other."""
    batched: Callable[[int], Match]
    """SJ-Batch with clusters of so many elements."""
    shipped: Match

    @classmethod
    def over(cls, boxes: Boxes) -> "Techniques":
        """Structures for these queries."""
        file, trees, index = GridFile(*boxes), IntervalTrees(*boxes), BoxIndex.of(*boxes)
        alone: dict[str, Match] = {
            "SJ-Immediate": lambda points: join_immediately(file, points)[0].size,
            "IBS": lambda points: trees.match(points)[0].size,
        }
        return cls(alone, partial(_make_batched, file), lambda points: index.match(points).rows.size)


def _make_batched(file: GridFile, cluster: int) -> Match:
    return lambda points: join_batch(file, points, cluster)[0].size


def measure_techniques(techniques: Techniques, points: Int64s, clusters: Sequence[int], effort: Effort) -> list[Timed]:
    """The time of each technique. SJ-Batch has the cluster, of these, that is best."""
    few = points[:, : effort.few]
    batched = min(
        (measure_technique("SJ-Batch", techniques.batched(each), points, effort, each) for each in clusters),
        key=lambda found: found.microseconds,
    )
    alone = [measure_technique(name, match, few, effort) for name, match in techniques.alone.items()]
    shipped = measure_technique("shipped", techniques.shipped, points, effort)
    check_agreement({found.technique: found.pairs for found in (batched, shipped)})
    check_agreement({found.technique: found.pairs for found in alone} | {"shipped": techniques.shipped(few)})
    return [batched, *alone, shipped]


def measure_technique(technique: str, match: Match, points: Int64s, effort: Effort, cluster: int = 1) -> Timed:
    """The time of one."""
    cost, pairs = measure_time(lambda: match(points), points.shape[1], effort.repeats)
    return Timed(technique, cost, pairs, points.shape[1], cluster)


def rehearse(attributes: int) -> None:
    """Let all techniques run once, so that no kernel is compiled while it is measured."""
    techniques = Techniques.over(make_queries(Queries(2_000, attributes, attributes)))
    measure_techniques(techniques, make_points(100, attributes), (7,), Effort(repeats=1))
