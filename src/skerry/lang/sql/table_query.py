"""Queries that read tables alone: DuckDB answers them, and what they give is a table.

So a device table can be filtered, joined with another, aggregated or ranked by anything that DuckDB knows, before a
stream is joined with it or asks it something. It is computed again when a table has changed, and not per reading.
"""

from collections.abc import Collection

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Source
from skerry.catalog.arrow_tables import CATALOG
from skerry.errors import SqlError
from skerry.lang.sql.carried_types import carry
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.offered_functions import check_query_functions
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.batch import empty
from skerry.model.dialect import write_expression
from skerry.model.duckdb_message import describe_complaint
from skerry.model.duckdb_session import register_tables
from skerry.plan.derived_table import DerivedTable, derive_table, name_input

__all__ = ["find_table", "reads_tables_alone"]


def reads_tables_alone(tree: exp.Expr, streams: Streams) -> bool:
    """Whether a query reads tables and nothing else; constants are a table too."""
    return all(_find_source(table, streams) is not None for table in _list_tables(tree))


def find_table(tree: exp.Expr, streams: Streams) -> DerivedTable:
    """The table that a query is which reads tables alone."""
    query, inputs = tree.copy(), dict[str, Source]()
    for table in _list_tables(query):
        source = _find_source(table, streams)
        assert source is not None, "asked before"
        inputs.setdefault(source.name, source)
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(identifier(table), quoted=True))
        name = name_input(list(inputs).index(source.name))
        table.replace(exp.Table(this=exp.to_identifier(name, quoted=True), alias=alias.copy()))
    sources = list(inputs.values())
    written = write_expression(query)
    check_query_functions(written, {name for source in sources for name in source.schema.names}, tree)
    try:
        sql, schema = _find_columns(written, sources, _list_quoted(tree))
    except duckdb.Error as error:
        raise SqlError(describe_complaint(error), location_of(tree)) from None
    return derive_table(sql, sources, schema)


def _list_tables(tree: exp.Expr) -> list[exp.Table]:
    """What a query reads, but for what it names itself by WITH."""
    return [table for table in tree.find_all(exp.Table) if not _is_own(table)]


def _is_own(table: exp.Table) -> bool:
    if isinstance(table.this, exp.Func) or table.db:
        return False
    inside = {id(above) for above in _list_above(table)}
    for above in _list_above(table):
        clause = above.args.get("with_") or above.args.get("with") if isinstance(above, exp.Query) else None
        named = clause.expressions if clause else []
        if any(identifier(each.args["alias"].this) == identifier(table) and id(each) not in inside for each in named):
            return True
    return False


def _list_above(node: exp.Expr) -> list[exp.Expr]:
    found, above = [], node.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found


def _find_source(table: exp.Table, streams: Streams) -> Source | None:
    """The table that is named; None if it is a stream, a function, or nothing."""
    if isinstance(table.this, exp.Func) or (table.db and table.db.lower() != CATALOG):
        return None
    name = identifier(table)
    found = streams.find_in_catalog(name, qualified=bool(table.db)) or streams.find(name)
    return found if found is not None and found.is_table else None


def _find_columns(written: str, sources: list[Source], quoted: Collection[str]) -> tuple[str, pa.Schema]:
    """The query with its columns in types and under names that we have too, and those."""
    tables = {name_input(number): empty(source.schema) for number, source in enumerate(sources)}
    with register_tables(tables) as connection:
        found = connection.sql(written)
        names = [name if name in quoted else name.lower() for name in found.columns]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise SqlError(f"two columns have the name {twice[0]!r}; give one another name with AS", None)
        inner = [f"c{number}" for number in range(len(names))]
        carried = [carry(name, type_) for name, type_ in zip(inner, found.types, strict=True)]
        chosen = ", ".join(f"{each} AS {_quote(name)}" for each, name in zip(carried, names, strict=True))
        sql = f"SELECT {chosen} FROM ({written}) AS answer({', '.join(inner)})"
        return sql, connection.sql(sql).to_arrow_table().schema


def _list_quoted(tree: exp.Expr) -> set[str]:
    return {each.name for each in tree.find_all(exp.Identifier) if each.args.get("quoted")}


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
