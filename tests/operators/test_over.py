"""OVER against DuckDB over the same rows at once, and the laws of operators."""

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME, Micros, seconds
from skerry.model.window import Window
from skerry.operators.over import Over
from skerry.plan.fold import Fold
from skerry.plan.over import Call, Clause, Frame, OrderKey
from skerry.testing import laws
from tests.operators.readings import SCHEMA, batch_of, steps

ROWS = pa.schema([field for field in SCHEMA if field.name in ("ts", "segment", "sensor", "speed", "flow", "odometer")])
FRAMES = [
    Frame(True, -2, 0),
    Frame(True, -3, -1),
    Frame(False, -5_000_000, 0),
    Frame(False, -8_000_000, -2_000_000),
    Frame(),
    Frame(True),
    Frame(True, None, -1),
]
BY_TIME = (OrderKey("ts"), OrderKey("odometer", descending=True))


def fold(function: str, argument: str | None, frame: Frame) -> Call:
    type_ = SCHEMA.field(argument).type if argument else None
    made = Fold(function, argument, type_, f"{function}_{argument}")
    return Call(made.name, "fold", made.type, "", frame, argument, fold=made, columns=(argument,) if argument else ())


def value(function: str, argument: str, frame: Frame = FRAMES[4], **more) -> Call:
    name, type_ = f"{function}_{argument}_{more.get('ignore_nulls', '')}", SCHEMA.field(argument).type
    columns = (argument, *([more["default"]] if "default" in more else []))
    return Call(name, function, type_, "", frame, argument, columns=columns, **more)


def folds(frame: Frame) -> tuple[Call, ...]:
    """Aggregates over a frame, one way or another of each accumulator."""
    of_speed = [fold(each, "speed", frame) for each in ("avg", "sum", "min", "max", "stddev_samp")]
    others = [fold("count", None, frame), fold("count", "speed", frame), fold("sum", "flow", frame)]
    return (*of_speed, *others, fold("sum", "odometer", frame), fold("max", "sensor", frame))


def values(frame: Frame) -> tuple[Call, ...]:
    """Functions that give a value of another row."""
    found = [value("lag", "speed"), value("lag", "speed", ignore_nulls=True, offset=2)]
    found += [Call("lag0", "lag", pa.int32(), "", Frame(), "flow", 3, "segment", columns=("flow", "segment"))]
    found += [value(each, "sensor", frame) for each in ("first_value", "last_value")]
    return (
        *found,
        value("first_value", "speed", frame, ignore_nulls=True),
        value("last_value", "flow", frame, ignore_nulls=True),
    )


def ranks() -> tuple[Call, ...]:
    names = ("row_number", "rank", "dense_rank")
    return tuple(Call(each, each, pa.int64(), "", Frame(), columns=()) for each in names)


def make(calls, partition=("segment",), order=BY_TIME, **more):
    clause = Clause(partition, order, tuple(calls), more.pop("is_whole", False))
    return Over(ROWS, "ts", [clause], **more)


def sql_of(call: Call, over: str) -> str:
    """A call as DuckDB has it, exact where Skerry's is."""
    quiet = " IGNORE NULLS" if call.ignore_nulls else ""
    if call.fold is not None:
        argument = call.argument or "*"
        return f"CAST({call.fold.function}({argument}) OVER ({over} {spell(call.frame)}) AS {duckdb_type(call.type)})"
    if call.function in ("lag", "lead"):
        default = f", {call.default}" if call.default else ""
        return f"{call.function}({call.argument}, {call.offset}{default}{quiet}) OVER ({over})"
    if call.argument:
        return f"{call.function}({call.argument}{quiet}) OVER ({over} {spell(call.frame)})"
    return f"{call.function}({call.offset if call.function == 'ntile' else ''}) OVER ({over})"


def duckdb_type(type_: pa.DataType) -> str:
    names = {pa.int64(): "BIGINT", pa.int32(): "INT", pa.string(): "VARCHAR", pa.float64(): "DOUBLE"}
    return names.get(type_, "DECIMAL(38, 0)")


def spell(frame: Frame) -> str:
    bounds = [_bound(frame, offset, side) for offset, side in ((frame.start, "PRECEDING"), (frame.end, "FOLLOWING"))]
    return f"{'ROWS' if frame.by_rows else 'RANGE'} BETWEEN {bounds[0]} AND {bounds[1]}"


def _bound(frame: Frame, offset: int | None, side: str) -> str:
    if not offset:
        return f"UNBOUNDED {side}" if offset is None else "CURRENT ROW"
    size = str(abs(offset)) if frame.by_rows else f"INTERVAL {abs(offset)} MICROSECOND"
    return f"{size} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


def ask_duckdb(rows: pa.Table, calls, over: str) -> laws.Rows:
    connection = duckdb.connect(config={"threads": 1})
    connection.register("rows", rows)
    columns = ", ".join([*rows.schema.names, *(f"{sql_of(call, over)} AS {call.name}_" for call in calls)])
    found = connection.sql(f"SELECT {columns} FROM rows").to_arrow_table()
    batches = found.combine_chunks().to_batches()
    return laws.rows_of(_round(batches[0])) if batches else laws.Rows()


def _round(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Deviations of DuckDB are not exact."""
    columns = [
        pa.compute.round(c, 6) if f.name.startswith("stddev") else c
        for f, c in zip(batch.schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def narrow(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(ROWS.names)


def run(operator: Over, given) -> laws.Rows:
    found = laws.Rows()
    for batch, watermark in [*given, (given[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(narrow(batch))
        found += laws.rows_of(_round(operator.advance(watermark)))
    return found


def ordinary(given):
    """Rows whose order is settled by what a clause goes by, and whose sums are exact in doubles: so DuckDB agrees."""
    rows, seen, kept = [], set(), []
    for batch, watermark in given:
        chosen = []
        for position, row in enumerate(batch.to_pylist()):
            speed = row["speed"]
            key = (row["ts"], row["odometer"])
            if key not in seen and (speed is None or abs(speed) < 1e6) and repr(speed) != "-0.0":
                seen.add(key)
                chosen.append(position)
        kept.append((narrow(batch).take(pa.array(chosen, pa.int64())), watermark))
        rows.append(kept[-1][0])
    return kept, pa.Table.from_batches(rows, ROWS)


@pytest.mark.parametrize("frame", FRAMES, ids=str)
@settings(max_examples=12)
@given(drawn=steps())
def test_functions_are_those_of_duckdb_over_all_rows_at_once(frame, drawn):
    given_steps, rows = ordinary(drawn)
    by_rows = frame.by_rows or not (frame.start or frame.end)
    order, over = (BY_TIME, "ts, odometer DESC") if by_rows else (BY_TIME[:1], "ts")
    calls = (*folds(frame), *(values(frame) if by_rows else ()), *(ranks() if by_rows else ()))
    expected = ask_duckdb(rows, calls, f"PARTITION BY segment ORDER BY {over}")
    assert run(make(calls, order=order), given_steps) == expected


@settings(max_examples=15)
@given(drawn=steps())
def test_partitions_of_a_window_are_those_of_duckdb(drawn):
    given_steps, rows = ordinary(drawn)
    more = [Call(each, each, pa.float64(), "", Frame(), columns=()) for each in ("percent_rank", "cume_dist")]
    more.append(Call("ntile", "ntile", pa.int64(), "", Frame(), offset=3))
    calls = (
        *folds(Frame(True, -1, None)),
        *values(Frame(True, -1, 1)),
        *ranks(),
        *more,
        value("lead", "speed", offset=2),
    )
    order = (OrderKey("speed", descending=True, nulls_first=True), OrderKey("ts"), OrderKey("odometer"))
    window = Window(seconds(4), seconds(4))
    slices = rows.column("ts").cast(pa.int64()).to_numpy() // window.size_us
    clause = Clause(("segment", "slice"), order, calls, is_whole=True)
    schema = pa.schema([*ROWS, pa.field("slice", pa.int64())])
    operator, found = Over(schema, "ts", [clause], window), laws.Rows()
    for batch, watermark in [*given_steps, (given_steps[0][0].slice(0, 0), END_OF_TIME)]:
        numbers = batch.column("ts").cast(pa.int64()).to_numpy() // window.size_us
        operator.transition(pa.RecordBatch.from_arrays([*batch.columns, pa.array(numbers)], schema=schema))
        found += laws.rows_of(_round(operator.advance(watermark)))
    over = "PARTITION BY segment, slice ORDER BY speed DESC NULLS FIRST, ts, odometer"
    assert found == ask_duckdb(rows.append_column("slice", pa.array(slices)), calls, over)


@pytest.mark.parametrize(
    "calls", [folds(FRAMES[0]), folds(FRAMES[2]), folds(FRAMES[4]), values(FRAMES[0]), values(FRAMES[4])]
)
@settings(max_examples=8)
@given(drawn=steps())
def test_all_laws_are_kept(calls, drawn):
    given_steps = [(narrow(batch), watermark) for batch, watermark in drawn]
    laws.check_laws(lambda: make(calls, order=BY_TIME[:1]), given_steps, time="ts")
    laws.other_buckets_change_nothing(lambda: make(calls, order=BY_TIME[:1]), given_steps, keys=("segment",))


@settings(max_examples=15)
@given(drawn=steps())
def test_rows_that_follow_are_waited_for(drawn):
    given_steps, rows = ordinary(drawn)
    calls = [value("lead", "speed", offset=2), fold("sum", "flow", Frame(True, -1, 1)), value("lag", "flow")]
    expected = ask_duckdb(rows, calls, "PARTITION BY segment ORDER BY ts, odometer DESC")
    assert run(make(calls), given_steps) == expected
    narrowed = [(narrow(batch), watermark) for batch, watermark in drawn]
    laws.check_laws(lambda: make(calls, order=BY_TIME[:1]), narrowed, time="ts")


@settings(max_examples=10)
@given(drawn=steps(), limit=st.integers(0, 3), offset=st.integers(0, 2))
def test_first_rows_of_a_window_keep_the_laws(drawn, limit, offset):
    given_steps = [(narrow(batch), watermark) for batch, watermark in drawn]
    order, window = (OrderKey("speed", descending=True),), Window(seconds(4), seconds(4))
    laws.check_laws(lambda: Over(ROWS, "ts", [], window, order, limit, offset), given_steps, time="ts")


def test_aggregates_of_duckdb_look_at_the_same_frames():
    sql = 'CAST(median("flow") OVER () AS DOUBLE)'
    rows = batch_of(
        [{"ts": second * 1_000_000, "segment": 1, "flow": flow} for second, flow in enumerate([5, 1, 9, 2])]
    )
    for frame, expected in [
        (Frame(True, -1, 0), [5, 3, 5, 5.5]),
        (Frame(True, -2, -1), [None, 5, 3, 5]),
        (Frame(False, -2_000_000, 0), [5, 3, 5, 2]),
    ]:
        operator = make(
            [Call("m", "aggregate", pa.float64(), "", frame, sql=sql, columns=("flow",))], order=BY_TIME[:1]
        )
        found = []
        for row in range(4):
            operator.transition(narrow(rows.slice(row, 1)))
            found += operator.advance(Micros((row + 1) * 1_000_000)).column("m").to_pylist()
        assert found == expected


def test_rows_for_a_span_are_let_go_of_where_a_partition_falls_silent():
    operator = make(folds(Frame(False, -5_000_000, 0)), order=BY_TIME[:1])
    for second in range(40):
        operator.transition(narrow(batch_of([{"ts": second * 1_000_000, "segment": second}])))
        operator.advance(Micros(second * 1_000_000 + 1))
    assert len([name for name in operator.snapshot() if name.startswith("kept")]) <= 11


def test_only_pages_with_changes_are_written():
    operator = make([value("lag", "speed")], order=BY_TIME[:1])
    operator.transition(narrow(batch_of([{"ts": 0, "segment": segment} for segment in range(50)])))
    operator.advance(Micros(1))
    assert len(operator.changes().put) > 10
    operator.transition(narrow(batch_of([{"ts": 1, "segment": 7}])))
    operator.advance(Micros(2))
    assert len(operator.changes().put) == 2
