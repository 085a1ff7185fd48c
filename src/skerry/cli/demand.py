"""What the sensors of a project must deliver, for ``skerry explain`` and ``skerry sensors show``."""

import json

from skerry.catalog import Sensor, Source
from skerry.database import Database
from skerry.sensors.demand import SourceDemand, compute_demand
from skerry.sensors.describe_demand import describe_demand, describe_sensor
from skerry.sensors.forecast import Forecaster
from skerry.sensors.seen import Seen
from skerry.sensors.sensor_forecasts import SensorForecasts
from skerry.sensors.whole_cost import WholeCost
from skerry.sources.connectors import CONNECTORS, open_connector
from skerry.sources.sensor_programs import find_programs

__all__ = ["describe_demands", "describe_sensor_demand", "find_demands"]


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
    forecasts = SensorForecasts(Forecaster(), _read_seen(database, sources))
    return compute_demand(database.plans(), subscriptions, sources, sensors, find_programs, WholeCost(), forecasts)


def _read_seen(database: Database, sources: list[Source]) -> dict[tuple[str, str], Seen]:
    """What runs have seen of sensors, by source and name."""
    statuses = [status for source in sources for status in database.catalog.statuses.all(source.name)]
    return {(each.source, each.name): Seen.from_json(json.loads(each.seen)) for each in statuses if each.seen}


def _list_sensors(database: Database, source: Source, known: list[Sensor]) -> list[Sensor]:
    """The catalogue's; until a source has been run, those that its declaration says."""
    found = [sensor for sensor in known if sensor.source == source.name]
    if found or not getattr(CONNECTORS.get(source.connector), "DECLARES_SENSORS", False):
        return found
    return list(open_connector(source, database.base).sensors())
