"""Scalar expressions: checked, typed and handed over to DuckDB."""

import difflib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError, UnsupportedError

from skerry.errors import Location, SqlError, UnknownColumn, UnknownFunction
from skerry.lang.sql.arrow_predicates import simple
from skerry.lang.sql.statements import location_of
from skerry.model.batch import empty
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Expression
from skerry.model.types import sql_name

__all__ = ["Scope", "check_condition", "condition", "scalar"]

_REFUSED = (
    *(exp.Query, exp.Subquery, exp.Window, exp.AggFunc, exp.Order, exp.Star, exp.Columns),
    *(exp.Explode, exp.UDTF, exp.Placeholder, exp.Parameter, exp.Lambda),
)
_LARGEST = 100_000
_UNBOUNDED = {
    *("array_resize", "bar", "bitstring", "format", "generate_series", "list_resize"),
    *("lpad", "pad", "printf", "range", "repeat", "rpad"),
}
"""Functions whose answer's size is a number the user writes."""
_MACROS = {"date_add", "days_in_month", "fdiv", "fmod", "if", "json", "nullif", "split_part"}
"""DuckDB's macros that are plain functions of their arguments, beside those over lists and maps."""


class Scope:
    """The columns an expression may name: those of one relation, under its name or alias."""

    def __init__(self, name: str, schema: pa.Schema, rewrites: Mapping[str, exp.Expr] | None = None) -> None:
        self.name, self.schema = name, schema
        self.rewrites = dict(rewrites or {})

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The expression a column stands for."""
        self.check_table(column)
        name = self.find(column)
        return self.rewrites[name].copy() if name in self.rewrites else exp.column(name, quoted=True)

    def check_table(self, column: exp.Column) -> None:
        """A column may be written behind the relation's name, and behind no other."""
        if column.table and column.table.lower() != self.name.lower():
            raise SqlError(f"unknown table {column.table!r}; the query reads {self.name}", location_of(column))

    def find(self, column: exp.Column) -> str:
        """The name of a column as the relation spells it."""
        if not isinstance(column.this, exp.Identifier):
            raise SqlError(f"{column.sql('risingwave')} cannot stand here", location_of(column))
        known = [*self.schema.names, *(name for name in self.rewrites if name not in self.schema.names)]
        spelled = column.this.name if column.this.quoted else column.this.name.lower()
        for name in known:
            if name == spelled or (not column.this.quoted and name.lower() == spelled):
                return name
        raise UnknownColumn(column.name, self.name, known, location_of(column))

    def has(self, column: exp.Column) -> bool:
        """Whether there is such a column."""
        try:
            self.find(column)
        except UnknownColumn:
            return False
        return True

    def everything(self, table: str | None) -> list[tuple[str, str]]:
        """The columns that * stands for, by the names they have outside and here."""
        return [(name, name) for name in self.schema.names]


def condition(tree: exp.Expr, scope: Scope) -> Expression:
    """Bind an expression that is true or false."""
    bound = scalar(tree, scope)
    check_condition(bound, tree)
    return bound


def check_condition(bound: Expression, tree: exp.Expr) -> None:
    """Refuse what is neither true nor false."""
    if bound.type != pa.bool_():
        raise SqlError(f"a condition must be BOOLEAN; this is {sql_name(bound.type)}", location_of(tree))


def scalar(tree: exp.Expr, scope: Scope) -> Expression:
    """Bind an expression to a relation's columns, and find its type."""
    for node in tree.walk():
        if isinstance(node, _REFUSED):
            raise SqlError(f"{_kind(node)} cannot stand here", location_of(node) or location_of(tree))
    resolved = _resolve(tree, scope.resolve)
    bare = resolved.unnest()
    if isinstance(bare, exp.Column):
        return Expression.of(bare.name, scope.schema.field(bare.name).type)
    sql = _translate(resolved, tree)
    if len(sql) > _LARGEST * 10:
        raise SqlError("an expression is too large", location_of(tree))
    _check_functions(sql, tree)
    try:
        type_ = _type(sql, scope.schema)
    except duckdb.Error as error:
        raise SqlError(_first_sentence(str(error)), location_of(tree)) from None
    return Expression(sql, type_, predicate=simple(resolved, scope.schema))


def _resolve(tree: exp.Expr, resolve: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    return tree.copy().transform(lambda node: resolve(node) if isinstance(node, exp.Column) else node)


def _translate(resolved: exp.Expr, tree: exp.Expr) -> str:
    try:
        return resolved.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as error:
        raise SqlError(_first_sentence(str(error)), location_of(tree)) from None


def _kind(node: exp.Expr) -> str:
    kinds: list[tuple[type[exp.Expr], str]] = [
        (exp.AggFunc, f"the aggregate {node.sql_name() if isinstance(node, exp.Func) else ''}"),
        (exp.Columns, "COLUMNS"),
        (exp.Explode, "UNNEST"),
        (exp.Order, "ORDER BY"),
        (exp.Window, "OVER (...)"),
        (exp.Query, "a subquery"),
        (exp.Subquery, "a subquery"),
        (exp.Star, "*"),
    ]
    return next((words for class_, words in kinds if isinstance(node, class_)), type(node).__name__.lower())


@cache
def _is_offered() -> frozenset[str]:
    """DuckDB's scalar functions whose answer depends on their arguments alone."""
    rows = open_duckdb().sql(
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions() "
        "WHERE (function_type = 'scalar' AND stability = 'CONSISTENT') "
        "OR (function_type = 'macro' AND internal AND function_name ~ '(list|array|map)_.*')"
    )
    names = {name for (name,) in rows.fetchall()} | _MACROS
    inner = {name for name in names if name.startswith(("current_", "__", "pg_", "json_serialize", "json_deserialize"))}
    return frozenset(names - inner - _UNBOUNDED)


def _check_functions(sql: str, tree: exp.Expr) -> None:
    for node in _functions(sql, tree):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name in _UNBOUNDED:
            message = f"the function {name!r} is not available: nothing bounds the size of its answer"
            raise SqlError(message, _locate_function(tree, name))
        if not _steady(node, name):
            message = f"the function {name!r} is not available: an answer must follow from the readings alone"
            raise SqlError(message, _locate_function(tree, name))
        if isinstance(node, exp.Anonymous) and name not in _is_offered():
            near = difflib.get_close_matches(name, _is_offered(), 3)
            raise UnknownFunction(name, near, _locate_function(tree, name))


def _functions(sql: str, tree: exp.Expr) -> list[exp.Func]:
    """All calls, as DuckDB will see them."""
    try:
        return list(sqlglot.parse_one(sql, read="duckdb").find_all(exp.Func))
    except SqlglotError:
        raise SqlError(f"{tree.sql('risingwave')} cannot stand here", location_of(tree)) from None


def _steady(node: exp.Func, name: str) -> bool:
    """Whether a function's answer depends on its arguments alone: no clock, no dice."""
    clocks = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentUser, exp.Rand, exp.Randn, exp.Uuid)
    since_now = name == "age" and len(node.expressions) == 1
    known = name.startswith("current_") or name in ("ago", "localtime", "localtimestamp")
    return not (isinstance(node, clocks) or since_now or known)


def _locate_function(tree: exp.Expr, name: str) -> Location | None:
    for node in tree.find_all(exp.Func):
        if name.lower() in (node.name.lower(), node.sql_name().lower()):
            return location_of(node)
    return location_of(tree)


@lru_cache(maxsize=4096)
def _type(sql: str, schema: pa.Schema) -> pa.DataType:
    """Let DuckDB say what type an expression has over these columns."""
    connection = open_duckdb()
    connection.register("batch", pa.Table.from_batches([empty(schema)]))
    try:
        return connection.sql(f"SELECT {sql} AS value FROM batch").to_arrow_table().schema.field(0).type
    finally:
        connection.unregister("batch")


def _first_sentence(message: str) -> str:
    line = message.splitlines()[0].split(": ", 1)[-1]
    if "expression depth" in line:
        return "the expression is nested too deeply"
    return line[0].lower() + line[1:] if line else "the expression is wrong"
