"""Comparisons of a column with a text that is no value of its type: they could never be true."""

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.duckdb_session import open_duckdb
from skerry.model.types import has_sql_name, sql_name

__all__ = ["check_constants"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def check_constants(condition: exp.Expr, scope: Scope) -> None:
    """Refuse ``ts > 'yesterday'`` and ``speed = 'fast'``, which DuckDB refuses when it evaluates them."""
    for node in condition.find_all(*_COMPARISONS):
        for column, text in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(column, exp.Column) and isinstance(text, exp.Literal) and text.is_string:
                _check(column, text, scope)


def _check(column: exp.Column, text: exp.Literal, scope: Scope) -> None:
    type_ = scalar(column, scope).type
    if not has_sql_name(type_) or pa.types.is_string(type_) or pa.types.is_nested(type_):
        return
    name = sql_name(type_)
    found = open_duckdb().execute(f"SELECT TRY_CAST(? AS {name})", [text.name]).fetchall()
    if found[0][0] is None:
        raise SqlError(f"{text.name!r} is not {name}, as column {column.name!r} is", location_of(text))
