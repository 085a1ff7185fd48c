"""The catalogue as tables: what SQL can ask of sensors, sources, views and subscriptions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, Table, and_, func, select

from skerry.catalog.definitions import Source, View, conceal_secrets
from skerry.catalog.statuses import COUNTS
from skerry.catalog.subscriptions import Subscription
from skerry.model.types import TIMESTAMP, name_column_type

__all__ = [
    "CATALOG",
    "CATALOG_TABLES",
    "find_catalog_table",
    "is_catalog_table",
    "list_sensors",
    "list_sources",
    "list_subscriptions",
    "list_views",
]

CATALOG = "catalog"
"""The schema that the tables are in, and in place of a connector, where one is looked up."""
_TEXTS, _OPTIONS = pa.list_(pa.string()), pa.map_(pa.string(), pa.string())
_SPAN = pa.month_day_nano_interval()
"""What INTERVAL is where DuckDB gives it: columns that pass through an expression keep their type."""

CATALOG_TABLES: Mapping[str, pa.Schema] = MappingProxyType(
    {
        "sensors": pa.schema(
            {
                **{"name": pa.string(), "source": pa.string(), "kind": pa.string()},
                **{"lat": pa.float64(), "lon": pa.float64(), "tags": _TEXTS, "columns": _TEXTS, "units": _OPTIONS},
                **{"sample_period": _SPAN, "programs": _TEXTS, "online": pa.bool_(), "last_seen": TIMESTAMP},
                "battery": pa.float64(),
                **dict.fromkeys(COUNTS, pa.int64()),
            }
        ),
        "sources": pa.schema(
            {
                **{"name": pa.string(), "connector": pa.string(), "is_table": pa.bool_()},
                **{"columns": _TEXTS, "types": _TEXTS, "event_time": pa.string(), "delay": _SPAN, "options": _OPTIONS},
            }
        ),
        "views": pa.schema({"name": pa.string(), "options": _OPTIONS, "text": pa.string()}),
        "subscriptions": pa.schema(
            {"id": pa.string(), "stream": pa.string(), "predicate": pa.string(), "sink": pa.string()}
        ),
    }
)
"""The columns of each table."""


def find_catalog_table(name: str) -> Source | None:
    """A table of the catalogue as FROM sees it. A user's source cannot have its name, which has a colon."""
    schema = CATALOG_TABLES.get(name)
    return None if schema is None else Source(f"{CATALOG}:{name}", schema, CATALOG, {"table": name}, is_table=True)


def is_catalog_table(source: Source) -> bool:
    """Whether a source is a table of the catalogue."""
    return source.connector == CATALOG


def list_sensors(connection: Connection, sensors: Table, statuses: Table) -> pa.RecordBatch:
    """All sensors with their statuses, by name: 100,000 in about a second."""
    mine, status = sensors.c, statuses.c
    joined = sensors.outerjoin(statuses, and_(mine.name == status.name, mine.source == status.source))
    about = (mine.name, mine.source, mine.kind, mine.latitude, mine.longitude, mine.tags, mine.columns, mine.units)
    now = (mine.sample_period_us, mine.programs, status.online, status.last_seen_us, status.battery)
    counts = [func.coalesce(status[name], 0) for name in COUNTS]
    chosen = select(*about, *now, *counts).select_from(joined).order_by(mine.name, mine.source)
    columns = _transpose(connection.execute(chosen), "sensors")
    for name in ("tags", "columns", "programs"):
        columns[name] = _parse(columns[name])
    columns["sample_period"] = [_make_span(span_us) for span_us in columns["sample_period"]]
    columns["units"] = [list(units.items()) for units in _parse(columns["units"])]
    return _make_batch(columns, "sensors")


def list_sources(sources: Iterable[Source]) -> pa.RecordBatch:
    """All sources and tables. Passwords and the like are not told."""
    rows = [
        (
            *(source.name, source.connector, source.is_table, source.schema.names),
            [name_column_type(field) for field in source.schema],
            *(source.event_time, _make_span(source.delay_us), list(source.public_options.items())),
        )
        for source in sources
    ]
    return _make_batch(_transpose(rows, "sources"), "sources")


def list_views(views: Iterable[View]) -> pa.RecordBatch:
    """All views, with the users' own texts; those of rules have the program. Passwords are left out."""
    rows = [(view.name, list(conceal_secrets(view.options).items()), view.public_text) for view in views]
    return _make_batch(_transpose(rows, "views"), "views")


def list_subscriptions(subscriptions: Iterable[Subscription]) -> pa.RecordBatch:
    """All subscriptions."""
    rows = [(each.id, each.stream, each.predicate, each.sink) for each in subscriptions]
    return _make_batch(_transpose(rows, "subscriptions"), "subscriptions")


def _transpose(rows: Iterable[Sequence[Any]], table: str) -> dict[str, list[Any]]:
    """Rows as columns."""
    names = CATALOG_TABLES[table].names
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def _make_batch(columns: Mapping[str, list[Any]], table: str) -> pa.RecordBatch:
    schema = CATALOG_TABLES[table]
    return pa.RecordBatch.from_arrays([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _make_span(span_us: int | None) -> pa.MonthDayNano | None:
    return None if span_us is None else pa.MonthDayNano([0, 0, span_us * 1000])


def _parse(texts: Sequence[str]) -> list[Any]:
    """Many small texts of JSON, read at once."""
    found: list[Any] = json.loads(f"[{','.join(texts)}]")
    return found
