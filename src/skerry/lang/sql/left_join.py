"""LEFT JOIN: what ON says decides who has a partner, so it is kept apart from WHERE.

a LEFT JOIN table    the table is looked up beside the stream; rows that find nothing keep NULLs
a LEFT JOIN b        a join of two streams that also gives the readings of a without a partner
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from skerry.errors import OptionError, SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.statements import location_of

__all__ = ["check_join_kind", "check_left_stream", "check_table_condition", "refuse_overload"]


def check_join_kind(join: exp.Join) -> bool:
    """Whether a join is a LEFT JOIN; refuse kinds that are not available, and say what is."""
    kind = " ".join(str(join.args.get(part) or "") for part in ("method", "side", "kind")).split()
    if kind in ([], ["INNER"], ["CROSS"]):
        return False
    if kind in (["LEFT"], ["LEFT", "OUTER"]):
        return True
    instead = next((words for word, words in _INSTEAD.items() if word in kind), "known are JOIN and LEFT JOIN")
    raise SqlError(f"{' '.join(kind)} JOIN is not available; {instead}", location_of(join))


_ABSENT = "WHERE NOT EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '1' MINUTE) AS b WHERE b.key = a.key)"
_INSTEAD = {
    "FULL": "write two views: a LEFT JOIN b, and for the rest of b, FROM b WHERE NOT EXISTS (... a ...)",
    "ANTI": f"write FROM a {_ABSENT}",
    "SEMI": "JOIN gives a reading once per partner; name the columns of the first stream alone",
    "ASOF": "JOIN SLIDING(b, ts, size) AS b ON a.key = b.key AND b.ts <= a.ts gives all readings of b in the window",
    "NATURAL": "write JOIN b USING (key)",
    "RIGHT": "swap the relations, and write LEFT JOIN",
}
"""By a word of a join that is not available, what to write."""


def check_left_stream(
    reads: Sequence[From], streams: Sequence[int], homes: Mapping[int, int], left: Mapping[int, object], tree: exp.Expr
) -> int | None:
    """The stream that is joined by LEFT JOIN, if one is: then there are two, each over a window of time."""
    found = [home for home in streams if home in left]
    if not found:
        return None
    if len(streams) > 2 or any(read.window for read in reads):
        message = "LEFT JOIN joins two streams, each over SLIDING; let a view read the answers of another"
        raise SqlError(message, location_of(tree))
    if any(reads[home].last_rows is not None for home in streams):
        raise SqlError("LEFT JOIN goes by time: write SLIDING in place of LAST_ROWS", location_of(tree))
    inner = [table for table, home in homes.items() if home == found[0] != table and table not in left]
    if inner:
        name, stream = reads[inner[0]].name, reads[found[0]].name
        message = f"table {name!r} is looked up beside {stream!r}, which may have no row: write LEFT JOIN {name}"
        raise SqlError(message, location_of(tree))
    return found[0]


def check_table_condition(part: exp.Expr, owners: set[int], table: int, name: str) -> None:
    """ON of a LEFT JOIN with a table may compare it with one stream, and ask something of the table alone."""
    if owners != {table}:
        message = f"ON of LEFT JOIN {name} compares {name} with one stream, or asks something of {name} alone"
        raise SqlError(f"{message}; {part.sql('risingwave')} is something else", location_of(part))


def refuse_overload(is_left: bool) -> None:
    """A left join must know of every partner."""
    if is_left:
        raise OptionError("a LEFT JOIN keeps its readings in memory, all of them: it can neither shed nor spill")
