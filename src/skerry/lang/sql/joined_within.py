"""How far apart the readings of a join may be, as ksqlDB and Azure Stream Analytics say it.

a JOIN b WITHIN (1 MINUTE, 5 MINUTES) ON ...       b.ts BETWEEN a.ts - 1 MINUTE AND a.ts + 5 MINUTE
... AND DATEDIFF(second, a, b) BETWEEN 0 AND 60    ... AND date_diff('second', a.ts, b.ts) BETWEEN 0 AND 60
"""

from collections.abc import Mapping

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams

__all__ = ["write_joined_within"]

_MARK = "JOINED_WITHIN"


def write_joined_within(tree: exp.Select, streams: Streams) -> exp.Select:
    """A SELECT whose joins compare event times."""
    if not tree.args.get("joins"):
        return tree
    tree = tree.copy()
    tables = [holder.this for holder in list_items(tree) if isinstance(holder.this, exp.Table)]
    times = {table.alias_or_name.lower(): time for table in tables if (time := _find_time(table, streams))}
    for join in tree.args["joins"]:
        condition = join.args.get("on")
        if condition is None:
            continue
        for node in list(condition.find_all(exp.Anonymous)):
            if node.name.upper() == _MARK:
                node.replace(_compare(node, join, times))
            elif node.name.lower() in ("date_diff", "date_sub"):
                _name_times(node, times)
    return tree


def _find_time(table: exp.Table, streams: Streams) -> exp.Column | None:
    item = table.this.expressions[0] if isinstance(table.this, exp.Func) and table.this.expressions else table
    source = streams.find(identifier(item)) if isinstance(item, exp.Table | exp.Column) else None
    if source is None or source.is_table or source.event_time is None:
        return None
    return exp.column(source.event_time, table.alias_or_name, quoted=True)


def _compare(mark: exp.Expr, join: exp.Join, times: Mapping[str, exp.Column]) -> exp.Expr:
    mine = times.get(join.this.alias_or_name.lower())
    other = next((time for name, time in times.items() if time is not mine), None)
    if mine is None or other is None:
        raise SqlError("WITHIN joins streams with event times", location_of(mark))
    before, after = mark.expressions
    low = exp.Sub(this=other.copy(), expression=before.copy())
    high = exp.Add(this=other.copy(), expression=after.copy())
    return exp.Between(this=mine.copy(), low=low, high=high)


def _name_times(call: exp.Anonymous, times: Mapping[str, exp.Column]) -> None:
    """A stream that is named in place of its time."""
    for argument in call.expressions[1:]:
        is_bare = isinstance(argument, exp.Column) and not argument.table
        time = times.get(argument.name.lower()) if is_bare else None
        if time is not None:
            argument.replace(time.copy())
