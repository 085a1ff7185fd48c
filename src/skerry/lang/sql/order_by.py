"""ORDER BY and LIMIT of a view: the order of rows within a window, and the first of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.over_calls import OrderPart
from skerry.lang.sql.over_clauses import PlannedWindow
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.window_reads import WindowReads
from skerry.plan.over import OrderKey

__all__ = ["Limit", "push_window", "read_order_by"]

_INSTEAD = "the rows of a window can be put in order: FROM TUMBLE(stream, ts, INTERVAL '1' MINUTE)"


@dataclass(frozen=True)
class Limit:
    """How many rows of each window are given, and how many before them are left out."""

    count: int | None = None
    skipped: int = 0

    @classmethod
    def read(cls, tree: exp.Select) -> "Limit":
        """LIMIT, OFFSET and FETCH."""
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression if limit else None
        if isinstance(limit, exp.Fetch) and limit.args.get("limit_options"):
            options = limit.args["limit_options"]
            if options.args.get("with_ties") or options.args.get("percent"):
                raise SqlError(
                    "write FETCH FIRST 3 ROWS ONLY; for ties, QUALIFY RANK() OVER (...) <= 3", location_of(limit)
                )
        return cls(_read_number(count), _read_number(offset.expression if offset else None) or 0)

    @property
    def is_asked(self) -> bool:
        """Whether rows are left out."""
        return self.count is not None or self.skipped > 0


def _read_number(tree: exp.Expr | None) -> int | None:
    if tree is None:
        return None
    if not isinstance(tree, exp.Literal) or tree.is_string or not tree.name.isdigit():
        raise SqlError("LIMIT and OFFSET take whole numbers, written out", location_of(tree))
    return int(tree.name)


def read_order_by(tree: exp.Select) -> list[OrderPart]:
    """What ORDER BY names: a column of SELECT by position or name, or an expression."""
    order = tree.args.get("order")
    found = []
    for part in order.expressions if order else []:
        if identifier_of(part.this) == "all" and not part.this.args.get("table"):
            raise SqlError("ORDER BY ALL is not available; name the columns", location_of(part))
        chosen = _resolve(part.this, tree)
        found.append(OrderPart(chosen, bool(part.args.get("desc")), bool(part.args.get("nulls_first"))))
    return found


def identifier_of(tree: exp.Expr) -> str | None:
    """The name of a bare column."""
    is_bare = isinstance(tree, exp.Column) and isinstance(tree.this, exp.Identifier) and not tree.table
    return identifier(tree) if is_bare else None


def _resolve(part: exp.Expr, tree: exp.Select) -> exp.Expr:
    if isinstance(part, exp.Literal) and not part.is_string:
        position = int(part.name) if part.name.isdigit() else 0
        if not 1 <= position <= len(tree.selects):
            raise SqlError(f"ORDER BY {part.name} is outside the {len(tree.selects)} columns", location_of(part))
        return tree.selects[position - 1].unalias()
    name = identifier_of(part)
    named = [each for each in tree.selects if isinstance(each, exp.Alias)]
    return next((each.this for each in named if identifier(each.args["alias"]) == name), part)


def push_window(tree: exp.Select, reads: WindowReads, order: Sequence[OrderKey], limit: Limit) -> PlannedWindow:
    """The partition whose rows are put in order: those of a window; or all rows, by time."""
    end = reads.push_end()
    location = tree.args.get("order") or tree.args.get("limit") or tree.args.get("offset") or tree
    if end is not None:
        return PlannedWindow((end,), (), location)
    if limit.is_asked or not order:
        message = f"LIMIT over a stream without an end is never settled; {_INSTEAD} ... LIMIT 3 gives 3 rows per window"
        raise SqlError(message, location_of(location))
    return PlannedWindow((), tuple(order), location)
