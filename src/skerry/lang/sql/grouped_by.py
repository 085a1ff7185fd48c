"""GROUP BY in full: ALL, ROLLUP, CUBE and GROUPING SETS, and names of SELECT in HAVING.

Several sets of keys are several queries, one per set, whose rows are given together. A key that a set does not have is
NULL in its rows.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, product

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.model.window import WINDOW_END, WINDOW_START

__all__ = ["name_in_having", "split_grouping_sets", "write_group_by_all"]

_MOST_SETS = 64
_Set = tuple[exp.Expr, ...]


def write_group_by_all(tree: exp.Select) -> exp.Select:
    """GROUP BY ALL by the columns of SELECT that are no aggregates."""
    group = tree.args.get("group")
    if group is None or not group.args.get("all"):
        return tree
    keys = [part.unalias() for part in tree.selects if not part.find(exp.AggFunc) and part.find(exp.Column)]
    tree = tree.copy()
    tree.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return tree


def name_in_having(tree: exp.Select, columns: Sequence[str]) -> exp.Select:
    """HAVING with what SELECT gives a name to in place of that name, where no column has it."""
    having = tree.args.get("having")
    named = {identifier(part.args["alias"]): part.this for part in tree.selects if isinstance(part, exp.Alias)}
    if having is None or not named.keys() - set(columns):
        return tree

    def write(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table or not isinstance(node.this, exp.Identifier):
            return node
        name = identifier(node)
        return exp.Paren(this=named[name].copy()) if name in named and name not in columns else node

    tree = tree.copy()
    tree.args["having"].set("this", tree.args["having"].this.transform(write))
    return tree


def split_grouping_sets(tree: exp.Select) -> exp.Query | None:
    """A SELECT with several sets of keys, as a UNION ALL of those with one; None if it has one."""
    group = tree.args.get("group")
    if group is None or not any(isinstance(part, _COMBINED) for part in group.expressions):
        return None
    _check(tree, group)
    sets = [_flatten(each) for each in product(*(_list_sets(part) for part in group.expressions))]
    if len(sets) > _MOST_SETS:
        raise SqlError(f"GROUP BY has {len(sets)} sets of keys; {_MOST_SETS} at the most", location_of(group))
    every = list(dict.fromkeys(key for each in sets for key in each))
    parts: list[exp.Query] = [_select_set(tree, keys, [key for key in every if key not in keys]) for keys in sets]
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), parts)


_COMBINED = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _check(tree: exp.Select, group: exp.Group) -> None:
    beside = next((name for name in ("order", "limit", "offset", "qualify", "distinct") if tree.args.get(name)), None)
    if beside or has_over(tree):
        clause = (beside or "OVER").upper()
        message = f"{clause} beside several sets of keys is written around: SELECT ... FROM (SELECT ...) AS x"
        raise SqlError(message, location_of(group) or location_of(tree))


def has_over(tree: exp.Select) -> bool:
    """Whether SELECT has a window function."""
    return any(part.find(exp.Window) for part in tree.selects)


def _flatten(sets: Iterable[_Set]) -> _Set:
    return tuple(dict.fromkeys(key for each in sets for key in each))


def _list_sets(part: exp.Expr) -> list[_Set]:
    """The sets of keys that one part of GROUP BY stands for."""
    if isinstance(part, exp.Rollup):
        keys = [_read_set(each) for each in part.expressions]
        return [_flatten(keys[:count]) for count in range(len(keys), -1, -1)]
    if isinstance(part, exp.Cube):
        keys = [_read_set(each) for each in part.expressions]
        return [_flatten(each) for count in range(len(keys), -1, -1) for each in combinations(keys, count)]
    if isinstance(part, exp.GroupingSets):
        return [each for inner in part.expressions for each in _list_inner_sets(inner)]
    return [(part,)]


def _list_inner_sets(part: exp.Expr) -> list[_Set]:
    return _list_sets(part) if isinstance(part, _COMBINED) else [_read_set(part)]


def _read_set(part: exp.Expr) -> _Set:
    """The keys of one set: ``(a, b)``, ``a``, or none."""
    if isinstance(part, exp.Tuple):
        return tuple(part.expressions)
    return (part.unnest(),)


def _select_set(tree: exp.Select, keys: _Set, missing: Sequence[exp.Expr]) -> exp.Select:
    """The query with one set of keys. The window is part of every set."""
    absent = [key for key in missing if identifier_of(key) not in (WINDOW_START, WINDOW_END)]

    found = tree.copy()
    found.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
    found.set("expressions", [_write_part(part, absent) for part in found.selects])
    having = found.args.get("having")
    if having is not None:
        having.set("this", _write_absent(having.this, absent))
    return found


def _write_part(part: exp.Expr, absent: Sequence[exp.Expr]) -> exp.Expr:
    """A column of SELECT under the name that it has, whatever is NULL in it."""
    name = part.args["alias"] if isinstance(part, exp.Alias) else part.this if isinstance(part, exp.Column) else None
    written = _write_absent(part.unalias(), absent)
    return exp.Alias(this=written, alias=name.copy()) if name is not None else written


def _write_absent(node: exp.Expr, absent: Sequence[exp.Expr]) -> exp.Expr:
    """An expression with NULL for keys that a set does not have, but inside aggregates: these go over rows."""
    if node in absent:
        return exp.null()
    if isinstance(node, exp.Grouping) or (isinstance(node, exp.Anonymous) and node.name.upper() == "GROUPING"):
        bits = "".join("1" if each in absent else "0" for each in node.expressions)
        return exp.Literal.number(int(bits, 2))
    if isinstance(node, exp.AggFunc | exp.Filter):
        return node.copy()
    found = node.copy()
    for name, value in list(found.args.items()):
        if isinstance(value, exp.Expr):
            found.set(name, _write_absent(value, absent))
        elif isinstance(value, list):
            found.set(name, [_write_absent(each, absent) if isinstance(each, exp.Expr) else each for each in value])
    return found


def identifier_of(tree: exp.Expr) -> str | None:
    """The name of a column; None for anything else."""
    return identifier(tree) if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Identifier) else None
