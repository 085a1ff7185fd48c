"""Sensors by name: what their sources, their own messages and people say of them."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    MetaData,
    RowMapping,
    String,
    Table,
    delete,
    func,
    select,
    text,
    tuple_,
)
from sqlalchemy.dialects.sqlite import insert

from skerry.catalog.definitions import Sensor

__all__ = ["HEARD_KIND", "Sensors", "declare_sensors", "read_sensor"]

HEARD_KIND = "sensor"
"""What kind a sensor is of that was heard, and has not said."""
_AT_ONCE = 400
"""How many names a statement takes: SQLite has a limit."""
_LISTS = ("tags", "columns", "programs", "relations")
_KEYS = ("name", "source")
_PLAIN = ("kind", "latitude", "longitude", "sample_period_us")
_SAID = (*_PLAIN, *_LISTS, "units")


def declare_sensors(metadata: MetaData) -> Table:
    """The table. Lists are JSON; ``imported`` marks what people wrote, which sources do not overwrite."""
    return Table(
        "sensors",
        metadata,
        Column("name", String, primary_key=True),
        Column("source", String, primary_key=True),
        Column("kind", String, nullable=False),
        Column("latitude", Float),
        Column("longitude", Float),
        Column("tags", String, nullable=False),
        *(Column(name, String, nullable=False, server_default=text("'[]'")) for name in _LISTS if name != "tags"),
        Column("units", String, nullable=False, server_default=text("'{}'")),
        Column("sample_period_us", BigInteger),
        Column("imported", Boolean, nullable=False, server_default=text("0")),
    )


class Sensors:
    """Those of a catalogue. Changes belong to the transaction that its caller has open.

    >>> from skerry.catalog import Catalog
    >>> sensors = Catalog.in_memory().sensor_entries
    >>> sensors.put_known("road", [Sensor("loop-7", "road", "loop"), Sensor("loop-8", "road", "loop")])
    >>> sensors.enter([Sensor("loop-7", "road", "loop", tags=("i80",))])
    >>> sensors.put_known("road", [Sensor("loop-7", "road", "loop")])
    >>> [(sensor.name, sensor.tags) for sensor in sensors.all()]
    [('loop-7', ('i80',))]
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection, self._table = connection, table

    def put_known(self, source: str, sensors: Iterable[Sensor]) -> None:
        """Replace what a source itself says of its sensors; what people entered stays."""
        own = (self._table.c.source == source) & ~self._table.c.imported
        self._connection.execute(delete(self._table).where(own))
        self.add_known(sensors)

    def add_known(self, sensors: Iterable[Sensor]) -> None:
        """Add what sensors were heard to say of themselves; others, and what people entered, stay."""
        new = insert(self._table)
        said = {name: new.excluded[name] for name in _SAID}
        put = new.on_conflict_do_update(index_elements=_KEYS, set_=said, where=~self._table.c.imported)
        self._execute(put, [_to_row(sensor, imported=False) for sensor in sensors])

    def add_heard(self, source: str, names: Iterable[str]) -> None:
        """Add sensors of which no more is known than that they were heard; others stay as they are."""
        put = insert(self._table).on_conflict_do_nothing(index_elements=_KEYS)
        self._execute(put, [_to_row(Sensor(name, source, HEARD_KIND), imported=False) for name in names])

    def enter(self, sensors: Iterable[Sensor]) -> None:
        """Enter what people wrote, in place of all that was known of these sensors."""
        new = insert(self._table)
        said = {name: new.excluded[name] for name in (*_SAID, "imported")}
        put = new.on_conflict_do_update(index_elements=_KEYS, set_=said)
        self._execute(put, [_to_row(sensor, imported=True) for sensor in sensors])

    def forget(self, source: str) -> None:
        """Strike those of a source that is no more."""
        self._connection.execute(delete(self._table).where(self._table.c.source == source))

    def all(self, source: str | None = None) -> list[Sensor]:
        """All, or those of one source, by name."""
        chosen = select(self._table).order_by(self._table.c.name, self._table.c.source)
        if source is not None:
            chosen = chosen.where(self._table.c.source == source)
        return [read_sensor(row) for row in self._connection.execute(chosen).mappings()]

    def named(self, name: str) -> list[Sensor]:
        """Those of one name: as many as there are sources that have one."""
        chosen = select(self._table).where(self._table.c.name == name).order_by(self._table.c.source)
        return [read_sensor(row) for row in self._connection.execute(chosen).mappings()]

    def list_missing(self, keys: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Which of some sensors, by source and name, there are not."""
        there: set[tuple[str, str]] = set()
        for first in range(0, len(keys), _AT_ONCE):
            asked = tuple_(self._table.c.source, self._table.c.name).in_(keys[first : first + _AT_ONCE])
            found = select(self._table.c.source, self._table.c.name).where(asked)
            there |= {(row[0], row[1]) for row in self._connection.execute(found)}
        return [key for key in keys if key not in there]

    def count(self, source: str | None = None) -> int:
        """How many there are, or how many a source has."""
        counted = select(func.count()).select_from(self._table)
        if source is not None:
            counted = counted.where(self._table.c.source == source)
        return int(self._connection.execute(counted).scalar_one())

    def _execute(self, put: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(put, rows)


def read_sensor(row: RowMapping) -> Sensor:
    """What a row of the table says."""
    values = {name: row[name] for name in (*_KEYS, *_PLAIN)} | {name: tuple(json.loads(row[name])) for name in _LISTS}
    values["relations"] = tuple((kind, other) for kind, other in values["relations"])
    return Sensor(**values | {"units": json.loads(row["units"])})


def _to_row(sensor: Sensor, *, imported: bool) -> dict[str, Any]:
    lists = {name: json.dumps(getattr(sensor, name)) for name in _LISTS}
    return dict(vars(sensor)) | lists | {"units": json.dumps(dict(sensor.units)), "imported": imported}
