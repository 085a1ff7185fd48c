"""GROUP BY: which parts of a SELECT are keys, which are folds, and what is computed from them."""

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.declare import identifier
from skerry.lang.sql.reading import place_of
from skerry.lang.sql.scalar import Scope, scalar
from skerry.model.window import Window
from skerry.operators.aggregate import WINDOW_END, WINDOW_START
from skerry.operators.derive import Expression
from skerry.operators.folds import FUNCTIONS, Fold
from skerry.plan.nodes import Aggregate, Node, Project

__all__ = ["AggregateBinder"]

_FUNCTIONS: dict[type[exp.Expression], str] = {
    exp.Avg: "avg",
    exp.Count: "count",
    exp.Max: "max",
    exp.Min: "min",
    exp.Stddev: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.StddevSamp: "stddev_samp",
    exp.Sum: "sum",
}
_NUMERIC = ("avg", "sum", "stddev_pop", "stddev_samp")
_TIME = "_time"


class AggregateBinder:
    """Bind one aggregating SELECT.

    Keys and arguments become columns of a projection below the aggregate; what the SELECT list and
    HAVING compute from them is bound above it. The window belongs to every group, named or not.
    """

    def __init__(self, tree: exp.Select, scope: Scope) -> None:
        self._tree, self._scope = tree, scope
        self._keys: dict[str, exp.Expression] = {}
        self._arguments: dict[str, exp.Expression] = {}
        self._calls: dict[str, tuple[str, str | None, exp.Expression]] = {}
        self._collect_keys()
        having = tree.args.get("having")
        for part in [*tree.selects, *([having.this] if having else [])]:
            self._collect_folds(part)

    def aggregate(self, node: Node, window: Window, time: str) -> Aggregate:
        """The aggregate over ``node``."""
        bound = {name: scalar(tree, self._scope) for name, tree in (self._keys | self._arguments).items()}
        moment = Expression.of(time, self._scope.schema.field(time).type)
        below = Project(node, ((_TIME, moment), *bound.items()))
        folds = tuple(self._fold(name, bound) for name in self._calls)
        return Aggregate(below, window, _TIME, tuple(self._keys), folds)

    def over_groups(self, tree: exp.Expression, schema: pa.Schema) -> Expression:
        """Bind an expression over keys, folds and the window."""
        replaced = tree.copy().transform(self._replaced)
        return scalar(replaced, _GroupScope(self._scope, schema))

    def _replaced(self, node: exp.Expression) -> exp.Expression:
        name = self._name_of(node)
        return exp.column(name, table="", quoted=True) if name else node

    def _name_of(self, node: exp.Expression) -> str | None:
        """The column below which a node was computed, if it was."""
        if isinstance(node, exp.Filter | exp.AggFunc):
            key = _fingerprint(node)
            return next((name for name, (_, _, tree) in self._calls.items() if _fingerprint(tree) == key), None)
        key = self._resolved(node)
        return next((name for name, tree in self._keys.items() if self._resolved(tree) == key), None)

    def _resolved(self, node: exp.Expression) -> str:
        """A text that two spellings of one expression share."""
        bare = node.unnest().copy()
        return str(bare.transform(lambda part: exp.column(identifier(part), quoted=True) if isinstance(part, exp.Column) else part).sql())

    def _collect_keys(self) -> None:
        group = self._tree.args.get("group")
        if group and any(group.args.get(kind) for kind in ("cube", "rollup", "grouping_sets", "all", "totals")):
            raise SqlError("GROUP BY takes a list of expressions", place_of(group))
        for part in group.expressions if group else []:
            tree = self._meant(part)
            if isinstance(tree, exp.Column) and identifier(tree) in (WINDOW_START, WINDOW_END):
                continue
            if tree.find(exp.AggFunc):
                raise SqlError("GROUP BY cannot hold an aggregate", place_of(part))
            self._keys.setdefault(self._key_name(tree), tree)

    def _key_name(self, tree: exp.Expression) -> str:
        name = identifier(tree) if isinstance(tree, exp.Column) else f"_key{len(self._keys)}"
        return name if name not in (_TIME, WINDOW_START, WINDOW_END) else f"_key{len(self._keys)}"

    def _meant(self, part: exp.Expression) -> exp.Expression:
        """What a part of GROUP BY stands for: a place in the SELECT list, one of its aliases, or itself."""
        if isinstance(part, exp.Literal) and not part.is_string:
            place = int(part.name) if part.name.isdigit() else 0
            if not 1 <= place <= len(self._tree.selects):
                raise SqlError(f"GROUP BY {part.name} is outside the {len(self._tree.selects)} columns", place_of(part))
            return self._tree.selects[place - 1].unalias()
        if isinstance(part, exp.Column) and not part.table and identifier(part) not in self._scope.schema.names:
            for chosen in self._tree.selects:
                if isinstance(chosen, exp.Alias) and identifier(chosen.args["alias"]) == identifier(part):
                    return chosen.this
        return part

    def _collect_folds(self, part: exp.Expression) -> None:
        for node in part.find_all(exp.AggFunc):
            whole = node.parent if isinstance(node.parent, exp.Filter) else node
            if node.find_ancestor(exp.AggFunc):
                raise SqlError("an aggregate cannot hold another", place_of(node))
            if any(_fingerprint(whole) == _fingerprint(tree) for _, _, tree in self._calls.values()):
                continue
            function, argument = self._call(node, whole)
            name = None
            if argument is not None:
                name = f"_argument{len(self._arguments)}"
                same = [known for known, tree in self._arguments.items() if self._resolved(tree) == self._resolved(argument)]
                name = same[0] if same else name
                self._arguments[name] = argument
            self._calls[f"_fold{len(self._calls)}"] = (function, name, whole)

    def _call(self, node: exp.AggFunc, whole: exp.Expression) -> tuple[str, exp.Expression | None]:
        """The function, and its argument with FILTER (WHERE ...) taken in."""
        function = _FUNCTIONS.get(type(node))
        if function is None:
            known = ", ".join(name.upper() for name in FUNCTIONS if name != "count_distinct")
            raise SqlError(f"the aggregate {node.sql_name()} is not available; known are {known}", place_of(whole))
        argument: exp.Expression | None = node.this
        if isinstance(argument, exp.Distinct):
            if function != "count" or len(argument.expressions) != 1:
                raise SqlError("DISTINCT is available in COUNT(DISTINCT column) alone", place_of(whole))
            function, argument = "count_distinct", argument.expressions[0]
        if isinstance(argument, exp.Star) or argument is None:
            argument = None
        if isinstance(whole, exp.Filter):
            kept = argument if argument is not None else exp.Literal.number(1)
            argument = exp.case().when(whole.expression.this.copy(), kept.copy())
        return function, argument

    def _fold(self, name: str, bound: dict[str, Expression]) -> Fold:
        function, argument, tree = self._calls[name]
        type_ = bound[argument].type if argument else None
        if function in _NUMERIC and not (pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)):
            raise SqlError(f"{function.upper()} needs a number, got {type_}", place_of(tree))
        if type_ is not None and pa.types.is_decimal(type_):
            raise SqlError(f"{function.upper()} of a DECIMAL is not available; cast it to DOUBLE", place_of(tree))
        return Fold(function, argument, type_, name)


class _GroupScope(Scope):
    """What may be named above an aggregate."""

    def __init__(self, below: Scope, schema: pa.Schema) -> None:
        super().__init__(below.name, schema)
        self._below = below

    def find(self, column: exp.Column) -> str:
        """A key, a fold or the window's ends; a column of the stream is told apart from a misspelling."""
        try:
            return super().find(column)
        except UnknownColumn:
            self._below.find(column)
            told = f"column {column.name!r} must stand in GROUP BY or inside an aggregate"
            raise SqlError(told, place_of(column)) from None


def _fingerprint(node: exp.Expression) -> str:
    return str(node.sql("risingwave", normalize=True)).lower()
