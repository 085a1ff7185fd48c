"""Measure techniques at one size of the network after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from skerry.experiments.snjoin.harness import Joining, Settings, measure
from skerry.experiments.snjoin.workload import Load, Values, generate, make_steady

__all__ = ["Course", "Makers", "Tell", "measure_at_sizes"]

Makers = Mapping[str, Callable[[int], Joining]]
"""Techniques by name, each made for a number of sensors."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Course:
    """Which sizes are measured, and for how long."""

    sizes: tuple[int, ...]
    seconds: int
    """Simulated, with the warm-up."""
    settings: Settings


def measure_at_sizes(
    makers: Makers, across: str, course: Course, load_of: Callable[[int], Load], tell: Tell
) -> pa.Table:
    """A row for each size and technique; all techniques meet the same load, and their kernels are compiled."""
    for make in makers.values():
        _rehearse(make)
    rows = []
    for size in course.sizes:
        load = load_of(size)
        for technique, make in makers.items():
            tell(f"{technique}, {size} {across}")
            rows.append({"technique": technique, across: size, **asdict(measure(make(size), load, course.settings))})
    return pa.Table.from_pylist(_round_floats(rows))


def _rehearse(make: Callable[[int], Joining]) -> None:
    """Let a technique meet all it will meet, windows that end too, so that no kernel is compiled while measured."""
    measure(make(4), generate(make_steady(4, seconds=200), 20, Values(3_000)), Settings(slowdown=0, warm_up_us=0))


def _round_floats(rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    return [
        {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
