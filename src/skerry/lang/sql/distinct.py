"""SELECT DISTINCT within a window: each combination of values once per window, which is GROUP BY of all columns.

Over a stream without a window all combinations that ever came would have to be kept; that is refused.
"""

from collections.abc import Callable, Sequence

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import call_name
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression

__all__ = ["group_distinct"]

_WINDOWS = ("TUMBLE", "HOP", "SESSION_WINDOW")
_FORM = "SELECT DISTINCT key FROM TUMBLE(stream, ts, INTERVAL '1' MINUTE)"


def group_distinct(
    tree: exp.Select,
    is_grouped: bool,
    list_columns: Callable[[], Sequence[tuple[str, str]]],
    *,
    endless: bool = False,
) -> exp.Select:
    """The same query by GROUP BY in place of DISTINCT. ``list_columns`` are what * stands for.

    ``endless``: groups without a window may be kept.
    """
    distinct = tree.args.get("distinct")
    if distinct is None:
        return tree
    if distinct.args.get("on"):
        message = (
            "DISTINCT ON keeps one row of many: write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts) = 1"
        )
        raise SqlError(message, location_of(distinct))
    tree.set("distinct", None)
    if is_grouped:
        _check_keys(tree)
        return tree
    items = [tree.args.get("from_") or tree.args.get("from"), *(tree.args.get("joins") or [])]
    windows = [item.this for item in items if isinstance(item.this, exp.Table) and isinstance(item.this.this, exp.Func)]
    if not endless and not any(call_name(window.this) in _WINDOWS for window in windows):
        message = "DISTINCT of a stream without a window would keep all that ever came; within a window it is"
        kept = "or, each combination once and kept for ever, WITH (emit='changes')"
        raise SqlError(f"{message} {_FORM}; {kept}", location_of(tree))
    _expand_star(tree, list_columns)
    tree.set("group", exp.Group(expressions=[part.unalias().copy() for part in tree.selects]))
    return tree


def _expand_star(tree: exp.Select, list_columns: Callable[[], Sequence[tuple[str, str]]]) -> None:
    """The columns by name: those of a group are named."""
    if not tree.is_star:
        return
    if len(tree.selects) > 1 or tree.args.get("joins"):
        raise SqlError("DISTINCT beside * needs the columns by name", location_of(tree))
    tree.set("expressions", [exp.column(name, quoted=True) for name, _ in list_columns()])


def _check_keys(tree: exp.Select) -> None:
    """Rows of groups differ where all keys are given; where some are not, the groups are others than were meant."""
    given = {write_expression(part.unalias()) for part in tree.selects} | {part.alias_or_name for part in tree.selects}
    numbers = {str(number) for number in range(1, len(tree.selects) + 1)}
    group = tree.args.get("group")
    missing = [each for each in (group.expressions if group else []) if write_expression(each) not in given | numbers]
    if missing:
        message = (
            f"DISTINCT of an aggregate needs all of GROUP BY in the SELECT list; {write_expression(missing[0])} is not"
        )
        raise SqlError(message, location_of(missing[0]))
