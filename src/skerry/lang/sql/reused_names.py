"""Names that SELECT gives, used in the same SELECT.

    SELECT speed * 1.609 AS kmh, kmh / 3.6 AS ms FROM s WHERE kmh > 30

A column goes before such a name. So this is asked when there is no column of that name.
"""

from collections.abc import Callable

from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.plan.node import Node

__all__ = ["bind_with_names"]

_MOST_PARTS = 5_000
"""Of a SELECT with what its names stand for: each name may double it."""


def bind_with_names(tree: exp.Select, bind: Callable[[exp.Select], Node]) -> Node:
    """Bind a SELECT; where it knows no column of a name that it gives itself, what has the name is meant."""
    for _ in tree.selects:
        try:
            return bind(tree.copy())
        except UnknownColumn as error:
            written = _write_name(tree, str(error.args[0]).lower())
            if written is None:
                raise
            if sum(1 for _ in written.walk()) > _MOST_PARTS:
                message = f"with what its names stand for, SELECT has more than {_MOST_PARTS:,} parts"
                raise SqlError(f"{message}; give the names in a subquery", location_of(tree)) from None
            tree = written
    return bind(tree)


def _write_name(tree: exp.Select, name: str) -> exp.Select | None:
    """The SELECT with what has a name in place of the name; None if it does not give it, or use it."""
    given = next((each for each in tree.selects if isinstance(each, exp.Alias) and _is_called(each, name)), None)
    if given is None:
        return None
    found, uses = tree.copy(), 0
    parts = [part for part in found.selects if not (isinstance(part, exp.Alias) and _is_called(part, name))]
    parts += [found.args[clause] for clause in ("where", "having", "qualify") if found.args.get(clause)]
    for part in parts:
        for column in list(part.find_all(exp.Column)):
            is_own = column.find_ancestor(exp.Query) is found and not column.table
            if is_own and isinstance(column.this, exp.Identifier) and identifier(column) == name:
                column.replace(exp.paren(given.this.copy()))
                uses += 1
    return found if uses else None


def _is_called(part: exp.Alias, name: str) -> bool:
    return identifier(part.args["alias"]) == name
