"""What FROM can name: the catalogue's sources and tables, and its views."""

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase

from skerry.catalog import Catalog, Sensor, Source
from skerry.catalog.arrow_tables import find_catalog_table
from skerry.model.time import Micros
from skerry.plan.view import ViewPlan

__all__ = ["Streams"]


class Streams:
    """Streams by name. A view is planned when it is asked for: most views read none of the others."""

    def __init__(self, catalog: Catalog, plan: Callable[[str], ViewPlan], hidden: Collection[str] = ()) -> None:
        self._sources = {source.name: source for source in catalog.sources()}
        self._catalog, self._plan, self._hidden = catalog, plan, frozenset(hidden)
        self._own: dict[str, ViewPlan] = {}
        self.plans: dict[str, ViewPlan] = {}
        """The views that were asked for."""
        self.asked_sensors = False
        """Whether a plan depends on what the catalogue knows of sensors."""

    @property
    def known(self) -> list[str]:
        """All that can be named."""
        views = [view.name for view in self._catalog.views() if view.name not in self._hidden]
        return [*self._own, *self._sources, *views]

    def add(self, view: ViewPlan) -> None:
        """Let a plan be read that has no entry in the catalogue."""
        self._own[view.name] = view

    def plan(self, name: str) -> ViewPlan:
        """What a view means."""
        if name in self._own:
            return self._own[name]
        if name not in self.plans:
            self.plans[name] = self._plan(name)
        return self.plans[name]

    def find(self, name: str) -> Source | None:
        """The stream of that name, if there is one."""
        if name in self._sources and name not in self._own:
            return self._sources[name]
        if name in self._own or (name not in self._hidden and self._catalog.has_view(name)):
            return self.plan(name).as_stream()
        return None

    def sensors(self, source: str) -> list[Sensor]:
        """The sensors of a source that the catalogue knows, by name."""
        self.asked_sensors = True
        return self._catalog.sensor_entries.all(source)

    def sample_periods(self, source: str) -> tuple[tuple[str, Micros], ...]:
        """How often the sensors of a source take samples, as far as the catalogue knows."""
        return tuple((each.name, each.sample_period_us) for each in self.sensors(source) if each.sample_period_us)

    def find_in_catalog(self, name: str, *, qualified: bool) -> Source | None:
        """The table of the catalogue of that name; ``qualified`` even if there is a stream of that name too."""
        return find_catalog_table(name) if qualified or self.find(name) is None else None

    def family(self, pattern: str) -> list[Source]:
        """All sources whose name fits a pattern; views are named one by one."""
        return [source for name, source in sorted(self._sources.items()) if fnmatchcase(name, pattern)]
