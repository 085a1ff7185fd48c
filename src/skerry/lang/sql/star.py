"""``*`` and ``t.*`` in SELECT: all columns. EXCLUDE leaves some out, REPLACE computes some, RENAME renames some."""

from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.expression import Expression

__all__ = ["bind_star", "has_star"]


def has_star(part: exp.Expr) -> bool:
    """Whether a part of SELECT stands for several columns."""
    return isinstance(part, exp.Star) or (isinstance(part, exp.Column) and isinstance(part.this, exp.Star))


def bind_star(part: exp.Expr, scope: Scope) -> list[tuple[str, Expression]]:
    """The columns that * stands for, with their names: all, or those of one relation."""
    star = part.this if isinstance(part, exp.Column) else part
    if isinstance(part, exp.Column):
        scope.check_table(part)
    known = scope.everything(part.table.lower() if isinstance(part, exp.Column) else None)
    names = [outer for outer, _ in known]
    left_out = {identifier(column) for column in star.args.get("except_") or ()}
    computed = {identifier(each.args["alias"]): each.this for each in star.args.get("replace") or ()}
    renamed = {identifier(each.this): identifier(each.args["alias"]) for each in star.args.get("rename") or ()}
    for name in (*left_out, *computed, *renamed):
        if name not in names:
            raise UnknownColumn(name, scope.name, names, location_of(part))
    both = left_out & computed.keys()
    if both:
        raise SqlError(f"* leaves column {min(both)!r} out, and computes it", location_of(part))
    found = []
    for outer, inner in known:
        if outer not in left_out:
            column = scalar(computed[outer], scope) if outer in computed else scope.column(inner)
            found.append((renamed.get(outer, outer), column))
    return found
