"""EXISTS, IN, NOT EXISTS and NOT IN over a stream's window: whether a reading has a partner there.

A partner is a reading of the other stream that is equal in what ties the two, and at most its window older; where the
reading that asks stands in SLIDING by itself, at most that much newer, too. In place of windows, conditions on the two
times say how far apart they may be.
"""

from dataclasses import dataclass, replace
from functools import reduce
from math import isinf
from typing import TypeGuard

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.join_scope import JoinScope
from skerry.lang.sql.relations import Bind
from skerry.lang.sql.scalar import condition
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.subquery import Subquery
from skerry.lang.sql.time_bounds import TimeBounds, bounds_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression, list_columns
from skerry.model.time import Micros
from skerry.model.window import WINDOW_END, WINDOW_START, GroupWindow, Window
from skerry.plan.absence import Absence, NotIn, Presence
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.side import Side

__all__ = ["StreamQuestion", "find_partners"]

_TIME = "#time"
_KNOWN = ("expressions", "kind", "from_", "from", "where", "distinct", "limit")
_FORM = "EXISTS (SELECT 1 FROM SLIDING(stream, time, INTERVAL '1' MINUTE) AS b WHERE b.key = a.key)"


@dataclass(frozen=True)
class StreamQuestion:
    """What is asked of a stream: whether it has a partner, or whether a value is among its values."""

    subquery: Subquery
    needles: tuple[exp.Expr, ...] = ()
    negated: bool = False


def find_partners(node: Node, present: From, question: StreamQuestion, bind: Bind) -> Node:
    """The rows of a relation that have, or have not, what is asked for; with all their columns."""
    subquery = question.subquery
    present, other = _lay_windows(present, _find_other(subquery), subquery)
    _check_present(present, other, subquery)
    present = replace(present, source=replace(present.source, schema=node.schema))
    scope = JoinScope([present, other], [f"{present.name}.", f"{other.name}."])
    asked = condition(reduce(exp.and_, subquery.of_both), scope) if subquery.of_both else None
    text = " AND ".join(write_expression(part) for part in subquery.of_both)
    pairs = _find_keys(question, present, other)
    keys = tuple(f"#{number}" for number in range(len(pairs)))
    moment = Expression.of(str(present.time), node.schema.field(present.time).type)
    mine = zip(keys, (expression for expression, _ in pairs), strict=True)
    carried = Project(node, (*list_columns(node.schema), (_TIME, moment), *mine))
    partners = _read_partners(subquery, other, bind)
    used = [name for name in partners.schema.names if name == other.time or f"{other.name}.{name}" in scope.used]
    columns = [(name, Expression.of(name, partners.schema.field(name).type)) for name in used]
    beside = Project(partners, (*columns, *zip(keys, (expression for _, expression in pairs), strict=True)))
    span = Micros(0) if present.span_us is None else present.span_us
    sides = (
        Side(present.name, carried.schema, keys, _TIME, span),
        Side(other.name, beside.schema, keys, str(other.time), other.span_us),
    )
    kind = _find_kind(question)
    if kind is NotIn and asked is not None:
        message = f"NOT IN compares by what is equal; {text} is something else: write NOT EXISTS"
        raise SqlError(message, location_of(subquery.location))
    return kind((carried, beside), sides, tuple(node.schema.names), asked, text)


def _check_present(present: From, other: From, subquery: Subquery) -> None:
    if present.source.is_table or present.time is None or present.last_rows is not None:
        message = "EXISTS and IN over a stream go with a stream that has a time, or SLIDING over one"
        raise SqlError(f"{message}: how long a reading waits for a partner", location_of(subquery.location))
    if other.name.lower() == present.name.lower():
        message = f"two relations are called {other.name!r}; name one otherwise with AS"
        raise SqlError(message, location_of(subquery.location))


def _find_kind(question: StreamQuestion) -> type[Absence]:
    if not question.negated:
        return Presence
    return NotIn if question.needles else Absence


def _find_other(subquery: Subquery) -> From:
    """The one stream that a subquery reads, over a window of time."""
    tree = subquery.tree
    if len(subquery.reads) != 1 or any(part and name not in _KNOWN for name, part in tree.args.items()):
        message = "a condition asks one stream; let WITH compute the rest, and write SLIDING over its name"
        raise SqlError(f"{message}: {_FORM}", location_of(tree) or location_of(subquery.location))
    (other,) = subquery.reads
    if other.last_rows is not None:
        raise SqlError("EXISTS and IN go by time: write SLIDING in place of LAST_ROWS", location_of(tree))
    if other.time is None or (other.window is not None and not _is_tumbling(other.window)):
        raise _refuse_window(other, tree)
    return other


def _lay_windows(present: From, other: From, subquery: Subquery) -> tuple[From, From]:
    """Both relations, how long their readings stay said: by their windows, or by what is asked of their times."""
    if other.span_us is not None:
        return present, other
    if _is_tumbling(other.window):
        if present.window != other.window or not any(map(_is_same_window, subquery.ties)):
            raise _refuse_window(other, subquery.tree)
        span_us = other.window.size_us
        return replace(present, span_us=span_us), replace(other, span_us=span_us)

    def find_time(column: exp.Column) -> int | None:
        at = 1 if subquery.has(column) else 0
        return at if column.name.lower() == str((present, other)[at].time).lower() else None

    bounds = TimeBounds([0, 1], [bound for part in subquery.of_both for bound in bounds_of(part, find_time)])
    before, after = bounds.after(1, 0), bounds.after(0, 1)
    if isinf(before) or isinf(after):
        raise _refuse_window(other, subquery.tree)
    return replace(present, span_us=Micros(int(after))), replace(other, span_us=Micros(int(before)))


def _is_tumbling(window: GroupWindow | None) -> TypeGuard[Window]:
    return isinstance(window, Window) and window.tumbling


def _is_same_window(tie: tuple[exp.Expr, exp.Expr]) -> bool:
    """Whether two ends of windows are equal: those of one TUMBLE."""
    names = {end.name.lower() if isinstance(end, exp.Column) else "" for end in (each.unnest() for each in tie)}
    return names in ({WINDOW_START}, {WINDOW_END})


def _refuse_window(other: From, tree: exp.Expr) -> SqlError:
    message = f"a stream is asked over a window of time, SLIDING({other.name}, time, INTERVAL '1' MINUTE)"
    return SqlError(f"{message}: {_FORM}", location_of(tree))


def _find_keys(question: StreamQuestion, present: From, other: From) -> list[tuple[Expression, Expression]]:
    """What is compared, of both; a value that is looked for among others comes last."""
    subquery = question.subquery
    pairs = list(subquery.ties)
    if question.needles:
        values = [part.unalias() for part in subquery.tree.selects]
        if len(values) != len(question.needles) or subquery.tree.is_star:
            message = f"IN compares {len(question.needles)} with the columns of a subquery, which has {len(values)}"
            raise SqlError(f"{message}: name them", location_of(subquery.location))
        if question.negated and len(values) > 1:
            raise SqlError(
                "NOT IN of several columns is not available; write NOT EXISTS", location_of(subquery.location)
            )
        pairs += zip(question.needles, values, strict=True)
    one = exp.Literal.number(1)
    found = []
    for mine, its in pairs or [(one, one)]:
        first, second = bring_to_one_type([mine, its], [present.scope, other.scope], subquery.location)
        found.append((first, second))
    return found


def _read_partners(subquery: Subquery, other: From, bind: Bind) -> Node:
    """The readings of the other stream that meet what is asked of them alone."""
    tree = exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=_name(subquery, other)),
        where=subquery.tree.args.get("where"),
    )
    return bind(tree, subquery.streams)


def _name(subquery: Subquery, other: From) -> exp.Table:
    alias = exp.TableAlias(this=exp.to_identifier(other.name, quoted=True))
    return exp.Table(this=exp.to_identifier(other.source.name, quoted=True), alias=alias)
