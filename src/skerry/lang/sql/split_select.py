"""A SELECT with OVER, ORDER BY or LIMIT in two: what is computed below, from each row or group, and what above."""

from collections.abc import Callable, Iterator

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression

__all__ = ["Below", "find_windows", "has_windows", "is_star"]

_ABOVE = ("qualify", "windows", "order", "limit", "offset")
_STAR = "_star"
_NO_VALUES = (exp.Interval, exp.Tuple, exp.Identifier, exp.DataType, exp.Star, exp.Lambda, exp.Kwarg, exp.Slice)


def find_windows(tree: exp.Expr) -> Iterator[exp.Window]:
    """The OVER clauses of an expression, but for those of queries inside it."""
    for node in tree.walk(prune=lambda part: isinstance(part, exp.Query | exp.Window)):
        if isinstance(node, exp.Window):
            yield node


def has_windows(tree: exp.Expr) -> bool:
    """Whether an expression has an OVER clause."""
    return next(find_windows(tree), None) is not None


def is_star(part: exp.Expr) -> bool:
    """Whether a part of SELECT stands for several columns."""
    return isinstance(part, exp.Star) or (isinstance(part, exp.Column) and isinstance(part.this, exp.Star))


class Below:
    """Collects what the SELECT below must give: each expression once, under a name of its own.

    >>> import sqlglot
    >>> from skerry.model.dialect import Dialect
    >>> tree = sqlglot.parse_one("SELECT speed / 2 - LAG(speed / 2) OVER (ORDER BY ts) FROM s", read=Dialect)
    >>> below = Below(tree)
    >>> below.push(tree.find(exp.Div)).sql(), below.push(tree.find(exp.Lag).this).name
    ('"_over0"', '_over0')
    >>> below.select().sql()
    'SELECT speed / 2 AS "_over0" FROM s'
    """

    def __init__(self, tree: exp.Select, read_window: Callable[[exp.Window], exp.Expr] = lambda window: window) -> None:
        self._tree, self._read_window = tree, read_window
        self._names: dict[str, str] = {}
        self._parts: list[exp.Expr] = []
        self._stars = 0

    @property
    def is_grouped(self) -> bool:
        """Whether groups are computed below, and not rows one by one."""
        if any(self._tree.args.get(clause) for clause in ("group", "having", "distinct")):
            return True
        above = [self._tree.args[clause] for clause in ("qualify", "order") if self._tree.args.get(clause)]
        calls = (call for part in [*self._tree.selects, *above] for call in part.find_all(exp.AggFunc))
        return not all(_is_before_over(call) for call in calls)

    def push(self, tree: exp.Expr) -> exp.Column:
        """Let an expression be computed below; give the column that it is above."""
        text = write_expression(tree)
        if text not in self._names:
            self._names[text] = f"_over{len(self._names)}"
            self._parts.append(exp.alias_(tree.copy(), self._names[text], quoted=True))
        column = exp.column(self._names[text], quoted=True)
        column.meta.update(next((part.meta for part in tree.walk() if "line" in part.meta), {}))
        return column

    def push_star(self, part: exp.Expr) -> int:
        """Let several columns be given below; they end with a column that only marks that."""
        number = self._stars
        self._stars += 1
        self._parts += [part.copy(), exp.alias_(exp.Literal.number(0), f"{_STAR}{number}", quoted=True)]
        return number

    def star_columns(self, number: int, names: list[str]) -> list[str]:
        """The columns that a star stood for, among those that were given."""
        stop = names.index(f"{_STAR}{number}")
        start = stop
        while start and not names[start - 1].startswith((_STAR, "_over")):
            start -= 1
        return names[start:stop]

    def lift(self, tree: exp.Expr) -> exp.Expr:
        """An expression as it is above: its parts without OVER are columns, and so is what ``read_window`` makes."""
        if _is_pushed(tree):
            return self.push(tree)
        return self._read_window(tree) if isinstance(tree, exp.Window) else self.lift_arguments(tree)

    def lift_arguments(self, function: exp.Expr) -> exp.Expr:
        """A call as it is above: its arguments are columns."""
        lifted = function.copy()
        for name, part in function.args.items():
            if isinstance(part, exp.Expression):
                lifted.set(name, self.lift(part))
            elif isinstance(part, list):
                lifted.set(name, [self.lift(each) if isinstance(each, exp.Expression) else each for each in part])
        return lifted

    def select(self) -> exp.Select:
        """The SELECT below. Positions and names of columns in GROUP BY are those of the whole one."""
        found = self._tree.copy()
        for clause in _ABOVE:
            found.set(clause, None)
        if not self._parts:
            self._parts.append(exp.alias_(exp.Literal.number(0), f"{_STAR}s", quoted=True))
        found.set("expressions", self._parts)
        group = found.args.get("group")
        if group:
            group.set("expressions", [self._resolve_group_part(part) for part in group.expressions])
        return found

    def _resolve_group_part(self, part: exp.Expr) -> exp.Expr:
        selects = self._tree.selects
        if isinstance(part, exp.Literal) and not part.is_string and part.name.isdigit():
            position = int(part.name)
            if not 1 <= position <= len(selects):
                raise SqlError(f"GROUP BY {part.name} is outside the {len(selects)} columns", location_of(part))
            return selects[position - 1].unalias().copy()
        if isinstance(part, exp.Column) and not part.table:
            for chosen in selects:
                is_named = isinstance(chosen, exp.Alias) and identifier(chosen.args["alias"]) == identifier(part)
                if is_named and not has_windows(chosen):
                    self._parts.append(chosen.copy())  # what GROUP BY means by it is decided where it is bound
                    break
        return part


def _is_before_over(call: exp.Expr) -> bool:
    """Whether a function is what OVER is about, and no aggregate of a group."""
    below, above = call, call.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        below, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is below


def _is_pushed(tree: exp.Expr) -> bool:
    is_value = isinstance(tree, exp.Condition) and not isinstance(tree, (*_NO_VALUES, exp.Window))
    is_branch = isinstance(tree, exp.If) and isinstance(tree.parent, exp.Case)
    is_known = tree.find(exp.Column, exp.AggFunc) is not None
    return is_value and not is_branch and is_known and not has_windows(tree)
