"""Parts of a SELECT: what stands in FROM, and conditions part by part."""

from collections.abc import Iterator, Sequence
from functools import reduce

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.scalar import Scope, condition
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression

__all__ = ["bind_all", "conjuncts", "from_of", "list_items", "write_conditions"]


def from_of(tree: exp.Select) -> exp.Expr:
    """What stands in FROM."""
    clause = tree.args.get("from_") or tree.args.get("from")
    if clause is None:
        raise SqlError("a view needs FROM", location_of(tree))
    found: exp.Expr = clause.this
    return found


def list_items(tree: exp.Select) -> list[exp.Expr]:
    """What holds the items of FROM."""
    clause = tree.args.get("from_") or tree.args.get("from")
    return [*([clause] if clause else []), *(tree.args.get("joins") or [])]


def conjuncts(predicate: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold."""
    if predicate is None:
        return
    bare = predicate.unnest()
    if isinstance(bare, exp.And):
        yield from conjuncts(bare.left)
        yield from conjuncts(bare.right)
    elif not (isinstance(bare, exp.Boolean) and bare.this):
        yield bare


def bind_all(parts: Sequence[exp.Expr], scope: Scope) -> Expression | None:
    """Conditions that must all hold, as one; None if there are none."""
    return condition(reduce(exp.and_, parts), scope) if parts else None


def write_conditions(parts: Sequence[exp.Expr]) -> str:
    """Conditions as a user writes them."""
    return " AND ".join(write_expression(part) for part in parts)
