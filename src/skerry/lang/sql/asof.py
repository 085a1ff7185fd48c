"""ASOF JOIN: by what the latest reading, or row of a table, is found.

a ASOF JOIN b ON a.key = b.key AND a.ts >= b.ts
a ASOF LEFT JOIN b ON a.key = b.key AND a.ts > b.ts AND b.ts >= a.ts - INTERVAL '5' MINUTE     how old it may be
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.time_bounds import bounds_of
from skerry.model.dialect import write_expression

__all__ = ["Latest", "find_comparison", "read_latest", "refuse_asof"]

_FORM = "write ASOF JOIN b ON a.key = b.key AND a.ts >= b.ts"


@dataclass(frozen=True)
class Latest:
    """Which stream looks, how old what it finds may be, and whether that must be before its own time."""

    stream: int
    strictly: bool
    most_us: float


def read_latest(
    parts: Sequence[exp.Expr], stream: int, members: Sequence[int], read: From, time_of: Callable[..., int | None]
) -> Latest:
    """What ON says of times, without the equalities."""
    found: list[tuple[int, bool]] = []
    most_us = inf if read.span_us is None else float(read.span_us)
    for part in parts:
        comparison = find_comparison(part)
        streams = [time_of(each) if isinstance(each, exp.Column) else None for each in comparison or ()]
        if comparison and len(streams) == 2 and streams[0] in members and streams[1] == stream:
            found.append((streams[0], isinstance(part, exp.GT | exp.LT)))  # type: ignore[arg-type]
            continue
        bounds = bounds_of(part, time_of)
        if not bounds or any(one != stream or other not in members for one, other, _ in bounds):
            raise refuse_asof(part)
        most_us = min([most_us, *(most for _, _, most in bounds)])
    if len(found) != 1:
        message = f"ASOF JOIN compares two times, one of each side, so that {read.name} is the earlier; {_FORM}"
        raise SqlError(message, location_of(parts[0]) if parts else None)
    return Latest(*found[0], max(most_us, 0))


def find_comparison(part: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The later and the earlier end of a comparison."""
    if isinstance(part, exp.GTE | exp.GT):
        return part.left.unnest(), part.right.unnest()
    if isinstance(part, exp.LTE | exp.LT):
        return part.right.unnest(), part.left.unnest()
    return None


def refuse_asof(part: exp.Expr) -> SqlError:
    """What ON of an ASOF JOIN cannot ask."""
    message = f"ON of ASOF JOIN has equalities and one comparison of times; {write_expression(part)} is something else"
    return SqlError(f"{message}: {_FORM}, and ask for the rest in WHERE", location_of(part))
