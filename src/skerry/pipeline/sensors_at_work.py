"""The sensors of a run: what queries want of them, told to them as queries and sensors come and go."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from skerry.catalog import Catalog, Sensor, Source
from skerry.pipeline.sensor_statuses import StatusWriter
from skerry.plan.view import ViewPlan
from skerry.sensors.demand import SourceDemand
from skerry.sensors.keeper import DemandKeeper
from skerry.sensors.whole_cost import WholeCost
from skerry.sources.sensor_programs import find_programs
from skerry.sources.source import Receiving

__all__ = ["SensorsAtWork"]

_LOOK_SECONDS = 0.25


class SensorsAtWork:
    """Keeps the demand of each source that is received, and the catalogue's word of its sensors.

    A source none of whose sensors speaks of itself costs nothing: nobody is told anything. Views may come and go in
    another thread; what that means for sensors is found out with the next look.
    """

    def __init__(
        self, catalog: Catalog, plans: Sequence[ViewPlan], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog, self._clock = catalog, clock
        self._plans = {plan.name: plan for plan in plans}
        self._changes: deque[tuple[Sequence[ViewPlan], Sequence[str]]] = deque()
        self._receiving: Mapping[str, Receiving] = {}
        self._keepers: dict[str, DemandKeeper] = {}
        self._version = 0
        self._next_look = 0.0
        self._statuses = StatusWriter(catalog, clock)

    def begin(self, receiving: Mapping[str, Receiving]) -> None:
        """Readings are received from now on, by source."""
        self._receiving = receiving

    def change_views(self, came: Sequence[ViewPlan], went: Sequence[str]) -> None:
        """Count views in and out as they come and go."""
        self._changes.append((came, went))

    def _change_views(self, came: Sequence[ViewPlan], went: Sequence[str]) -> None:
        gone = [self._plans.pop(name) for name in went if name in self._plans]
        self._plans |= {plan.name: plan for plan in came}
        for source, keeper in self._keepers.items():
            keeper.remove(gone)
            keeper.add(plan for plan in came if any(each.name == source for each in plan.sources))

    def look(self) -> None:
        """Tell sensors what is wanted, if that has changed; now and then note how they are."""
        while self._changes:
            self._change_views(*self._changes.popleft())
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
        self._statuses.look(self._receiving)

    def end(self) -> None:
        """Nothing comes in any more: note what has come since the last look."""
        self._statuses.write(self._receiving, with_profiles=True)

    def _make_keeper(self, name: str, receiving: Receiving) -> DemandKeeper:
        """The demand of all queries as of now. Subscriptions are followed from here on."""
        source = self._find_source(name)
        known = [sensor for sensor in self._catalog.sensors() if sensor.source == name]
        keeper = DemandKeeper(SourceDemand(source, known, find_programs, WholeCost()), receiving, self._put_sensors)
        keeper.add(plan for plan in self._plans.values() if any(each.name == name for each in plan.sources))
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
