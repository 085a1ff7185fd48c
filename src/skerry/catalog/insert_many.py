"""Many rows into a table: the statement is written once, and the driver is given the rows as they are."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table, insert

__all__ = ["insert_many"]


def insert_many(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all name the same columns, two or more. SQLAlchemy would look at each value of each row."""
    compiled = insert(table).compile(dialect=connection.dialect, column_keys=list(rows[0]))
    positions = compiled.positiontup
    given = list(map(itemgetter(*positions), rows)) if positions else [dict(row) for row in rows]
    connection.exec_driver_sql(str(compiled), given)
