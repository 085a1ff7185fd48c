"""Arguments with names, of calls in FROM: ``across => sensor``."""

from collections.abc import Collection, Sequence

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression

__all__ = ["read_named_arguments", "read_truth"]


def read_named_arguments(
    function: str, call: exp.Func, parts: Sequence[exp.Expr], known: Collection[str]
) -> dict[str, exp.Expr]:
    """Some parts of a call by their names, in lower case; each is known, and given once."""
    found: dict[str, exp.Expr] = {}
    for part in parts:
        name = part.name.lower() if isinstance(part, exp.Kwarg) else ""
        location = location_of(part) or location_of(call)
        if name not in known:
            raise SqlError(
                f"{function} does not know {write_expression(part)!r}; known are {', '.join(known)}", location
            )
        if name in found:
            raise SqlError(f"{function}: {name} is given twice", location)
        found[name] = part.expression
    return found


def read_truth(name: str, written: exp.Expr | None) -> bool:
    """TRUE or FALSE; FALSE if it is not given."""
    if written is not None and not isinstance(written, exp.Boolean):
        raise SqlError(f"{name} is TRUE or FALSE, got {write_expression(written)}", location_of(written))
    return bool(written is not None and written.this)
