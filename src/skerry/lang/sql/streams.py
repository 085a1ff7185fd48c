"""What FROM can name: the catalogue's sources and tables, and its views."""

from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from skerry.catalog import Catalog, Sensor, Source
from skerry.catalog.arrow_tables import find_catalog_table
from skerry.model.time import Micros
from skerry.model.window import Window
from skerry.plan.view import ViewPlan

__all__ = ["HIDDEN", "PassedWindow", "Streams"]

HIDDEN = "#"
"""How names begin that no user can write: of subqueries, and of columns that only a plan knows."""


@dataclass(frozen=True)
class PassedWindow:
    """A window that was laid below a relation, and the column with its start."""

    window: Window
    column: str


class Streams:
    """Streams by name. A view is planned when it is asked for: most views read none of the others."""

    def __init__(self, catalog: Catalog, plan: Callable[[str], ViewPlan], hidden: Collection[str] = ()) -> None:
        self._sources = {source.name: source for source in catalog.sources()}
        self._catalog, self._plan, self._hidden = catalog, plan, frozenset(hidden)
        self._own: dict[str, ViewPlan] = {}
        self._tables: dict[str, Source] = {}
        self._unbound: dict[str, Callable[[], ViewPlan]] = {}
        self._windows: dict[str, PassedWindow] = {}
        self.plans: dict[str, ViewPlan] = {}
        """The views that were asked for."""
        self._asked_sensors: set[str] = set()

    @property
    def known(self) -> list[str]:
        """All that can be named."""
        views = [view.name for view in self._catalog.views() if view.name not in self._hidden]
        own = [name for name in {**self._own, **self._tables} if name[0] != HIDDEN]
        return [*own, *self._sources, *views]

    @property
    def asked_sensors(self) -> bool:
        """Whether a plan depends on what the catalogue knows of sensors."""
        return bool(self._asked_sensors)

    def make_name(self, alias: str) -> str:
        """A name that nobody can write and nothing has."""
        return f"{HIDDEN}{len(self._own) + len(self._unbound)} {alias}"

    def add(self, view: ViewPlan, name: str | None = None) -> None:
        """Let a plan be read that has no entry in the catalogue."""
        self._own[name or view.name] = view
        self._tables.pop(name or view.name, None)
        self._windows.pop(name or view.name, None)

    def note_window(self, name: str, window: PassedWindow) -> None:
        """Note that the rows of a plan carry the window that they are in."""
        self._windows[name] = window

    def find_window(self, name: str) -> PassedWindow | None:
        """The window that the rows of a plan carry, if they do."""
        return self._windows.get(name)

    def add_table(self, name: str, table: Source, bind: Callable[[], ViewPlan]) -> None:
        """Let a table be read that has no entry in the catalogue; ``bind`` plans it as a stream of its rows."""
        self._own.pop(name, None)
        self._tables[name], self._unbound[name] = table, bind

    def nest(self) -> "Streams":
        """The same streams: what is added to them is known there alone."""
        inner = copy(self)
        inner._own, inner._tables, inner._unbound = dict(self._own), dict(self._tables), dict(self._unbound)
        inner._windows = dict(self._windows)
        return inner

    def plan(self, name: str) -> ViewPlan:
        """What a view means."""
        if name in self._tables and name not in self._own:
            self._own[name] = self._unbound[name]()
        if name in self._own:
            return self._own[name]
        if name not in self.plans:
            self.plans[name] = self._plan(name)
        return self.plans[name]

    def find(self, name: str) -> Source | None:
        """The stream of that name, if there is one; or the table."""
        if name in self._tables:
            return self._tables[name]
        if name in self._sources and name not in self._own:
            return self._sources[name]
        if name in self._own or (name not in self._hidden and self._catalog.has_view(name)):
            return replace(self.plan(name).as_stream(), name=name)
        return None

    def find_rows(self, name: str) -> Source | None:
        """The stream of that name; of a table that is a query, a stream of its rows."""
        return replace(self.plan(name).as_stream(), name=name) if name in self._tables else self.find(name)

    def sensors(self, source: str) -> list[Sensor]:
        """The sensors of a source that the catalogue knows, by name."""
        self._asked_sensors.add(source)
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
