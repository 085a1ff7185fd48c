"""A SELECT over the catalogue, declared tables, and what a project has stored: history and answers. Asked of DuckDB.

Only what the statement names is read. DuckDB sees these tables, and the files that stored tables are made of, and
nothing else: no other files, no network, no variables.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Catalog, Source
from skerry.catalog.arrow_tables import CATALOG, CATALOG_TABLES
from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import call_name
from skerry.lang.sql.statements import Statement, location_of
from skerry.model.duckdb_message import describe_complaint
from skerry.model.functions import define_functions, raise_fault

__all__ = ["NOTHING_STORED", "StoredTables", "answer_catalog_query"]

_NO_ANSWERS = (
    "a SELECT by itself gives no answers; write CREATE MATERIALIZED VIEW name AS SELECT ..., "
    f"or ask the catalogue: {', '.join(CATALOG_TABLES)}; a table; or a project's history.STREAM or answers.VIEW"
)
_OF_STREAMS = ("TUMBLE", "HOP", "SLIDING", "LAST_ROWS", "LANDMARK", "SESSION_WINDOW", "GATHER")
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "python_enable_replacements": False,
    "memory_limit": "2GB",
}


_ATTEMPTS = 10
"""How often files are looked for again: those of a running pipeline are put together with others now and then."""


class StoredTables(Protocol):
    """Tables in files, by schema and name."""

    @property
    def schemas(self) -> tuple[str, ...]:
        """The names in front of the dot."""

    @property
    def folders(self) -> Sequence[Path]:
        """What DuckDB may read."""

    def open(self, connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> duckdb.DuckDBPyRelation:
        """One table as it is now."""


class _NothingStored:
    schemas: tuple[str, ...] = ()
    folders: Sequence[Path] = ()

    def open(self, connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> duckdb.DuckDBPyRelation:
        raise AssertionError(f"{schema}.{name} is not stored")


NOTHING_STORED: StoredTables = _NothingStored()


def answer_catalog_query(
    statement: Statement,
    catalog: Catalog,
    read_table: Callable[[Source], pa.RecordBatch],
    stored: StoredTables = NOTHING_STORED,
) -> pa.Table:
    """All rows of a SELECT over tables of the catalogue, over declared ones, which ``read_table`` reads, and files."""
    for attempt in range(_ATTEMPTS):
        try:
            return _answer(statement, catalog, read_table, stored)
        except duckdb.IOException as error:
            if attempt + 1 == _ATTEMPTS:
                raise SqlError(describe_complaint(error), statement.location) from None
    raise AssertionError("unreachable")


def _answer(
    statement: Statement, catalog: Catalog, read_table: Callable[[Source], pa.RecordBatch], stored: StoredTables
) -> pa.Table:
    declared = {source.name: source for source in catalog.sources() if source.is_table}
    wanted, own, files = _list_tables(statement.tree, catalog.names(), declared, stored.schemas)
    connection = duckdb.connect(config=_CONFIG)
    try:
        folders = exp.Array(expressions=[exp.Literal.string(str(each)) for each in stored.folders if files])
        connection.execute(f"SET allowed_directories = {folders.sql('duckdb')}; SET enable_external_access = false")
        connection.execute(f"SET TimeZone = 'UTC'; CREATE SCHEMA {CATALOG}")
        for schema, name in files:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quote(schema)}")
            stored.open(connection, schema, name).create_view(f"{schema} {name}")
            view = f"{_quote(schema)}.{_quote(name)}"
            connection.execute(f"CREATE VIEW {view} AS SELECT * FROM {_quote(f'{schema} {name}')}")
        for name in wanted:
            connection.register(f"{CATALOG}_{name}", pa.Table.from_batches([catalog.read_table(name)]))
            for schema in ("main", CATALOG):
                connection.execute(f"CREATE VIEW {schema}.{name} AS SELECT * FROM {CATALOG}_{name}")
        for name in own:
            connection.register(name, pa.Table.from_batches([read_table(declared[name])]))
        define_functions(connection, {})
        connection.execute("SET lock_configuration = true")
        return connection.sql(statement.text).to_arrow_table()
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise SqlError(describe_complaint(error), statement.location) from None
    finally:
        connection.close()
        raise_fault()


def _quote(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def _list_tables(
    tree: exp.Expr, taken: Collection[str], declared: Collection[str], schemas: Collection[str]
) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """The tables of the catalogue that a query reads, the declared ones, and those in files; any other is refused."""
    own = {identifier(each.args["alias"].this) for each in tree.find_all(exp.CTE)}
    found: dict[str, None] = {}
    read: dict[str, None] = {}
    stored: dict[tuple[str, str], None] = {}
    for table in tree.find_all(exp.Table):
        name, schema = identifier(table), table.db.lower()
        if isinstance(table.this, exp.Func) and call_name(table.this) in _OF_STREAMS:
            raise SqlError(_NO_ANSWERS, location_of(table))
        if isinstance(table.this, exp.Func) or (name in own and not schema):
            continue
        if schema in schemas:
            stored[schema, name] = None
        elif name in declared and not schema:
            read[name] = None
        else:
            _check_table(table, name, schema, taken)
            found[name] = None
    return list(found), list(read), list(stored)


def _check_table(table: exp.Table, name: str, schema: str, taken: Collection[str]) -> None:
    if name not in CATALOG_TABLES or schema not in ("", CATALOG):
        raise SqlError(_NO_ANSWERS, location_of(table))
    if not schema and name in taken:
        message = f"{name!r} is what the script calls so; the catalogue's is {CATALOG}.{name}"
        raise SqlError(message, location_of(table))
