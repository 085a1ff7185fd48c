"""A catalogue that an earlier version made gets the columns that it does not have yet."""

from sqlalchemy import Column, Connection, MetaData, Table, inspect, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateColumn

__all__ = ["bring_up_to_date"]


def bring_up_to_date(connection: Connection, metadata: MetaData) -> None:
    """Make the tables that are missing, and add the columns that are missing in the others.

    Nothing is ever renamed or taken away, so an earlier version can still read what it knows. A new column needs a
    default in the database or must allow NULL.
    """
    metadata.create_all(connection)
    for table in metadata.sorted_tables:
        for column in _list_missing(connection, table):
            _add(connection, table, column)
    connection.commit()


def _list_missing(connection: Connection, table: Table) -> list[Column[object]]:
    there = {column["name"] for column in inspect(connection).get_columns(table.name)}
    return [column for column in table.columns if column.name not in there]


def _add(connection: Connection, table: Table, column: Column[object]) -> None:
    quote = connection.dialect.identifier_preparer.quote
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    try:
        connection.execute(text(f"ALTER TABLE {quote(table.name)} ADD COLUMN {definition}"))
    except OperationalError:
        # Somebody else who opens the catalogue at this moment may have been faster.
        if any(column.name == missing.name for missing in _list_missing(connection, table)):
            raise
