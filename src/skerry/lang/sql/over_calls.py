"""What stands before OVER and between its brackets, as functions, orders and frames of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.carried_types import carry
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.split_select import Below, has_windows
from skerry.lang.sql.statements import location_of
from skerry.model.aggregate_calls import move_inside
from skerry.model.batch import empty
from skerry.model.dialect import write_expression
from skerry.model.duckdb_message import describe_complaint
from skerry.model.duckdb_session import register_batch
from skerry.model.types import sql_name
from skerry.operators.folds import accumulators
from skerry.operators.moving_folds import can_slide
from skerry.operators.window_functions import OVER
from skerry.plan.fold import Fold
from skerry.plan.over import Call, Frame

__all__ = ["OrderPart", "PlannedCall", "name_window", "read_order"]

_RANKS = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist")
_VALUES = ("lag", "lead", "first_value", "last_value", "nth_value")
_FOLDS: Mapping[str, str] = {
    **{name: name for name in ("avg", "count", "max", "min", "stddev_pop", "stddev_samp", "sum")},
    **{name: name for name in ("bool_and", "bool_or", "var_pop", "var_samp")},
    "logical_and": "bool_and",
    "logical_or": "bool_or",
    "count_if": "sum",
    "every": "bool_and",
    "favg": "avg",
    "fsum": "sum",
    "kahan_sum": "sum",
    "mean": "avg",
    "stddev": "stddev_samp",
    "sumkahan": "sum",
    "variance": "var_samp",
    "variance_pop": "var_pop",
}
_OF_DOUBLES = ("favg", "fsum", "kahan_sum", "sumkahan")
_OF_DUCKDB = frozenset(
    {"any_value", "arg_max", "arg_min", "array_agg", "bit_and", "bit_or", "bit_xor"}
    | {"argmax", "argmin", "count", "first", "group_concat", "histogram", "last", "list", "listagg", "mad", "max"}
    | {"max_by", "median", "min", "min_by", "mode", "percentile_cont", "percentile_disc", "quantile", "quantile_cont"}
    | {"quantile_disc", "string_agg"}
)
"""Aggregates whose answer does not depend on how a frame is added up: not those that round on the way."""
_ANY_TYPE = ("count", "max", "min")
_LARGEST_OFFSET = 1_000_000
_NO_OVER = "an OVER clause cannot hold another; let one view read the other"


def name_window(window: exp.Window, named: Mapping[str, exp.Window]) -> exp.Window:
    """The window with what WINDOW says of the name it has."""
    alias = window.args.get("alias")
    if alias is None:
        return window
    if identifier(alias) not in named:
        known = ", ".join(named) or "none"
        raise SqlError(f"unknown window {alias.name!r}; WINDOW names {known}", location_of(window))
    base = name_window(named[identifier(alias)], {name: each for name, each in named.items() if name != alias.name})
    found = window.copy()
    found.set("alias", None)
    for part in ("partition_by", "order", "spec"):
        if not found.args.get(part) and base.args.get(part):
            found.set(part, [each.copy() for each in base.args[part]] if part == "partition_by" else base.args[part])
    return found


@dataclass(frozen=True)
class OrderPart:
    """What rows are ordered by: an expression, whether it descends, and whether NULL comes first."""

    tree: exp.Expr
    descending: bool
    nulls_first: bool


def read_order(order: exp.Expr | None) -> list[OrderPart]:
    """What the rows of a window are ordered by."""
    parts = order.expressions if order else []
    for part in parts:
        if isinstance(part.this, exp.Literal | exp.Null) or part.args.get("with_fill"):
            raise SqlError("the ORDER BY of OVER takes expressions over columns", location_of(part))
    return [OrderPart(part.this, bool(part.args.get("desc")), bool(part.args.get("nulls_first"))) for part in parts]


class PlannedCall:
    """One call before OVER. What it is computed from is collected below; the call is made when its types are known."""

    def __init__(self, window: exp.Window, below: Below) -> None:
        self._window, self._filter, self._ignore_nulls = window, None, False
        function = window.this
        while isinstance(function, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
            if isinstance(function, exp.Filter):
                self._filter = function.expression.this
            else:
                self._ignore_nulls = isinstance(function, exp.IgnoreNulls)
            function = function.this
        if isinstance(function.this, exp.IgnoreNulls | exp.RespectNulls):
            self._ignore_nulls = isinstance(function.this, exp.IgnoreNulls)
            function.set("this", function.this.this)
        function = _write_plain(function)
        if any(has_windows(part) for part in function.iter_expressions()):
            raise SqlError(_NO_OVER, location_of(window))
        self._function, self.name = function, _name(function)
        self._arguments = _list_arguments(function)
        self.frame = _read_frame(window)
        self._columns: list[str] = []
        self._read(below)

    def make(self, column: str, schema: pa.Schema) -> Call:
        """The call over the columns below; ``column`` is that of its answers."""
        text = write_expression(self._window)
        used = tuple(self._columns)
        if self.kind in _RANKS or self.kind == "ntile":
            type_ = pa.float64() if self.kind in ("percent_rank", "cume_dist") else pa.int64()
            return Call(column, self.kind, type_, text, self.frame, offset=self._offset)
        if self.kind in _VALUES:
            default = used[1] if len(used) > 1 else None
            type_ = schema.field(used[0]).type
            if default:
                self._check_default(type_, schema.field(default).type)
            values = used[0], self._offset, default, self._ignore_nulls
            return Call(column, self.kind, type_, text, self.frame, *values, columns=used)
        fold = self._find_fold(column, schema)
        if fold is not None:
            return Call(column, "fold", fold.type, text, self.frame, fold.argument, fold=fold, columns=used)
        sql, type_ = self._find_type(schema)
        return Call(column, "aggregate", type_, text, self.frame, sql=sql, columns=used)

    def _read(self, below: Below) -> None:
        """Find what kind of function it is, and push its arguments."""
        self.kind, self._offset, self._text = self.name, 1, ""
        if self.name in _RANKS or self.name == "ntile":
            self._check_plain(1 if self.name == "ntile" else 0)
            self._offset = self._read_number(0, "the number of parts") if self.name == "ntile" else 1
        elif self.name in _VALUES:
            self._read_value(below)
        else:
            self._read_aggregate(below)

    def _read_value(self, below: Below) -> None:
        most = {"lag": 3, "lead": 3, "nth_value": 2}.get(self.name, 1)
        least = 2 if self.name == "nth_value" else 1
        if not least <= len(self._arguments) <= most:
            raise SqlError(f"{self.name.upper()} has {least} to {most} arguments", location_of(self._window))
        if self._filter is not None:
            raise SqlError(f"FILTER goes with aggregates, not with {self.name.upper()}", location_of(self._window))
        self._columns.append(below.push(self._arguments[0]).name)
        if len(self._arguments) > 1:
            self._offset = self._read_number(1, "the number of rows")
        if len(self._arguments) > 2:
            self._columns.append(below.push(self._arguments[2]).name)

    def _read_aggregate(self, below: Below) -> None:
        is_plain = len(self._arguments) == 1 and not isinstance(self._arguments[0], exp.Distinct | exp.Order)
        counts_rows = self.name == "count" and (not self._arguments or isinstance(self._arguments[0], exp.Star))
        if self.name in _FOLDS and (is_plain or counts_rows) and not self._ignore_nulls:
            self.kind = "fold"
            argument = None if counts_rows else self._arguments[0]
            if self.name == "count_if":  # a sum, as DuckDB has it: NULL where nothing is true or false
                asked = exp.paren(self._arguments[0].copy())
                argument = exp.case().when(asked, exp.Literal.number(1)).when(exp.not_(asked), exp.Literal.number(0))
            if self.name in _OF_DOUBLES and argument is not None:
                argument = exp.cast(argument.copy(), "DOUBLE")
            if self._filter is not None:
                kept = argument if argument is not None else exp.Literal.number(1)
                argument = exp.case().when(self._filter.copy(), kept.copy())
            if argument is not None:
                self._columns.append(below.push(argument).name)
            return
        if self.name not in _OF_DUCKDB or self._ignore_nulls:
            raise self._refuse_function()
        self._check_inside()
        self.kind = "aggregate"
        lifted = below.lift_arguments(self._function)
        self._text = f"{write_expression(lifted)}"
        if self._filter is not None:
            self._text += f" FILTER (WHERE {write_expression(below.lift(self._filter))})"
        pushed = {column.name for column in lifted.find_all(exp.Column)}
        self._columns = sorted(pushed | ({below.push(self._filter).name} if self._filter is not None else set()))

    def _check_inside(self) -> None:
        """Refuse words inside a call under which DuckDB goes by how rows lie, and not by their order alone."""
        location = location_of(self._window)
        if self.name != "count" and self._function.find(exp.Distinct):
            raise SqlError(f"DISTINCT with OVER is available in COUNT, not in {self.name.upper()}", location)
        if self._function.find(exp.Order):
            message = f"{self.name.upper()} with OVER takes rows in the order of its window"
            raise SqlError(f"{message}; leave the ORDER BY inside it out", location)

    def _refuse_function(self) -> SqlError:
        known = sorted({*_RANKS, *_VALUES, "ntile", *_FOLDS, *_OF_DUCKDB} - {"mean", "variance_pop"})
        if self.name in known:
            message = (
                f"{self.name.upper()} is not available with OVER so; leave DISTINCT, ORDER BY and IGNORE NULLS out"
            )
            return SqlError(message, location_of(self._window))
        message = (
            f"{self.name.upper()} is not available with OVER; known are {', '.join(each.upper() for each in known)}"
        )
        return SqlError(message, location_of(self._window))

    def _check_plain(self, count: int) -> None:
        if len(self._arguments) != count or self._filter is not None:
            raise SqlError(f"{self.name.upper()} has {count or 'no'} arguments", location_of(self._window))

    def _check_default(self, type_: pa.DataType, given: pa.DataType) -> None:
        numbers = [pa.types.is_integer(each) or pa.types.is_floating(each) for each in (type_, given)]
        if type_ != given and not all(numbers):
            message = f"the third argument of {self.name.upper()} is {sql_name(given)}, the first {sql_name(type_)}"
            raise SqlError(f"{message}; cast it", location_of(self._window))

    def _read_number(self, position: int, what: str) -> int:
        tree = self._arguments[position].unnest()
        is_whole = isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit()
        least = 0 if self.name in ("lag", "lead") else 1
        if not is_whole or not least <= int(tree.name) <= _LARGEST_OFFSET:
            message = f"{what} in {self.name.upper()} is a whole number from {least} to {_LARGEST_OFFSET}"
            raise SqlError(f"{message}, written out", location_of(self._window))
        return int(tree.name)

    def _find_fold(self, column: str, schema: pa.Schema) -> Fold | None:
        """An aggregate that is ours, to the last bit; None where DuckDB's is as exact."""
        if self.kind != "fold":
            return None
        argument = self._columns[0] if self._columns else None
        type_ = schema.field(argument).type if argument else None
        function = _FOLDS[self.name]
        is_number = type_ is not None and (pa.types.is_signed_integer(type_) or pa.types.is_floating(type_))
        is_number = is_number or (type_ is not None and pa.types.is_decimal128(type_))
        is_logical = function.startswith("bool_")
        if (is_logical and type_ != pa.bool_()) or (function not in _ANY_TYPE and not is_logical and not is_number):
            wanted = "a condition" if is_logical else "a number"
            message = f"{self.name.upper()} needs {wanted}, got {sql_name(type_)}"
            raise SqlError(f"{message}; cast it", location_of(self._window))
        fold = Fold(function, argument, type_, column)
        assert all(can_slide(each) for each in accumulators(fold)), "a fold with OVER is made of totals"
        return fold

    def _find_type(self, schema: pa.Schema) -> tuple[str, pa.DataType]:
        """Let DuckDB say what it makes of an aggregate; in a type that Arrow has too."""
        try:
            with register_batch(empty(schema)) as connection:
                sql = f"{self._text} {OVER}"
                carried = carry(sql, connection.sql(f"SELECT {sql} AS value FROM batch").types[0])
                found = connection.sql(f"SELECT {carried} AS value FROM batch").to_arrow_table()
                return carried, found.schema.field(0).type
        except duckdb.Error as error:
            raise SqlError(describe_complaint(error), location_of(self._window)) from None


def _write_plain(function: exp.Expr) -> exp.Expr:
    """A call as DuckDB has it before OVER: without WITHIN GROUP, and without a DISTINCT that changes nothing."""
    if isinstance(function, exp.WithinGroup):
        found = move_inside(function.copy())
        assert found is not None
        order = found.find(exp.Order)
        if order is not None and not any(key.args.get("desc") for key in order.expressions):
            order.replace(order.this)
        return found
    value = function.this
    if isinstance(function, exp.AggFunc) and function.sql_name() == "APPROX_COUNT_DISTINCT":
        return exp.Count(this=exp.Distinct(expressions=[value.copy()]))
    if isinstance(function, exp.Max | exp.Min) and isinstance(value, exp.Distinct) and len(value.expressions) == 1:
        return type(function)(this=value.expressions[0].copy())
    return function


def _name(function: exp.Expr) -> str:
    return function.name.lower() if isinstance(function, exp.Anonymous) else _spell(function)


def _spell(function: exp.Expr) -> str:
    names: dict[type[exp.Expr], str] = {
        exp.ArgMax: "arg_max",
        exp.ArgMin: "arg_min",
        exp.GroupConcat: "string_agg",
        exp.CountIf: "count_if",
    }
    found = names.get(type(function))
    return found or (function.sql_name().lower() if isinstance(function, exp.Func) else type(function).__name__.lower())


def _list_arguments(function: exp.Expr) -> list[exp.Expr]:
    if isinstance(function, exp.Anonymous):
        return list(function.expressions)
    parts = [function.args.get(name) for name in ("this", "expression", "offset", "default", "separator")]
    found = [part for part in parts if isinstance(part, exp.Expression)]
    return [*found, *(part for part in function.expressions if isinstance(part, exp.Expression))]


def _read_frame(window: exp.Window) -> Frame:
    """The frame; without one, all rows up to the last that is equal to the current one."""
    spec = window.args.get("spec")
    if spec is None:
        return Frame()
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE") or spec.args.get("exclude"):
        message = "a frame is written ROWS BETWEEN ... or RANGE BETWEEN ..., without EXCLUDE"
        raise SqlError(message, location_of(spec) or location_of(window))
    start = _read_bound(spec, "start", kind, window)
    end = _read_bound(spec, "end", kind, window) if spec.args.get("end") else 0
    if start is not None and end is not None and start > end:
        raise SqlError("the frame ends before it starts", location_of(window))
    return Frame(kind == "ROWS", start, end)


def _read_bound(spec: exp.Expr, which: str, kind: str, window: exp.Window) -> int | None:
    bound, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "").upper()
    if bound == "CURRENT ROW":
        return 0
    if bound == "UNBOUNDED":
        if (side == "FOLLOWING") == (which == "start"):
            raise SqlError(f"a frame cannot {which} with UNBOUNDED {side}", location_of(window))
        return None
    sign = -1 if side == "PRECEDING" else 1
    if kind == "RANGE":
        if not isinstance(bound, exp.Interval):
            message = "RANGE goes by a span of time: RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW"
            raise SqlError(message, location_of(window))
        return sign * interval(bound)
    is_whole = isinstance(bound, exp.Literal) and not bound.is_string and bound.name.isdigit()
    if bound is None or not is_whole or int(bound.name) > _LARGEST_OFFSET:
        message = f"ROWS takes a whole number up to {_LARGEST_OFFSET}, written out"
        raise SqlError(message, location_of(window))
    return sign * int(bound.name)
