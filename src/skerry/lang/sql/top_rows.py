"""ORDER BY ... LIMIT of a view that gives changes: the first rows, kept current.

SELECT sensor, COUNT(*) AS n FROM s GROUP BY sensor ORDER BY n DESC LIMIT 3

Project sensor, n ─ TopRows by _order0 ─ (SELECT sensor, COUNT(*) AS n, COUNT(*) AS _order0 FROM s GROUP BY sensor)
"""

from collections.abc import Callable, Mapping

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.changes import list_visible
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.from_clause import call_name
from skerry.lang.sql.implied_windows import imply_window
from skerry.lang.sql.joins import from_of
from skerry.lang.sql.order_by import Limit, read_order_by
from skerry.lang.sql.split_select import Below, has_windows
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.window_reads import WindowReads
from skerry.model.changes import OP
from skerry.model.expression import Expression
from skerry.model.window import WINDOW_END
from skerry.plan.node import Node
from skerry.plan.over import OrderKey
from skerry.plan.project import Project
from skerry.plan.rewrites.carry_changes import carry_changes
from skerry.plan.top_rows import TopRows

__all__ = ["asks_for_top", "bind_top"]

_ABOVE = ("order", "limit", "offset")


def asks_for_top(tree: exp.Select) -> bool:
    """Whether a SELECT puts its rows in order, and does nothing else that goes by the rows around them."""
    beside = tree.args.get("qualify") or any(has_windows(part) for part in tree.selects)
    return not beside and any(tree.args.get(clause) for clause in _ABOVE)


def bind_top(
    tree: exp.Select,
    streams: Streams,
    options: Mapping[str, str],
    bind: Callable[[exp.Select, Streams, Mapping[str, str]], Node],
) -> Node:
    """Bind a SELECT with ORDER BY and LIMIT. Of a window, the first rows are those of each window."""
    limit, parts = Limit.read(tree), read_order_by(tree)
    if limit.count is None or not parts:
        missing = "LIMIT: changes are in no order of their own" if parts else "ORDER BY, which says what is first"
        raise SqlError(f"a view that gives changes needs {missing}", location_of(tree.args.get("order") or tree))
    inner = tree.copy()
    for clause in _ABOVE:
        inner.set(clause, None)
    names = [f"_order{number}" for number, _ in enumerate(parts)]
    hidden = [exp.alias_(part.tree.copy(), name, quoted=True) for name, part in zip(names, parts, strict=True)]
    window = _find_window(tree, streams)
    if window is not None:
        hidden.append(exp.alias_(window, "_window", quoted=True))
    inner.set("expressions", [*inner.selects, *hidden])
    below = carry_changes(bind(inner, streams, options), streams.plan, asked=True)
    order = tuple(OrderKey(name, part.descending, part.nulls_first) for name, part in zip(names, parts, strict=True))
    top = TopRows(below, order, limit.count, limit.skipped, "_window" if window is not None else None)
    shown = [field for field in list_visible(below) if field.name not in (*names, "_window")]
    fields = [pa.field(OP, pa.string()), *shown]
    return Project(top, tuple((field.name, Expression.of(field.name, field.type)) for field in fields))


def _find_window(tree: exp.Select, streams: Streams) -> exp.Expr | None:
    """The column by which rows belong to a window, if they do."""
    written = tree if tree.args.get("joins") else imply_window(tree, from_of(tree), streams)
    kinds = {call_name(item.this.this) for item in list_items(written) if isinstance(item.this.this, exp.Func)}
    if kinds & {"TUMBLE", "HOP"}:
        return exp.column(WINDOW_END)
    below = Below(tree)
    if below.is_grouped and "SESSION_WINDOW" in kinds:
        message = "sessions that grow have no first ones; let a view read this one"
        raise SqlError(f"{message}: FROM TUMBLE(view, window_end, ...)", location_of(tree))
    name = None if below.is_grouped else WindowReads(tree, streams, below).push_end()
    return next((part.unalias() for part in below.select().selects if part.alias_or_name == name), None)
