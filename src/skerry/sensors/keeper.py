"""Keeps what sensors are told up to date: with the queries as they come and go, and the sensors as they are heard."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from skerry.catalog import Sensor, Subscription
from skerry.plan.view import ViewPlan
from skerry.sensors.demand import SourceDemand, name_query
from skerry.sensors.messages import SensorState, Setting
from skerry.sensors.proxies import Proxy

__all__ = ["DemandKeeper", "Sensors"]


class Sensors(Protocol):
    """The sensors of a source, as they are heard and told."""

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """What is wanted of them from now on."""

    def list_proxies(self) -> Mapping[str, Proxy]:
        """What is known of them by now."""


class DemandKeeper:
    """The demand over one source, and its sensors. ``put_sensors`` tells the catalogue who has turned up.

    A sensor that has not turned up yet is told nothing: what is wanted of it depends on its name and kind.
    """

    def __init__(
        self, demand: SourceDemand, sensors: Sensors, put_sensors: Callable[[list[Sensor]], None] | None = None
    ) -> None:
        self._demand, self._sensors, self._put_sensors = demand, sensors, put_sensors
        self._known: dict[str, Sensor] = dict(demand.sensors)
        self._counted = set(demand.queries)
        self._is_new = True

    def add(self, queries: Iterable[ViewPlan | Subscription]) -> None:
        """Count queries in, in place of those of the same names.

        Somebody else may write to the catalogue while it is read: what was read already may come as a change again.
        """
        for query in queries:
            self.remove([query])
            self._demand.add(query)
            self._counted.add(name_query(query))
            self._is_new = True

    def remove(self, queries: Iterable[ViewPlan | Subscription]) -> None:
        """Count queries out, if they were counted."""
        for name in self._counted.intersection(map(name_query, queries)):
            self._demand.remove(name)
            self._counted.remove(name)
            self._is_new = True

    def look(self) -> None:
        """Take up sensors that have turned up, and tell all what is wanted, if something has changed."""
        self._take_up_sensors()
        if self._is_new:
            self._sensors.want(self._demand.settings())
            self._is_new = False

    def _take_up_sensors(self) -> None:
        states = {name: proxy.state for name, proxy in self._sensors.list_proxies().items() if proxy.state}
        found = {name: self._describe(name, state) for name, state in states.items()}
        changed = [sensor for name, sensor in found.items() if self._known.get(name) != sensor]
        if not changed:
            return
        self._known |= {sensor.name: sensor for sensor in changed}
        self._demand.put_sensors(self._known.values())
        self._is_new = True
        if self._put_sensors:
            self._put_sensors(list(self._known.values()))

    def _describe(self, name: str, state: SensorState) -> Sensor:
        """A sensor as its state describes it; what the state does not say stays as it was."""
        known = self._known.get(name) or Sensor(name, self._demand.source.name, state.kind or "sensor")
        return replace(
            known,
            kind=state.kind or known.kind,
            latitude=known.latitude if state.latitude is None else state.latitude,
            longitude=known.longitude if state.longitude is None else state.longitude,
            programs=state.programs or known.programs,
            units=state.units or known.units,
        )
