"""How the output rate of Figure 5 depends on the slowdown, which is ours to choose."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from skerry.experiments.figure import Figure, Panel
from skerry.experiments.snjoin.claims import is_ranked
from skerry.experiments.snjoin.figure5_complete_join import MAKERS, OVERLOAD, RANKING, load_of
from skerry.experiments.snjoin.measure_sizes import Course, Tell, measure_at_sizes

__all__ = ["measure_overload"]

_MEASURE = "answers_per_s"
_PANELS = (Panel("drop_percent", "input dropped, %"), Panel(_MEASURE, "answers a second", logarithmic=True))


def measure_overload(course: Course, overloads: Sequence[float], tell: Tell) -> Figure:
    """Measure the largest size of a course, whose slowdown stands for ``OVERLOAD``, at others as well."""
    tables = [_measure_at(course, times, tell) for times in overloads]
    title = f"Figure 5 at {course.sizes[-1]} streams, by the overload of the slowest technique"
    figure = Figure("figure5_overload", title, pa.concat_tables(tables), "overload", _PANELS, ())
    return figure.with_verdicts((), _notes(figure, overloads))


def _measure_at(course: Course, times: float, tell: Tell) -> pa.Table:
    settings = replace(course.settings, slowdown=course.settings.slowdown * times / OVERLOAD)
    once = Course(course.sizes[-1:], course.seconds, settings)
    tell(f"overload {times:g}")
    table = measure_at_sizes(MAKERS, "streams", once, partial(load_of, course.seconds), tell)
    return table.append_column("overload", pa.repeat(times, table.num_rows))


def _notes(figure: Figure, overloads: Sequence[float]) -> list[str]:
    lines = {technique: figure.line(technique, _MEASURE)[1] for technique in figure.techniques()}
    held = [
        f"{times:g}"
        for index, times in enumerate(overloads)
        if is_ranked({technique: line[index] for technique, line in lines.items()}, RANKING)
    ]
    where = f"at overload {', '.join(held)}" if held else "nowhere"
    return [f"SNJoin is above MJoin, and MJoin above the binary trees, {where}, of {', '.join(map(str, overloads))}."]
