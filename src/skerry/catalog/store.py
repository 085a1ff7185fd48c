"""The catalogue's tables, on SQLAlchemy: a file of the project, or memory."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from threading import RLock

import pyarrow as pa
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    delete,
    insert,
    select,
)
from sqlalchemy import text as sql_text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import StaticPool

from skerry.catalog.arrow_tables import list_sensors, list_sources, list_subscriptions, list_views
from skerry.catalog.counters import VIEW, QueryCounters, declare_counters
from skerry.catalog.definitions import Sensor, Source, View
from skerry.catalog.find_sensors import Found, Search, count_sensors, find_sensors
from skerry.catalog.migrate import bring_up_to_date
from skerry.catalog.sensors import Sensors, declare_sensors
from skerry.catalog.similar_sensors import rank_similar
from skerry.catalog.statuses import SensorStatus, SensorStatuses, declare_statuses
from skerry.catalog.subscriptions import Subscriptions, declare
from skerry.catalog.view_log import ViewLog, declare_view_log
from skerry.errors import CatalogError
from skerry.model.time import Micros
from skerry.model.types import name_column_type, parse_field

__all__ = ["Catalog"]

_metadata = MetaData()

_entries = Table(
    "entries",
    _metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("name", String, unique=True, nullable=False),
    Column("kind", String, nullable=False),
    Column("definition", String, nullable=False),
    Column("text", String, nullable=False),
)
_of_sensors = declare_sensors(_metadata)
_of_statuses = declare_statuses(_metadata)
_of_subscriptions = declare(_metadata)
_of_counters = declare_counters(_metadata)
_of_views = declare_view_log(_metadata)

_PROGRAM = "#program"
"""Among a view's options: its rule program. No option has such a name."""

_FILE = "skerry.db"


class Catalog:
    """Sources, views, sensors and subscriptions by name.

    >>> catalog = Catalog.in_memory()
    >>> catalog.add(View("slow", {}, "CREATE ..."))
    >>> [view.name for view in catalog.views()]
    ['slow']
    """

    def __init__(self, url: str, patience_s: float = 5.0) -> None:
        """``patience_s`` is how long to wait while somebody else writes."""
        memory = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}} if ":memory:" in url else {}
        self.url = None if memory else url
        """Where others find it too, if they can."""
        self._lock = RLock()
        self._engine = create_engine(url, **(memory or {"connect_args": {"timeout": patience_s}}))
        try:
            self._connection: Connection = self._engine.connect()
            bring_up_to_date(self._connection, _metadata)
        except DatabaseError as error:
            raise CatalogError(f"cannot open the catalogue {url!r}: {error.orig}") from None
        self.counters = QueryCounters(self._connection, _of_counters)
        self.sensor_entries = Sensors(self._connection, _of_sensors)
        self.statuses = SensorStatuses(self._connection, _of_statuses)
        self.subscriptions = Subscriptions(self._connection, _of_subscriptions, self.counters)
        self.view_log = ViewLog(self._connection, _of_views)
        self._given: dict[str, View] | None = None

    @classmethod
    def in_memory(cls) -> "Catalog":
        """A catalogue that is gone with its process."""
        return cls("sqlite:///:memory:")

    @classmethod
    def of_project(cls, project: Path) -> "Catalog":
        """The catalogue of a project folder."""
        if not project.is_dir():
            raise CatalogError(f"there is no project folder {str(project)!r}")
        return cls(f"sqlite:///{project / _FILE}")

    def copy(self) -> "Catalog":
        """The same in memory: what becomes of the one is nothing to the other.

        >>> catalog = Catalog.in_memory()
        >>> catalog.copy().add(View("slow", {}, "CREATE ..."))
        >>> catalog.views()
        []
        """
        made = Catalog.in_memory()
        self._file.backup(made._file)
        return made

    @property
    def _file(self) -> sqlite3.Connection:
        file = self._connection.connection.driver_connection
        assert isinstance(file, sqlite3.Connection)
        return file

    @staticmethod
    def is_in(project: Path) -> bool:
        """Whether a folder has a catalogue."""
        return (project / _FILE).exists()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._engine.dispose()

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Keep what the block did only if it ends well. One thread at a time: all share the connection."""
        with self._lock:
            try:
                yield
                self._connection.commit()
            except OperationalError as error:
                self._connection.rollback()
                raise CatalogError(f"cannot write to the catalogue: {error.orig}") from None
            except BaseException:
                self._connection.rollback()
                raise

    def add(self, made: Source | View) -> None:
        """Enter a source or a view; its name must be free."""
        kind = "view" if isinstance(made, View) else "source"
        definition = json.dumps({**made.options, _PROGRAM: made.program} if isinstance(made, View) else _write(made))
        values = {"name": made.name, "kind": kind, "definition": definition, "text": made.text}
        try:
            self._connection.execute(insert(_entries).values(values))
        except IntegrityError:
            raise CatalogError(f"{made.name!r} exists already") from None
        if isinstance(made, View):
            self.view_log.note(made.name)

    def drop(self, name: str) -> None:
        """Strike an entry, and the sensors and counters that belong to it."""
        if self.has_view(name):
            self.view_log.note(name)
        self._connection.execute(delete(_entries).where(_entries.c.name == name))
        self.counters.forget(VIEW, [name])
        self.sensor_entries.forget(name)
        self.statuses.forget(name)

    def text_of(self, name: str) -> str | None:
        """The statement that made an entry, or None if there is no such entry."""
        found = self._connection.execute(select(_entries.c.text).where(_entries.c.name == name)).scalar_one_or_none()
        return None if found is None else str(found)

    def names(self) -> list[str]:
        """All entries, in order of their creation."""
        return [str(name) for (name,) in self._connection.execute(select(_entries.c.name).order_by(_entries.c.number))]

    def sources(self) -> list[Source]:
        """All sources and tables."""
        return [_read(name, json.loads(definition), text) for name, definition, text in self._rows("source")]

    def views(self) -> list[View]:
        """All views."""
        if self._given is not None:
            return list(self._given.values())
        return [_view(name, json.loads(definition), text) for name, definition, text in self._rows("view")]

    def has_view(self, name: str) -> bool:
        """Whether there is a view of that name."""
        return name in self._given if self._given is not None else bool(self._rows("view", name))

    def view(self, name: str) -> View:
        """One view."""
        if self._given is None:
            for _, definition, text in self._rows("view", name):
                return _view(name, json.loads(definition), text)
        elif name in self._given:
            return self._given[name]
        raise CatalogError(f"there is no view {name!r}; known are {', '.join(v.name for v in self.views()) or 'none'}")

    def put_sensors(self, source: str, sensors: Sequence[Sensor]) -> None:
        """Replace what a source says of its sensors, at once. What people entered of them stays."""
        with self.all_or_nothing():
            self.sensor_entries.put_known(source, sensors)

    def put_statuses(self, statuses: Iterable[SensorStatus]) -> None:
        """Note how sensors are now, at once."""
        with self.all_or_nothing():
            self.statuses.put(statuses)

    def add_heard(self, source: str, statuses: Sequence[SensorStatus]) -> None:
        """Note how sensors of a source are now, at once: counts are added. One that is new and has readings is entered.

        What was only garbled may have named anybody.
        """
        with self.all_or_nothing():
            self.sensor_entries.add_heard(source, [status.name for status in statuses if status.readings])
            self.statuses.add(statuses)

    def sensors(self) -> list[Sensor]:
        """All sensors, by name."""
        return self.sensor_entries.all()

    def find_sensors(self, search: Search, limit: int | None = None) -> list[Found]:
        """The sensors that fit, with their statuses: the nearest first if a location is given, by name otherwise."""
        return find_sensors(self._connection, _of_sensors, _of_statuses, search, limit)

    def count_sensors(self, search: Search) -> int:
        """How many sensors fit."""
        return count_sensors(self._connection, _of_sensors, _of_statuses, search)

    def find_similar(self, sensor: Sensor, *, with_offline: bool = False) -> list[Found]:
        """Who could stand in for a sensor, the best first."""
        columns = {source.name: source.schema.names for source in self.sources()}
        return rank_similar(sensor, self.find_sensors(Search(kind=sensor.kind)), columns, with_offline=with_offline)

    def read_table(self, name: str) -> pa.RecordBatch:
        """One of ``CATALOG_TABLES``, as it is now."""
        if name == "sensors":
            return list_sensors(self._connection, _of_sensors, _of_statuses)
        if name == "sources":
            return list_sources(self.sources())
        return list_views(self.views()) if name == "views" else list_subscriptions(self.subscriptions.all())

    @property
    def state(self) -> tuple[int, int]:
        """What is another after anybody, here or through another connection, has changed anything."""
        others = self._connection.execute(sql_text("PRAGMA data_version")).scalar_one()
        own = self._connection.execute(sql_text("SELECT total_changes()")).scalar_one()
        return int(others), int(own)

    def with_views(self, views: Iterable[View]) -> "Catalog":
        """The same catalogue, to be read as if it had these views and no others."""
        found = copy(self)
        found._given = {view.name: view for view in views}
        return found

    def reopen(self) -> "Catalog":
        """The same catalogue for another thread: through a connection of its own if it is a file, itself if not."""
        return self if self.url is None else Catalog(self.url)

    def _rows(self, kind: str, name: str | None = None) -> list[tuple[str, str, str]]:
        chosen = select(_entries.c.name, _entries.c.definition, _entries.c.text).where(_entries.c.kind == kind)
        if name is not None:
            chosen = chosen.where(_entries.c.name == name)
        return [(row[0], row[1], row[2]) for row in self._connection.execute(chosen.order_by(_entries.c.number))]


def _view(name: str, definition: dict[str, str], text: str) -> View:
    program = definition.pop(_PROGRAM, "")
    return View(name, definition, text, program)


def _write(source: Source) -> dict[str, object]:
    return {
        "columns": [[field.name, name_column_type(field)] for field in source.schema],
        "connector": source.connector,
        "options": dict(source.options),
        "event_time": source.event_time,
        "delay_us": source.delay_us,
        "is_table": source.is_table,
        "max_ahead_us": source.max_ahead_us,
        "idle_timeout_us": source.idle_timeout_us,
        "battery_lifetime_us": source.battery_lifetime_us,
        "sample_period_us": source.sample_period_us,
        "network": dict(source.network),
        "generated": [list(column) for column in source.generated],
        "history": dict(source.history),
    }


def _read(name: str, made: dict[str, object], text: str) -> Source:
    columns, options = made["columns"], made["options"]
    assert isinstance(columns, list)
    assert isinstance(options, dict)
    return Source(
        name,
        pa.schema([parse_field(column, type_) for column, type_ in columns]),
        str(made["connector"]),
        options,
        None if made["event_time"] is None else str(made["event_time"]),
        _read_span(made, "delay_us"),
        bool(made["is_table"]),
        text,
        _read_span(made, "max_ahead_us"),
        _read_span(made, "idle_timeout_us"),
        _read_span(made, "sample_period_us"),
        _read_span(made, "battery_lifetime_us"),
        _read_texts(made, "network"),
        tuple((name, sql) for name, sql in _read_pairs(made, "generated")),
        _read_texts(made, "history"),
    )


def _read_pairs(made: dict[str, object], name: str) -> list[list[str]]:
    """Pairs of texts; none if they were not known of yet when the source was made."""
    found = made.get(name)
    return found if isinstance(found, list) else []


def _read_span(made: dict[str, object], name: str) -> Micros | None:
    """A span, None if it was not given, or not known of yet when the source was made."""
    found = made.get(name)
    return Micros(found) if isinstance(found, int) else None


def _read_texts(made: dict[str, object], name: str) -> dict[str, str]:
    """Texts by name, none if they were not known of yet when the source was made."""
    found = made.get(name)
    return found if isinstance(found, dict) else {}
