"""A SELECT over the catalogue alone: sensors, sources, views, subscriptions, answered by DuckDB.

Only what the statement names is read. DuckDB sees these tables and nothing else: no files, no network, no variables.
"""

from collections.abc import Collection

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Catalog
from skerry.catalog.arrow_tables import CATALOG, CATALOG_TABLES
from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import call_name
from skerry.lang.sql.statements import Statement, location_of

__all__ = ["answer_catalog_query"]

_NO_ANSWERS = (
    "a SELECT by itself gives no answers; write CREATE MATERIALIZED VIEW name AS SELECT ..., "
    f"or ask the catalogue: {', '.join(CATALOG_TABLES)}"
)
_OF_STREAMS = ("TUMBLE", "HOP", "SLIDING", "LAST_ROWS", "LANDMARK", "SESSION_WINDOW", "GATHER")
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "python_enable_replacements": False,
    "memory_limit": "2GB",
}


def answer_catalog_query(statement: Statement, catalog: Catalog) -> pa.Table:
    """All rows of a SELECT over tables of the catalogue."""
    wanted = _list_tables(statement.tree, catalog.names())
    connection = duckdb.connect(config=_CONFIG)
    try:
        connection.execute(f"SET TimeZone = 'UTC'; CREATE SCHEMA {CATALOG}")
        for name in wanted:
            connection.register(f"{CATALOG}_{name}", pa.Table.from_batches([catalog.read_table(name)]))
            for schema in ("main", CATALOG):
                connection.execute(f"CREATE VIEW {schema}.{name} AS SELECT * FROM {CATALOG}_{name}")
        connection.execute("SET lock_configuration = true")
        return connection.sql(statement.text).to_arrow_table()
    except duckdb.Error as error:
        raise SqlError(_first_line(str(error)), statement.location) from None
    finally:
        connection.close()


def _list_tables(tree: exp.Expr, taken: Collection[str]) -> list[str]:
    """The tables of the catalogue that a query reads; any other is refused."""
    own = {identifier(each.args["alias"].this) for each in tree.find_all(exp.CTE)}
    found: dict[str, None] = {}
    for table in tree.find_all(exp.Table):
        name, schema = identifier(table), table.db.lower()
        if isinstance(table.this, exp.Func) and call_name(table.this) in _OF_STREAMS:
            raise SqlError(_NO_ANSWERS, location_of(table))
        if isinstance(table.this, exp.Func) or (name in own and not schema):
            continue
        _check_table(table, name, schema, taken)
        found[name] = None
    return list(found)


def _check_table(table: exp.Table, name: str, schema: str, taken: Collection[str]) -> None:
    if name not in CATALOG_TABLES or schema not in ("", CATALOG):
        raise SqlError(_NO_ANSWERS, location_of(table))
    if not schema and name in taken:
        message = f"{name!r} is what the script calls so; the catalogue's is {CATALOG}.{name}"
        raise SqlError(message, location_of(table))


def _first_line(message: str) -> str:
    line = message.splitlines()[0].split(": ", 1)[-1]
    return line[:1].lower() + line[1:]
