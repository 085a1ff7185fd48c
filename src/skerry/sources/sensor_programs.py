"""The programs that sensors may know, by their kind."""

from collections.abc import Mapping, Sequence

from skerry.catalog import Sensor
from skerry.sensors.program import Program
from skerry.sensors.traffic.programs import PROGRAMS as TRAFFIC_PROGRAMS
from skerry.sources.sim.motes.kinds import KINDS

__all__ = ["find_programs"]

_PROGRAMS: Mapping[str, Sequence[Program]] = {
    "loop": TRAFFIC_PROGRAMS,
    **{kind.name: kind.programs for kind in KINDS.values()},
}


def find_programs(sensor: Sensor) -> Sequence[Program]:
    """The programs of a sensor's kind that it says it knows.

    >>> [program.name for program in find_programs(Sensor("a", "town", "air", programs=("raw", "means", "other")))]
    ['raw', 'means']
    """
    return [program for program in _PROGRAMS.get(sensor.kind, ()) if program.name in sensor.programs]
