"""Forms: predicates that differ in their constants alone, as one tree and where in it the constants stand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

__all__ = ["Constant", "Form"]

Constant = str | tuple[str, ...]
"""A constant as it is written, a text in its quotes; or all constants of a list."""


class Form:
    """A tree, its literals, and their present constants. The literal of a list stands alone behind IN.

    A form that ``is_shared`` is filled again and again.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("speed IN (30)")
    >>> form = Form(tree, [tree.find(exp.Literal)], [("30",)])
    >>> form.fill([("45", "50")])
    >>> form.write().sql()
    'speed IN (45, 50)'
    """

    def __init__(
        self, tree: exp.Expr, literals: Sequence[exp.Literal], constants: Sequence[Constant], *, is_shared: bool = True
    ) -> None:
        self.tree, self.constants, self.is_shared = tree, constants, is_shared
        self.row_count = 0
        self.columns: Sequence[Sequence[Constant]] = ()
        """Predicates that are read together, and their constants: a column for each literal. 0 if one is read alone."""
        self.weight = 1
        """How many predicates have the present constants."""
        self._literals = tuple(literals)
        lists = [index for index, constant in enumerate(constants) if not isinstance(constant, str)]
        self._lists = {index: literals[index].parent for index in lists}
        self._indexes = {id(literal): index for index, literal in enumerate(literals)}
        self._list_indexes = {id(behind): index for index, behind in self._lists.items()}
        self._is_written = False

    @classmethod
    def of(cls, tree: exp.Expr) -> "Form":
        """The form of one predicate, with its constants."""
        literals = list(tree.find_all(exp.Literal, bfs=False))
        return cls(tree, literals, [_quote(literal) for literal in literals], is_shared=False)

    def fill(self, constants: Sequence[Constant]) -> None:
        """Take other constants, of the same kinds."""
        self.constants, self._is_written, self.weight = constants, False, 1

    @contextmanager
    def filled_with(self, columns: Sequence[Sequence[Constant]], row_count: int) -> Iterator[None]:
        """Hold the constants of many predicates meanwhile."""
        self.columns, self.row_count = columns, row_count
        try:
            yield
        finally:
            self.columns, self.row_count, self.weight = (), 0, 1

    def take_row(self, row: int, weight: int) -> None:
        """Take the constants of one of many predicates, as those of so many of them."""
        self.fill([column[row] for column in self.columns])
        self.weight = weight

    def write(self) -> exp.Expr:
        """The tree with the present constants, until it is written again."""
        if not self._is_written:
            self.write_constants(self.constants)
            self._is_written = True
        return self.tree

    def write_constants(self, constants: Sequence[Constant]) -> None:
        """Put any constants into the tree."""
        self._is_written = False
        for literal, constant in zip(self._literals, constants, strict=True):
            if isinstance(constant, str):
                literal.set("this", _unquote(constant))
        for index, behind in self._lists.items():
            constant = constants[index]
            listed = [self._literals[index]] if isinstance(constant, str) else [_to_literal(each) for each in constant]
            if behind is not None:
                behind.set("expressions", listed)

    def index_of(self, tree: exp.Expr) -> int | None:
        """Which of the constants a part of the tree is, or whose list it is in; None if it is something else."""
        if tree.arg_key == "expressions" and id(tree.parent) in self._list_indexes:
            return self._list_indexes[id(tree.parent)]  # each time they are written, lists have other literals
        return self._indexes.get(id(tree))


def _quote(literal: exp.Literal) -> str:
    text = str(literal.this)
    return "'" + text.replace("'", "''") + "'" if literal.is_string else text


def _unquote(constant: str) -> str:
    return constant[1:-1].replace("''", "'") if constant[0] == "'" else constant


def _to_literal(constant: str) -> exp.Literal:
    return exp.Literal(this=_unquote(constant), is_string=constant[0] == "'")
