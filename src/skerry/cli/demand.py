"""What the sensors of a project must deliver, for ``skerry explain`` and ``skerry sensors show``."""

from collections.abc import Mapping, Sequence

from skerry.catalog import Sensor, Source
from skerry.database import Database
from skerry.sensors.demand import SourceDemand, compute_demand
from skerry.sensors.describe_demand import describe_demand, describe_sensor
from skerry.sensors.power import PowerModel
from skerry.sensors.program import Program
from skerry.sensors.traffic.programs import PROGRAMS as TRAFFIC_PROGRAMS
from skerry.sources.connectors import CONNECTORS, open_connector

__all__ = ["describe_demands", "describe_sensor_demand", "find_demands"]

_PROGRAMS: Mapping[str, Sequence[Program]] = {"loop": TRAFFIC_PROGRAMS, "traffic": TRAFFIC_PROGRAMS}
"""The programs that sensors of a kind may know. Which of them one does, the catalogue says."""


def describe_demands(database: Database) -> list[str]:
    """A section for each source with sensors: what they must deliver, and by which query each part is forced."""
    return [describe_demand(demand) for demand in find_demands(database).values()]


def describe_sensor_demand(database: Database, sensor: Sensor) -> str:
    """What one sensor must deliver, and what it would deliver without each query that forces something alone."""
    return describe_sensor(find_demands(database, sensor.source)[sensor.source], sensor.name)


def find_demands(database: Database, only: str | None = None) -> dict[str, SourceDemand]:
    """What the sensors of each source must deliver; of one source, if that is all that is asked."""
    sources = [source for source in database.catalog.sources() if only in (None, source.name) and not source.is_table]
    known = database.catalog.sensors()
    sensors = [sensor for source in sources for sensor in _list_sensors(database, source, known)]
    subscriptions = [each for source in sources for each in database.catalog.subscriptions.all(source.name)]
    return compute_demand(database.plans(), subscriptions, sources, sensors, _find_programs, PowerModel())


def _list_sensors(database: Database, source: Source, known: list[Sensor]) -> list[Sensor]:
    """The catalogue's; until a source has been run, those that its declaration says."""
    found = [sensor for sensor in known if sensor.source == source.name]
    if found or not getattr(CONNECTORS.get(source.connector), "DECLARES_SENSORS", False):
        return found
    return list(open_connector(source, database.base).sensors())


def _find_programs(sensor: Sensor) -> Sequence[Program]:
    """The programs of a sensor's kind that it says it knows."""
    return [program for program in _PROGRAMS.get(sensor.kind, ()) if program.name in sensor.programs]
