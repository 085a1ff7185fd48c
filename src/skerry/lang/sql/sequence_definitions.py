"""DEFINE: which rows are a symbol.

What a condition asks of the row itself, and of the rows before it (PREV), is one column per symbol. What it asks of
rows of other symbols in the match is compared while the pattern is searched: one side is about the row, the other about
the first or last row of one other symbol.
"""

from collections.abc import Collection
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import conjuncts
from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.scalar import Scope, condition, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Columns, Expression
from skerry.plan.sequences import Comparison, Previous

__all__ = ["Definitions", "call_of"]

_OPERATORS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("=", "="),
    exp.NEQ: ("<>", "<>"),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
"""How a comparison is written, and how with its sides swapped."""
_LARGEST_OFFSET = 10_000


def call_of(node: exp.Expr) -> str:
    """The name of a function that is called; '' if none is."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name().upper() if isinstance(node, exp.AggFunc) else ""


class Definitions:
    """The conditions of symbols, as columns over the rows."""

    def __init__(self, symbols: tuple[str, ...], scope: Scope, names: Collection[str]) -> None:
        self._symbols, self._scope, self._names = symbols, scope, names
        self._own: dict[int, list[exp.Expr]] = {}
        self._derived: dict[str, Expression] = {}
        self.previous: list[Previous] = []
        self.comparisons: list[Comparison] = []

    def add(self, symbol: str, tree: exp.Expr) -> None:
        """Take in the condition of a symbol."""
        if symbol not in self._symbols:
            message = f"DEFINE has {symbol!r}, which is not in the pattern; that has {', '.join(self._symbols)}"
            raise SqlError(message, location_of(tree))
        number = self._symbols.index(symbol)
        for part in conjuncts(tree):
            for each in _split_between(part) if self._list_others(part, symbol) else [part]:
                self._add_part(number, each)

    def bind(self) -> Columns:
        """All columns that are derived; the conditions of symbols are among them."""
        for number, parts in self._own.items():
            self._derived[f"#is{number}"] = condition(reduce(exp.and_, parts), self.scope)
        return tuple(self._derived.items())

    @property
    def conditions(self) -> tuple[str | None, ...]:
        """By symbol, the column that says which rows are it."""
        return tuple(f"#is{number}" if number in self._own else None for number in range(len(self._symbols)))

    @property
    def scope(self) -> Scope:
        """The columns of rows, and those of rows before."""
        schema = self._scope.schema
        for each in self.previous:
            schema = schema.append(pa.field(each.name, schema.field(each.column).type))
        return Scope(self._scope.name, schema)

    def derive(self, tree: exp.Expr, symbol: str | None) -> tuple[str, Expression]:
        """A column over the rows of a symbol, or of all; its name and what it is."""
        bound = scalar(self._strip(tree, symbol), self.scope)
        return self._name(bound), bound

    def find_symbol(self, column: exp.Column) -> str | None:
        """The symbol whose row a column is of; None if it names none."""
        table = column.args.get("table")
        if table is None or (name := identifier(table)) in self._names:
            return None
        if name not in self._symbols:
            message = f"unknown symbol {column.table!r}; the pattern has {', '.join(self._symbols)}"
            raise SqlError(message, location_of(column))
        return name

    def _add_part(self, number: int, part: exp.Expr) -> None:
        symbol = self._symbols[number]
        others = self._list_others(part, symbol)
        if not others:
            self._own.setdefault(number, []).append(self._strip(part, symbol))
            return
        kind = _OPERATORS.get(type(part.unnest()))
        bare = part.unnest()
        sides = [
            self._list_others(side, symbol) for side in (bare.args.get("this"), bare.args.get("expression")) if side
        ]
        if kind is None or len(others) > 1 or all(sides) or not self._is_of_one(bare, sides, others):
            message = "what is asked of rows of other symbols is a comparison, one side about the row itself"
            raise SqlError(f"{message}: B.x > A.x + 5, or B.ts < FIRST(A.ts) + INTERVAL '1' MINUTE", location_of(part))
        parts = bare.args["this"], bare.args["expression"]
        left, right = parts if not sides[0] else parts[::-1]
        self._compare(number, kind[0] if not sides[0] else kind[1], left, right, others.pop())

    def _compare(self, number: int, operator: str, left: exp.Expr, right: exp.Expr, other: str) -> None:
        is_first = any(call_of(node) == "FIRST" for node in right.walk())
        trees = [self._strip(left, self._symbols[number]), self._strip(right, other)]
        sides = bring_to_one_type(trees, [self.scope, self.scope], left)
        of_row, of_other = (self._name(side) for side in sides)
        self.comparisons.append(Comparison(number, operator, of_row, of_other, self._symbols.index(other), is_first))

    def _is_of_one(self, bare: exp.Expr, sides: list[set[str]], others: set[str]) -> bool:
        """Whether the side about another symbol is about nothing else, and about one row of it."""
        side = bare.args["this"] if sides[0] else bare.args["expression"]
        columns = list(side.find_all(exp.Column))
        calls = [call_of(node) for node in side.walk() if call_of(node) in ("FIRST", "LAST")]
        return all(self.find_symbol(column) in others for column in columns) and len(set(calls)) <= 1

    def _list_others(self, tree: exp.Expr, symbol: str) -> set[str]:
        found = {self.find_symbol(column) for column in tree.find_all(exp.Column)}
        return {each for each in found if each is not None and each != symbol}

    def _name(self, bound: Expression) -> str:
        """The name of a derived column."""
        known = next((name for name, each in self._derived.items() if each == bound), None)
        if known is None:
            known = f"#of{len(self._derived)}"
            self._derived[known] = bound
        return known

    def _strip(self, tree: exp.Expr, symbol: str | None) -> exp.Expr:
        """An expression over the columns of one row."""
        return tree.copy().transform(self._strip_node, symbol)

    def _strip_node(self, node: exp.Expr, symbol: str | None) -> exp.Expr:
        name = call_of(node)
        if name == "PREV":
            return self._look_back(node, symbol)
        if name == "NEXT":
            message = "NEXT looks at rows to come; let a symbol of the pattern be that row"
            raise SqlError(message, location_of(node))
        if name in ("FIRST", "LAST"):
            if node.args.get("expressions") or not isinstance(node.this, exp.Expr):
                raise SqlError(
                    f"{name} of a symbol takes one argument; write PREV(x, n) for rows before", location_of(node)
                )
            return self._strip(node.this, symbol)
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            self.find_symbol(node)
            if node.name.startswith("#"):
                return node
            return exp.column(self._scope.find(exp.column(node.this.copy())), quoted=True)
        return node

    def _look_back(self, node: exp.Expr, symbol: str | None) -> exp.Expr:
        """PREV(x), PREV(x, 2)."""
        arguments = node.expressions
        offset = arguments[1].name if len(arguments) > 1 and isinstance(arguments[1], exp.Literal) else "1"
        column = arguments[0] if arguments else None
        if not isinstance(column, exp.Column) or not offset.isdigit() or not 1 <= int(offset) <= _LARGEST_OFFSET:
            message = f"PREV takes a column and a number of rows up to {_LARGEST_OFFSET}: PREV(x), PREV(x, 2)"
            raise SqlError(message, location_of(node))
        if (of := self.find_symbol(column)) not in (None, symbol):
            message = f"PREV looks back from the row itself; {write_expression(column)} is of another symbol, {of!r}"
            raise SqlError(message, location_of(node))
        found = self._scope.find(exp.column(column.this.copy()))
        known = next((each for each in self.previous if (each.column, each.offset) == (found, int(offset))), None)
        if known is None:
            known = Previous(f"#prev{len(self.previous)}", found, int(offset))
            self.previous.append(known)
        return exp.column(known.name, quoted=True)


def _split_between(part: exp.Expr) -> list[exp.Expr]:
    """BETWEEN as two comparisons."""
    bare = part.unnest()
    if not isinstance(bare, exp.Between):
        return [part]
    low, high = bare.args["low"], bare.args["high"]
    return [exp.GTE(this=bare.this.copy(), expression=low), exp.LTE(this=bare.this.copy(), expression=high)]
