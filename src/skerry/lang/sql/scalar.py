"""Scalar expressions: checked, typed and handed over to DuckDB."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.arrow_predicates import simple
from skerry.lang.sql.bounded_sizes import bound_reductions, bound_sizes
from skerry.lang.sql.carried_types import carry
from skerry.lang.sql.offered_functions import check_functions
from skerry.lang.sql.statements import location_of
from skerry.model.batch import empty
from skerry.model.dialect import write_expression
from skerry.model.duckdb_message import describe_complaint
from skerry.model.duckdb_session import open_duckdb, register_batch
from skerry.model.expression import Expression
from skerry.model.functions import functions_version
from skerry.model.time import Micros
from skerry.model.types import sql_name

__all__ = ["Scope", "check_condition", "condition", "constant", "constant_moment", "scalar", "type_of_call"]

_REFUSED = (
    *(exp.Query, exp.Subquery, exp.Window, exp.AggFunc, exp.Order, exp.Star, exp.Columns),
    *(exp.Explode, exp.UDTF, exp.Placeholder, exp.Parameter),
)
_WHERE = {
    exp.Query: "; it stands in WHERE, in HAVING, or in SELECT",
    exp.AggFunc: "; it stands in SELECT or in HAVING",
}
_LARGEST = 100_000


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
            texts = [field.name.lower() for field in self.schema if field.type == pa.string()]
            is_text = column.table.lower() in texts
            hint = f"; of a text that is JSON, write {column.table} ->> '{column.name}'" if is_text else ""
            raise SqlError(f"unknown table {column.table!r}; the query reads {self.name}{hint}", location_of(column))

    def find(self, column: exp.Column) -> str:
        """The name of a column as the relation spells it."""
        if not isinstance(column.this, exp.Identifier):
            raise SqlError(f"{write_expression(column)} cannot stand here", location_of(column))
        known = [*self.schema.names, *(name for name in self.rewrites if name not in self.schema.names)]
        spelled = column.this.name if column.this.quoted else column.this.name.lower()
        for name in known:
            if name == spelled or (not column.this.quoted and name.lower() == spelled):
                return name
        raise UnknownColumn(column.name, self.name, known, location_of(column), is_quoted=column.this.quoted)

    def has(self, column: exp.Column) -> bool:
        """Whether there is such a column."""
        try:
            self.find(column)
        except UnknownColumn:
            return False
        return True

    def everything(self, table: str | None) -> list[tuple[str, str]]:
        """The columns that * stands for, by the names they have outside and here: the ends of a window too."""
        more = [name for name in self.rewrites if name not in self.schema.names]
        return [(name, name) for name in (*self.schema.names, *more) if not name.startswith("#")]

    def column(self, name: str) -> Expression:
        """A column by the name it has here."""
        if name in self.rewrites:
            return scalar(exp.column(name, quoted=True), self)
        return Expression.of(name, self.schema.field(name).type)


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
            instead = next((where for kind, where in _WHERE.items() if isinstance(node, kind)), "")
            raise SqlError(f"{_kind(node)} cannot stand here{instead}", location_of(node) or location_of(tree))
    resolved = _resolve(tree, scope.resolve).transform(_spell_any)
    bare = resolved.unnest()
    if isinstance(bare, exp.Column):
        return Expression.of(bare.name, scope.schema.field(bare.name).type)
    bounded = bound_sizes(resolved, lambda part: _is_span(part, scope.schema))
    sql = write_expression(bounded)
    if len(sql) > _LARGEST * 10:
        raise SqlError("an expression is too large", location_of(tree))
    check_functions(sql, scope.schema.names, tree)
    try:
        carried, type_ = _type(sql, scope.schema, functions_version())
    except duckdb.Error as error:
        raise SqlError(describe_complaint(error), location_of(tree)) from None
    for way in bound_reductions(bounded):
        with suppress(duckdb.BinderException):
            carried, type_ = _type(write_expression(way), scope.schema, functions_version())
            break
    return Expression(carried, type_, predicate=simple(resolved, scope.schema))


def constant(tree: exp.Expr) -> str:
    """Bind an expression that names no column: the text of its value."""
    column = tree.find(exp.Column)
    if column is not None:
        raise SqlError(f"{write_expression(tree)} must be a constant here", location_of(tree))
    return scalar(tree, Scope("", pa.schema({"nothing": pa.int64()}))).sql


def constant_moment(tree: exp.Expr) -> Micros:
    """The value of a constant that is a time: TIMESTAMP '2026-01-01 00:00:00', or its text alone."""
    sql = constant(exp.cast(tree.copy(), "TIMESTAMP"))
    try:
        found = open_duckdb().sql(f"SELECT epoch_us({sql})").fetchall()[0][0]
    except duckdb.Error:
        found = None
    if found is None:
        message = f"expected a moment, TIMESTAMP '2026-01-01 00:00:00'; got {write_expression(tree)}"
        raise SqlError(message, location_of(tree))
    return Micros(found)


def type_of_call(text: str, columns: pa.Schema, tree: exp.Expr) -> tuple[str, pa.DataType]:
    """The call of an aggregate over some columns, so that it has a type that Arrow has too; and that type.

    What DuckDB finds wrong with the call only where there are rows is found with one: ``MAX(x, 0)``.
    """
    try:
        found = _type(text, columns, functions_version())
        with suppress(duckdb.DataError), register_batch(_make_row(columns)) as connection:
            connection.sql(f"SELECT {text} FROM batch").fetchall()
    except duckdb.Error as error:
        raise SqlError(describe_complaint(error), location_of(tree)) from None
    return found


def _make_row(columns: pa.Schema) -> pa.RecordBatch:
    """A row with a plain value in each column."""
    return pa.RecordBatch.from_arrays([_make_plain(field.type) for field in columns], schema=columns)


def _make_plain(type_: pa.DataType) -> pa.Array:
    values: tuple[object, ...] = (0, False, "", [])
    for value in values:
        with suppress(pa.ArrowException, TypeError):
            return pa.array([value], type_)
    return pa.nulls(1, type_)


def _resolve(tree: exp.Expr, resolve: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    return tree.copy().transform(lambda node: resolve(node) if isinstance(node, exp.Column) else node)


def _spell_any(node: exp.Expr) -> exp.Expr:
    """Write ``x = ANY(list)`` as a function of the list: DuckDB reads it as a subquery, and there are none here.

    A list with a NULL in it has an unknown value that may be x: then what is not found is unknown. In no list is
    nothing, as DuckDB has it.
    """
    lists = node.expression if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any) else None
    if lists is None or isinstance(lists.this, exp.Query):
        return node
    values = lists.this.unnest()
    found = exp.Anonymous(this="list_contains", expressions=[values, node.this])
    count, known = (exp.Anonymous(this=name, expressions=[values.copy()]) for name in ("len", "list_count"))
    unsure = exp.Anonymous(this="nullif", expressions=[found.copy(), exp.false()])
    has_unknown = exp.If(this=exp.LT(this=known, expression=count), true=unsure)
    is_missing = exp.If(this=exp.Is(this=values.copy(), expression=exp.null()), true=exp.false())
    return exp.Case(ifs=[is_missing, has_unknown], default=found)


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


def _is_span(tree: exp.Expr, schema: pa.Schema) -> bool:
    """Whether a part is an INTERVAL; one that means nothing by itself is not."""
    with suppress(duckdb.Error):
        return pa.types.is_interval(_type(write_expression(tree), schema, functions_version())[1])
    return False


@lru_cache(maxsize=4096)
def _type(sql: str, schema: pa.Schema, version: int) -> tuple[str, pa.DataType]:
    """Let DuckDB say what type an expression has over these columns; give it in a type that Arrow has too.

    ``version`` is that of the program's own functions.
    """
    with register_batch(empty(schema)) as connection:
        carried = carry(sql, connection.sql(f"SELECT {sql} AS value FROM batch").types[0])
        return carried, connection.sql(f"SELECT {carried} AS value FROM batch").to_arrow_table().schema.field(0).type
