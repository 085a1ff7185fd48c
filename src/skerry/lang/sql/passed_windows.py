"""Windows that are laid in a subquery, and grouped by around it.

    WITH w AS (SELECT sensor, speed, window_start FROM TUMBLE(road, ts, INTERVAL '1' MINUTE))
    SELECT sensor, window_start, MAX(speed) FROM w GROUP BY sensor, window_start

A row's ``window_start`` is in the window that it starts, so that window can be laid again by it, and nothing else need
be known of the row's time.
"""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From, read_from, window_columns
from skerry.lang.sql.streams import PassedWindow, Streams
from skerry.model.window import WINDOW_END, WINDOW_START, Window

__all__ = ["find_passed_window", "lay_again", "lay_in_join"]

_ENDS = (WINDOW_START, WINDOW_END)
_PLAIN = ("expressions", "from_", "from", "where")


def find_passed_window(query: exp.Expr, streams: Streams) -> PassedWindow | None:
    """The window whose start a query gives for each of its rows, and the column that has it."""
    if not isinstance(query, exp.Select) or any(part and name not in _PLAIN for name, part in query.args.items()):
        return None
    clause = query.args.get("from_") or query.args.get("from")
    if clause is None or not isinstance(clause.this, exp.Table) or any(_computes(part) for part in query.selects):
        return None
    read = read_from(clause.this, streams, alone=True)
    passed = streams.find_window(read.source.name)
    if isinstance(read.window, Window) and read.window.tumbling:
        passed = PassedWindow(read.window, WINDOW_START)
    column = _find_column(query, passed.column) if passed else None
    return PassedWindow(passed.window, column) if passed and column else None


def lay_again(tree: exp.Select, read: From, streams: Streams) -> From:
    """A relation with the window that its rows carry, where a query groups by that; else as it is."""
    passed = streams.find_window(read.source.name)
    if read.window is not None or passed is None or passed.column not in set(_list_grouped(tree)):
        return read
    return replace(
        read, time=passed.column, window=passed.window, rewrites=window_columns(passed.window, passed.column)
    )


def lay_in_join(tree: exp.Select, streams: Streams) -> exp.Select:
    """A join of subqueries that lay TUMBLE, as Flink has it, with the windows laid where they are joined.

    FROM (SELECT * FROM TUMBLE(a, ts, size)) AS l JOIN (SELECT * FROM TUMBLE(b, ts, size)) AS r ON ... window_start
    """
    items = list_items(tree)
    tables = [
        item.this for item in items if isinstance(item.this, exp.Table) and not isinstance(item.this.this, exp.Func)
    ]
    passed = {id(table): streams.find_window(identifier(table)) for table in tables}
    if len(items) == 1 or not any(passed.values()):
        return tree
    tree = tree.copy()
    for item in list_items(tree):
        table = item.this
        if not isinstance(table, exp.Table) or isinstance(table.this, exp.Func):
            continue
        window = streams.find_window(identifier(table))
        times = (
            [each for each in streams.plan(identifier(table)).root.time_columns if each not in _ENDS] if window else []
        )
        if window is None or window.column != WINDOW_START or len(times) != 1:
            continue
        spans = [window.window.size_us, window.window.offset_us]
        lengths = [exp.Interval(this=exp.Literal.string(str(span)), unit=exp.var("MICROSECOND")) for span in spans]
        name = exp.column(table.this.copy())
        call = exp.Anonymous(this="TUMBLE", expressions=[name, exp.column(times[0], quoted=True), *lengths])
        for each in call.walk():
            each.meta.update(next((node.meta for node in table.walk() if "line" in node.meta), {}))
        alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
        table.replace(exp.Table(this=call, alias=alias.copy()))
    return tree


def _computes(part: exp.Expr) -> bool:
    return part.find(exp.AggFunc, exp.Window) is not None


def _find_column(query: exp.Select, name: str) -> str | None:
    """What a query calls a column."""
    for part in query.selects:
        if part.is_star:
            return name
        if isinstance(part.unalias(), exp.Column) and identifier(part.unalias()) == name:
            return identifier(part.args["alias"]) if isinstance(part, exp.Alias) else name
    return None


def _list_grouped(tree: exp.Select) -> Iterator[str]:
    """The columns that a query groups by, by name, by alias or by position."""
    aliases = {identifier(part.args["alias"]): part.this for part in tree.selects if isinstance(part, exp.Alias)}
    group = tree.args.get("group")
    for part in group.expressions if group else []:
        if isinstance(part, exp.Literal) and part.name.isdigit() and int(part.name) <= len(tree.selects):
            part = tree.selects[int(part.name) - 1].unalias()
        for column in part.find_all(exp.Column):
            yield identifier(column)
            yield from map(identifier, aliases.get(identifier(column), exp.null()).find_all(exp.Column))
