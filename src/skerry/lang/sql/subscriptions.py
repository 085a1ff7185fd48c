"""INSERT INTO and DELETE FROM subscriptions."""

from sqlglot import exp

from skerry.catalog import Subscription
from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression

__all__ = ["SUBSCRIPTIONS", "is_about_subscriptions", "read_deleted_ids", "read_inserted"]

SUBSCRIPTIONS = "subscriptions"

_COLUMNS = ("id", "stream", "predicate", "sink")


def is_about_subscriptions(tree: exp.Expr) -> bool:
    """Whether a statement changes subscriptions."""
    table = tree.find(exp.Table) if isinstance(tree, exp.Insert | exp.Delete) else None
    return table is not None and table.name.lower() == SUBSCRIPTIONS


def read_inserted(tree: exp.Insert) -> list[Subscription]:
    """What a statement adds."""
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    columns = [identifier(column) for column in named]
    if not {"id", "stream", "predicate"} <= set(columns) <= set(_COLUMNS) or len(set(columns)) < len(columns):
        message = "INSERT INTO subscriptions (id, stream, predicate) VALUES ('q1', 'road', 'speed < 30')"
        raise SqlError(f"a subscription is written {message}; it may have a sink too", location_of(tree))
    if not isinstance(tree.expression, exp.Values):
        raise SqlError("subscriptions are given as VALUES", location_of(tree))
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row.unnest()] for row in tree.expression.expressions]
    for row in rows:
        if len(row) != len(columns):
            raise SqlError(f"{len(columns)} columns are named, but a row has {len(row)} values", location_of(row[0]))
    return [Subscription(**dict(zip(columns, map(_text, row), strict=True))) for row in rows]


def read_deleted_ids(tree: exp.Delete) -> list[str]:
    """The names of what a statement removes."""
    where = tree.args.get("where")
    found = where.this if where else None
    values = found.expressions if isinstance(found, exp.In) else [found.expression] if isinstance(found, exp.EQ) else []
    column = found.this if found else None
    if not values or not isinstance(column, exp.Column) or identifier(column) != "id":
        raise SqlError("write DELETE FROM subscriptions WHERE id = 'q1', or id IN ('q1', 'q2')", location_of(tree))
    return [_text(value) for value in values]


def _text(node: exp.Expr) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise SqlError(f"expected a text in quotes, got {write_expression(node)}", location_of(node))
    return str(node.this)
