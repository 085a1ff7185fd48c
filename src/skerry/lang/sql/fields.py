"""Fields behind a dot: ``st.x.y`` and ``s.st.x``, where ``st`` is a column of structs or of JSON.

The parser takes ``st.x`` for a column ``x`` of a relation ``st``. No relation has that name, and one has such a column.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From, read_from
from skerry.lang.sql.joins import from_of
from skerry.lang.sql.streams import Streams
from skerry.model.types import is_json

__all__ = ["read_fields"]


def read_fields(tree: exp.Select, streams: Streams) -> exp.Select:
    """The SELECT with fields of columns where columns of relations were read."""
    reads = list(_list_reads(tree, streams))
    found = [column for column in tree.find_all(exp.Column) if column.find_ancestor(exp.Query) is tree]
    for column in found:
        field = _read_field(column, reads)
        if field is not None:
            is_whole = column.parent is tree and column.arg_key == "expressions"
            column.replace(exp.alias_(field, identifier(column), quoted=True) if is_whole else field)
    return tree


def _list_reads(tree: exp.Select, streams: Streams) -> Iterator[From]:
    """What FROM names. What cannot be read is told where it is bound."""
    with suppress(SqlError):
        tables = [from_of(tree), *(join.this for join in tree.args.get("joins") or ())]
        for table in tables:
            yield read_from(table, streams, alone=len(tables) == 1)


def _read_field(column: exp.Column, reads: Sequence[From]) -> exp.Expr | None:
    parts = column.parts
    if len(parts) < 2 or not all(isinstance(part, exp.Identifier) for part in parts):
        return None
    named = [read for read in reads if read.name.lower() == parts[0].name.lower()]
    if named and len(parts) == 2:
        return None
    table, (name, *fields) = (parts[0], parts[1:]) if named else (None, parts)
    schemas = [read.source.schema for read in named or reads]
    owner = next((each for schema in schemas for each in schema if each.name.lower() == name.name.lower()), None)
    if owner is None or not (pa.types.is_struct(owner.type) or is_json(owner)):
        return None
    found: exp.Expr = exp.Column(this=name.copy(), table=table.copy() if table else None)
    found.meta.update(column.meta)
    if is_json(owner):
        path = "$" + "".join(f'."{field.name}"' for field in fields)
        return exp.Anonymous(this="json_extract", expressions=[found, exp.Literal.string(path)])
    for field in fields:
        found = exp.Dot(this=found, expression=field.copy())
    return found
