"""The sensors of a run: what queries want of them, told to them as queries and sensors come and go."""

import json
import time
from collections.abc import Callable, Mapping, Sequence

from skerry.catalog import Catalog, Sensor, SensorStatus, Source
from skerry.plan.view import ViewPlan
from skerry.sensors.demand import SourceDemand
from skerry.sensors.keeper import DemandKeeper
from skerry.sensors.power import PowerModel
from skerry.sensors.proxies import Proxy
from skerry.sources.sensor_programs import find_programs
from skerry.sources.source import Receiving

__all__ = ["SensorsAtWork"]

_LOOK_SECONDS, _STATUS_SECONDS = 0.25, 5.0
_SEEN_EVERY = 12


class SensorsAtWork:
    """Keeps the demand of each source that is received, and the catalogue's word of its sensors.

    A source none of whose sensors speaks of itself costs nothing: nobody is told anything.
    """

    def __init__(
        self, catalog: Catalog, plans: Sequence[ViewPlan], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog, self._plans, self._clock = catalog, plans, clock
        self._receiving: Mapping[str, Receiving] = {}
        self._keepers: dict[str, DemandKeeper] = {}
        self._version = self._rounds = 0
        self._next_look = self._next_status = 0.0

    def begin(self, receiving: Mapping[str, Receiving]) -> None:
        """Readings are received from now on, by source."""
        self._receiving = receiving

    def look(self) -> None:
        """Tell sensors what is wanted, if that has changed; now and then note how they are."""
        now = self._clock()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        for name, receiving in self._receiving.items():
            if name not in self._keepers and receiving.list_proxies():
                self._keepers[name] = self._make_keeper(name, receiving)
        self._follow_subscriptions()
        for keeper in self._keepers.values():
            keeper.look()
        if now >= self._next_status and self._keepers:
            self._next_status = now + _STATUS_SECONDS
            self._note_statuses()

    def _make_keeper(self, name: str, receiving: Receiving) -> DemandKeeper:
        """The demand of all queries as of now. Subscriptions are followed from here on."""
        source = self._find_source(name)
        known = [sensor for sensor in self._catalog.sensors() if sensor.source == name]
        keeper = DemandKeeper(SourceDemand(source, known, find_programs, PowerModel()), receiving, self._put_sensors)
        keeper.add(plan for plan in self._plans if any(each.name == name for each in plan.sources))
        self._follow_subscriptions()
        keeper.add(self._catalog.subscriptions.all(name))
        return keeper

    def _find_source(self, name: str) -> Source:
        return next(source for source in self._catalog.sources() if source.name == name)

    def _follow_subscriptions(self) -> None:
        """Take up what has changed in the catalogue since."""
        version = self._catalog.subscriptions.version
        if version == self._version:
            return
        for change in self._catalog.subscriptions.since(self._version):
            keeper = self._keepers.get(change.subscription.stream)
            if keeper:
                (keeper.remove if change.removed else keeper.add)([change.subscription])
        self._version = version

    def _put_sensors(self, sensors: list[Sensor]) -> None:
        with self._catalog.all_or_nothing():
            self._catalog.sensor_entries.add_known(sensors)

    def _note_statuses(self) -> None:
        """How all sensors are, and what was seen of some: of each once per minute, for that is much to write."""
        for name, receiving in self._receiving.items():
            proxies = enumerate(sorted(receiving.list_proxies().items()))
            found = [
                _describe(name, sensor, proxy, with_seen=number % _SEEN_EVERY == self._rounds % _SEEN_EVERY)
                for number, (sensor, proxy) in proxies
            ]
            if found:
                self._catalog.put_statuses(found)
        self._rounds += 1


def _describe(source: str, sensor: str, proxy: Proxy, *, with_seen: bool) -> SensorStatus:
    state = proxy.state
    if state is None:
        return SensorStatus(sensor, source, proxy.heard_us)
    return SensorStatus(
        sensor,
        source,
        proxy.heard_us,
        battery=state.battery,
        control=state.control,
        setting=state.setting.to_json(),
        seen=json.dumps(proxy.watch.describe().to_json()) if with_seen else None,
    )
