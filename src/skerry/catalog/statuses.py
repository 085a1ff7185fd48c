"""How sensors are: what changes with every message, apart from what is known of them for long."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    func,
    select,
)
from sqlalchemy.dialects.sqlite import insert

from skerry.model.time import Micros

__all__ = ["COUNTS", "SensorStatus", "SensorStatuses", "declare_statuses", "read_status"]


@dataclass(frozen=True)
class SensorStatus:
    """Of one sensor, as somebody who hears it last knew it.

    ``last_seen_us`` is when its last message arrived. Counts are since it was heard for the first time. ``battery`` is
    the fraction that is left, ``control`` the number of the control that it acknowledged last, ``setting`` that
    control's setting as JSON has it, ``seen`` what was seen of its readings, as a text in JSON. None means that it is
    not known.
    """

    name: str
    source: str
    last_seen_us: Micros | None = None
    online: bool | None = None
    battery: float | None = None
    readings: int = 0
    gaps: int = 0
    duplicates: int = 0
    garbled: int = 0
    control: int | None = None
    setting: Mapping[str, Any] | None = field(default=None, hash=False)
    seen: str | None = field(default=None, repr=False)


_KEYS = ("name", "source")
_KEPT = ("last_seen_us", "online", "battery", "control", "setting", "seen")
"""What stays as it was known where a new status does not know it."""
COUNTS = ("readings", "gaps", "duplicates", "garbled")
"""What is counted of a sensor."""


def declare_statuses(metadata: MetaData) -> Table:
    """The table. It is no part of the table of sensors, since it is written every few seconds."""
    return Table(
        "sensor_statuses",
        metadata,
        Column("name", String, primary_key=True),
        Column("source", String, primary_key=True),
        Column("last_seen_us", BigInteger),
        Column("online", Boolean),
        Column("battery", Float),
        *(Column(name, BigInteger, nullable=False, server_default="0") for name in COUNTS),
        Column("control", Integer),
        Column("setting", String),
        Column("seen", String),
    )


class SensorStatuses:
    """Those of a catalogue. Changes belong to the transaction that its caller has open.

    >>> from skerry.catalog import Catalog
    >>> statuses = Catalog.in_memory().statuses
    >>> statuses.put([SensorStatus("loop-7", "road", Micros(5), online=True, battery=0.9, readings=2)])
    >>> statuses.put([SensorStatus("loop-7", "road", Micros(9), readings=3)])
    >>> found = statuses.of("loop-7", "road")
    >>> found.last_seen_us, found.battery, found.readings
    (9, 0.9, 3)
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection, self._table = connection, table
        new = insert(table)
        kept = {name: func.coalesce(new.excluded[name], table.c[name]) for name in _KEPT}
        counts = {name: new.excluded[name] for name in COUNTS}
        self._put = new.on_conflict_do_update(index_elements=_KEYS, set_=kept | counts)
        sums = {name: table.c[name] + new.excluded[name] for name in COUNTS}
        self._add = new.on_conflict_do_update(index_elements=_KEYS, set_=kept | sums)

    def put(self, statuses: Iterable[SensorStatus]) -> None:
        """Note how sensors are now, all in one go: 10,000 take a fraction of a second."""
        rows = [_to_row(status) for status in statuses]
        if rows:
            self._connection.execute(self._put, rows)

    def add(self, statuses: Iterable[SensorStatus]) -> None:
        """Note how sensors are now; their counts are what has come since, and are added to those that are there."""
        rows = [_to_row(status) for status in statuses]
        if rows:
            self._connection.execute(self._add, rows)

    def all(self, source: str | None = None) -> list[SensorStatus]:
        """All, or those of one source, by name."""
        chosen = select(self._table).order_by(self._table.c.name, self._table.c.source)
        if source is not None:
            chosen = chosen.where(self._table.c.source == source)
        return [read_status(row) for row in self._connection.execute(chosen).mappings()]

    def of(self, name: str, source: str) -> SensorStatus | None:
        """That of one sensor, if it was ever heard of."""
        chosen = select(self._table).where(self._table.c.name == name, self._table.c.source == source)
        found = self._connection.execute(chosen).mappings().one_or_none()
        return read_status(found) if found else None

    def forget(self, source: str) -> None:
        """Strike those of a source that is no more."""
        self._connection.execute(delete(self._table).where(self._table.c.source == source))


def read_status(row: Mapping[Any, Any]) -> SensorStatus:
    """What a row of the table says."""
    values = {name: row[name] for name in (*_KEYS, *_KEPT, *COUNTS)}
    return SensorStatus(**values | {"setting": json.loads(row["setting"]) if row["setting"] else None})


def _to_row(status: SensorStatus) -> dict[str, Any]:
    setting = None if status.setting is None else json.dumps(dict(status.setting))
    return dict(vars(status)) | {"setting": setting}
