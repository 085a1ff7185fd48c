"""Readings, steps and window aggregates, drawn by Hypothesis."""

import math

import pyarrow as pa
from hypothesis import strategies as st

from skerry.model.slices import Slices
from skerry.model.time import START_OF_TIME, Micros, seconds
from skerry.model.types import TIMESTAMP
from skerry.model.window import Window
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.plan.fold import Fold

SCHEMA = pa.schema(
    {
        "ts": TIMESTAMP,
        "segment": pa.int32(),
        "sensor": pa.string(),
        "height": pa.float64(),
        "wet": pa.bool_(),
        "speed": pa.float64(),
        "grade": pa.float32(),
        "flow": pa.int32(),
        "odometer": pa.int64(),
    }
)
KEYS = [
    (),
    ("segment",),
    ("sensor",),
    ("height",),
    ("wet",),
    ("ts",),
    ("segment", "sensor"),
    ("height", "sensor", "wet"),
]
WINDOWS = [Window(seconds(a), seconds(b)) for a, b in [(4, 4), (4, 2), (6, 4), (3, 1), (7, 5)]]

_UNUSUAL = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e300, -1e300, 5e-324])
_VALUES = {
    "ts": st.integers(-20_000_000, 20_000_000),
    "segment": st.none() | st.integers(-2, 2),
    "sensor": st.none() | st.sampled_from(["", "a", "A", "ä", "ab"]),
    "height": st.none() | st.sampled_from([math.nan, -0.0, 0.0, 1.5, -math.inf]),
    "wet": st.none() | st.booleans(),
    "speed": st.none() | st.integers(-4000, 4000).map(lambda eighths: eighths / 8),
    "grade": st.none() | st.integers(-8, 8).map(lambda quarters: quarters / 4),
    "flow": st.none() | st.integers(-(2**31), 2**31 - 1),
    "odometer": st.none() | st.integers(-(2**63), 2**63 - 1),
}


class BothHalves(Operator):
    """The two halves of a window aggregate as one operator, as if nothing lay between them."""

    def __init__(self, window: Window, keys: tuple[str, ...], folds: list[Fold]) -> None:
        fields = [SCHEMA.field(key) for key in keys]
        self._partial = PartialAggregate(Slices.of([window]), "ts", fields, folds)
        self._whole = WindowAggregate(window, fields, folds)
        self.schema = self._whole.schema
        self.advance, self.changes = self._whole.advance, self._whole.changes
        self.restore, self.snapshot = self._whole.restore, self._whole.snapshot
        self.redistribute = self._whole.redistribute

    def transition(self, batch, stream=0):
        return self._whole.transition(self._partial.transition(batch))


def fold(function: str, argument: str | None = None) -> Fold:
    """An aggregate under a name of its own."""
    return Fold(function, argument, SCHEMA.field(argument).type if argument else None, f"{function}_{argument}")


def folds_of(argument: str) -> list[Fold]:
    """All aggregates that a column allows."""
    functions = ["count", "count_distinct", "max", "min"]
    number = SCHEMA.field(argument).type in (pa.int32(), pa.int64(), pa.float32(), pa.float64())
    return [fold(function, argument) for function in functions + ["avg", "stddev_pop", "stddev_samp", "sum"] * number]


ALL_FOLDS = [fold("count"), *(each for name in SCHEMA.names for each in folds_of(name))]


def batch_of(rows: list[dict[str, object]]) -> pa.RecordBatch:
    """Rows as a batch; what a row does not say is NULL, and ``ts`` is in microseconds."""
    columns = {name: [row.get(name) for row in rows] for name in SCHEMA.names}
    return pa.RecordBatch.from_arrays([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def readings(max_size: int = 20, unusual: bool = False) -> st.SearchStrategy[pa.RecordBatch]:
    """A batch on both sides of the epoch, if asked with doubles that are no ordinary numbers."""
    values = _VALUES | ({"speed": _VALUES["speed"] | _UNUSUAL} if unusual else {})
    return st.lists(st.fixed_dictionaries(values), max_size=max_size).map(batch_of)


@st.composite
def steps(draw):
    """Batches with watermarks, no row behind the one before it."""
    found = []
    newest = START_OF_TIME
    for _ in range(draw(st.integers(1, 4))):
        batch = draw(readings(max_size=6, unusual=True))
        in_time = [moment >= newest for moment in batch.column("ts").cast(pa.int64()).to_pylist()]
        kept = batch.filter(pa.array(in_time, pa.bool_()))
        newest = max(newest, Micros(draw(st.integers(-20_000_000, 20_000_000))))
        found.append((kept, newest))
    return found
