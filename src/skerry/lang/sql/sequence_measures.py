"""MEASURES: what is given of a match."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.sequence_definitions import Definitions, call_of
from skerry.lang.sql.statements import location_of
from skerry.model.expression import Expression
from skerry.model.types import sql_name
from skerry.plan.sequences import ANY, Measure

__all__ = ["MeasureReader"]

_AGGREGATES = {"COUNT": "count", "SUM": "sum", "AVG": "mean", "MIN": "min", "MAX": "max"}


class MeasureReader:
    """Reads MEASURES: what is asked of rows becomes measures, what is computed from them stays."""

    def __init__(self, symbols: tuple[str, ...], keys: Sequence[str], definitions: Definitions) -> None:
        self._symbols, self._keys, self._definitions = symbols, keys, definitions
        self.measures: list[Measure] = []

    def read(self, parts: Sequence[exp.Expr]) -> list[tuple[str, exp.Expr]]:
        """The columns of a match, over its measures."""
        if not parts:
            message = "MATCH_RECOGNIZE gives what MEASURES says: MEASURES A.ts AS first_ts, LAST(B.ts) AS last_ts"
            raise SqlError(message)
        found = []
        for part in parts:
            tree = part.this
            if not isinstance(tree, exp.Alias):
                raise SqlError("a measure has a name: LAST(B.ts) AS last_ts", location_of(tree))
            found.append((identifier(tree.args["alias"]), tree.this.copy().transform(self._replace)))
        return found

    def bind(self, columns: Sequence[tuple[str, exp.Expr]], schema: pa.Schema) -> list[tuple[str, Expression]]:
        """The columns, with their types."""
        scope = Scope("match", schema)
        return [(name, scalar(tree, scope)) for name, tree in columns]

    def _replace(self, node: exp.Expr) -> exp.Expr:
        """A measure in place of a call, or of a column."""
        name = call_of(node)
        if name in ("PREV", "NEXT", "MATCH_NUMBER"):
            raise SqlError(
                f"{name} is not available in MEASURES; known are FIRST, LAST, {self._known}", location_of(node)
            )
        if name == "CLASSIFIER":
            return self._measure("symbol", ANY, None, pa.string())
        if name in ("FIRST", "LAST"):
            if node.args.get("expressions"):
                raise SqlError(f"{name} takes one argument in MEASURES", location_of(node))
            return self._measure_rows(name.lower(), node.this, node)
        if isinstance(node, exp.AggFunc):
            if name not in _AGGREGATES or isinstance(node.this, exp.Distinct):
                raise SqlError(f"{name} is not available in MEASURES; known are {self._known}", location_of(node))
            return self._measure_rows(_AGGREGATES[name], node.this, node)
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            if not node.name.startswith("#") and node.name.lower() not in self._keys:
                return self._measure_rows("last", node, node)
            return exp.column(node.this.copy())
        return node

    @property
    def _known(self) -> str:
        return f"{', '.join(_AGGREGATES)}, CLASSIFIER"

    def _measure_rows(self, function: str, argument: exp.Expr, node: exp.Expr) -> exp.Expr:
        """A function over the rows of the symbol that its argument names."""
        columns = [argument] if isinstance(argument, exp.Column) else list(argument.find_all(exp.Column))
        symbols = {self._definitions.find_symbol(column) for column in columns}
        if len(symbols) > 1:
            raise SqlError("a measure goes over the rows of one symbol", location_of(node))
        symbol = next(iter(symbols), None)
        number = ANY if symbol is None else self._symbols.index(symbol)
        star = argument.this if isinstance(argument, exp.Column) else argument
        if isinstance(star, exp.Star):
            return self._measure(function, number, None, pa.int64())
        column, bound = self._definitions.derive(argument, symbol)
        return self._measure(function, number, column, _find_type(function, bound.type, node))

    def _measure(self, function: str, symbol: int, column: str | None, type_: pa.DataType) -> exp.Expr:
        known = next((m for m in self.measures if (m.function, m.symbol, m.column) == (function, symbol, column)), None)
        if known is None:
            known = Measure(f"#m{len(self.measures)}", function, symbol, column, type_)
            self.measures.append(known)
        return exp.column(known.name, quoted=True)


def _find_type(function: str, type_: pa.DataType, node: exp.Expr) -> pa.DataType:
    is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    if function == "count":
        return pa.int64()
    if function in ("sum", "mean") and not is_number:
        raise SqlError(f"{call_of(node)} of {sql_name(type_)} is not available in MEASURES; cast it", location_of(node))
    if function == "mean":
        return pa.float64()
    if function == "sum":
        return pa.float64() if pa.types.is_floating(type_) else pa.int64()
    return type_
