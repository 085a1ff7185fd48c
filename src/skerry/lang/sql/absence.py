"""NOT EXISTS: readings of one stream that have no partner in another."""

from dataclasses import replace
from functools import reduce

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.joins import JoinBinder, conjuncts, from_of
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.expression import Expression
from skerry.model.time import Micros
from skerry.plan.absence import Absence
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.side import Side

__all__ = ["absence_node", "split_absence"]

_TIME = "#time"
_FORM = "NOT EXISTS (SELECT 1 FROM SLIDING(stream, time, INTERVAL '1' MINUTE) AS b WHERE b.key = a.key)"


def split_absence(predicate: exp.Expr | None) -> tuple[exp.Expr | None, exp.Expr | None]:
    """What a condition asks of a row by itself, and what is not to exist beside it."""
    parts = list(conjuncts(predicate))
    absent = [part for part in parts if _is_absence(part)]
    if len(absent) > 1:
        message = "a view has one NOT EXISTS; put the other into a view that this one reads"
        raise SqlError(message, location_of(_subquery(absent[1])))
    if not absent:
        return predicate, None
    others = [part.copy() for part in parts if part is not absent[0]]
    return (reduce(exp.and_, others) if others else None), absent[0]


def absence_node(absent: exp.Expr, present: From, rows: Project, streams: Streams) -> Node:
    """Those rows, of the stream ``present``, beside which nothing is that is not to exist."""
    tree = _subquery(absent)
    if present.source.is_table or present.time is None or present.window or present.last_rows:
        message = (
            "NOT EXISTS goes with a stream that has a time, or SLIDING over one: how long a reading waits for a partner"
        )
        raise SqlError(message, location_of(tree))
    present = present if present.span_us is not None else replace(present, span_us=Micros(0))
    pair = exp.Select(joins=[exp.Join(this=from_of(tree), on=tree.args["where"].this)])
    keys, partners, side = JoinBinder(pair, streams, present=present).partners()
    named = tuple((f"#{number}", key) for number, key in enumerate(keys))
    time = Expression.of(str(present.time), present.source.schema.field(present.time).type)
    carried = Project(rows.input, (*rows.columns, (_TIME, time), *named))
    own = Side(present.name, carried.schema, tuple(name for name, _ in named), _TIME, present.span_us)
    return Absence((carried, partners), (own, side), tuple(rows.schema.names))


def _is_absence(part: exp.Expr) -> bool:
    return isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Exists)


def _subquery(absent: exp.Expr) -> exp.Select:
    """One stream, and what must be equal."""
    tree = absent.this.unnest().this.unnest()
    known = ("expressions", "kind", "from_", "from", "where")
    if not isinstance(tree, exp.Select) or any(part and name not in known for name, part in tree.args.items()):
        raise SqlError(f"what is not to exist is a reading of one stream: {_FORM}", location_of(tree))
    if not tree.args.get("where"):
        raise SqlError(f"NOT EXISTS says what must be equal: {_FORM}", location_of(tree))
    return tree
