"""A join of variable arity: each tuple, and those of other sensors that agree with it."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import InputError
from skerry.kernels.joins.flatten import flatten_lists
from skerry.kernels.joins.gather import Answers, Arrivals, GatherTable
from skerry.kernels.time_order import order_by_time_and_sensor
from skerry.model.arrays import Bools
from skerry.model.batch import empty
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.interning import Keys, Sensors
from skerry.operators.joins.row_store import RowStore
from skerry.operators.joins.saved_rows import spread_store
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread

__all__ = ["Gather"]


_CLOCK = "clock"
_NO_ARRIVALS = Arrivals(*(np.empty(0, np.int64) for _ in range(3)))
_FEW = 65_536
"""How many keys or sensors without a tuple are kept before it pays to number the rest anew."""


class Gather(Operator):
    """Give for each tuple its answer: itself, then the tuples of other sensors that share its key, newest first.

    In the order (time, sensor, arrival) they come before it, by ``span_us`` at the most: so every pair
    stands in one answer. It is given if ``min_arity`` sensors take part, its own counted. A tuple whose key is
    NULL or NaN, or whose sensor is NULL, takes no part and has no answer.

    An answer is given once, when the watermark has passed its tuple; if ``early``, at the arrival of the
    tuple, and again whenever a member arrives after it. ``flatten`` spells an answer out: every way to choose
    one tuple per sensor, no more than ``limit`` at once.

    A tuple is kept until the watermark has passed it by the span. One hash table serves all sensors, so that
    a tuple costs the same whether there are ten or ten thousand, and one that joins or leaves costs nothing.
    Tuples behind the watermark must not be given to it.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.

    >>> schema = pa.schema({"gas": pa.int64(), "sensor": pa.string(), "ts": TIMESTAMP})
    >>> leak = Gather(schema, key="gas", sensor="sensor", time="ts", span_us=10, min_arity=2)
    >>> columns = [pa.array([7, 7]), pa.array(["a", "b"]), pa.array([1, 4], TIMESTAMP)]
    >>> leak.transition(pa.RecordBatch.from_arrays(columns, schema=schema)).num_rows
    0
    >>> found = leak.advance(Micros(5))
    >>> found.column("arity").to_pylist(), [member["sensor"] for member in found.column("members")[0].as_py()]
    ([2], ['b', 'a'])
    """

    def __init__(
        self,
        schema: pa.Schema,
        *,
        key: str,
        sensor: str,
        time: str,
        span_us: int,
        min_arity: int = 1,
        early: bool = False,
        flatten: bool = False,
        limit: int = 10_000_000,
    ) -> None:
        if span_us < 0 or min_arity < 1:
            raise InputError("a span must not be below 0, nor an arity below 1; got", span_us, "and", min_arity)
        self._columns = (key, sensor, time)
        self._span_us, self._min_arity, self._limit = span_us, min_arity, limit
        self._early, self._flatten = early, flatten
        self._types = schema.field(key).type, schema.field(sensor).type
        self.schema = _schema(*self._types)
        self._row_schema = pa.schema(list(self.schema)[:3])
        self._rows = RowStore(self._row_schema)
        self._nothing = empty(self.schema)
        self._closed: Micros = START_OF_TIME
        self._begin()

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take tuples in; if early, answer them."""
        rows = _joinable([batch.column(name) for name in self._columns], self._row_schema)
        if not rows.num_rows:
            return self._nothing
        arrivals = self._number(rows)
        self._rows.add(rows, arrivals.times + self._span_us)
        if self._early:
            return self._as_batch(self._table.answer_on_arrival(_concatenate([arrivals]), min_arity=self._min_arity))
        self._waiting.append(arrivals)
        return self._nothing

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Answer the tuples before ``watermark``, and forget those that it has left behind."""
        if watermark <= self._closed:
            return self._nothing
        self._closed = watermark
        given = self._nothing
        if not self._early:
            given = self._as_batch(self._table.answer_in_order(self._take_passed(), min_arity=self._min_arity))
        self._table.forget(watermark - self._span_us)
        self._rows.forget(watermark)
        if max(self._keys.count, self._sensors.count) > 2 * self._rows.count + _FEW:
            self._renumber()
        return given

    def changes(self) -> PageChanges:
        """The chunks of tuples that are new, merged or gone, and how far time has come."""
        changes = self._rows.changes()
        return PageChanges({**changes.put, **self._clock()}, changes.drop)

    def snapshot(self) -> StatePages:
        """All tuples."""
        return {**self._rows.snapshot(), **self._clock()}

    def restore(self, pages: StatePages) -> None:
        """Take tuples over; those that the watermark has not passed still wait for their answer."""
        rows = dict(pages)
        if (clock := rows.pop(_CLOCK, None)) is not None:
            self._closed = Micros(int(clock))
        self._rows.restore(rows)
        self._renumber()

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All tuples by the bucket of their key."""
        closed = max((state[_CLOCK] for state in states), key=int)
        stored = Spread(((self._row_schema.names[0],),), spread.count)
        return [{**pages, _CLOCK: closed} for pages in spread_store(states, "", int(closed), stored)]

    def _clock(self) -> StatePages:
        return {_CLOCK: str(self._closed).encode()}

    def _begin(self) -> None:
        self._keys, self._sensors = Keys(self._types[0]), Sensors(self._types[1])
        self._orders = self._sensors.orders()
        self._table = GatherTable(self._span_us)
        self._waiting: list[Arrivals] = []

    def _renumber(self) -> None:
        """Build everything anew from the rows: what they do not name any more is forgotten by that."""
        self._begin()
        _, rows = self._rows.live_rows()
        arrivals = _concatenate([self._number(rows)])
        passed, rest = _split(arrivals, arrivals.times < (END_OF_TIME if self._early else self._closed))
        self._table.remember(self._in_order(passed))
        self._waiting = [rest]

    def _number(self, rows: pa.RecordBatch) -> Arrivals:
        """Rows as kernels take them, keys and sensors as numbers; new sensors are made known to the table."""
        key, sensor, time = rows.columns
        arrivals = Arrivals(self._keys.codes(key), time.view(pa.int64()).to_numpy(), self._sensors.numbers(sensor))
        if self._sensors.count > self._orders.size:
            self._orders = self._sensors.orders()
            self._table.know_sensors(self._orders)
        return arrivals

    def _take_passed(self) -> Arrivals:
        """What waits no longer, in order of (time, sensor, arrival)."""
        waiting = _concatenate(self._waiting)
        passed, rest = _split(waiting, waiting.times < self._closed)
        self._waiting = [rest]
        return self._in_order(passed)

    def _in_order(self, arrivals: Arrivals) -> Arrivals:
        order = order_by_time_and_sensor(arrivals.times, self._orders[arrivals.sensors])
        return arrivals if order is None else Arrivals(*(column[order] for column in arrivals))

    def _as_batch(self, answers: Answers) -> pa.RecordBatch:
        """Answers as rows of the view, spelled out if it flattens."""
        if self._flatten:
            answers = self._flatten_answers(answers)
        first = answers.offsets[:-1]
        times = pa.array(answers.times).view(TIMESTAMP)
        member = self.schema.field("members").type.value_type
        members = pa.StructArray.from_arrays([self._sensors.names(answers.sensors), times], fields=list(member))
        columns = [
            self._keys.values(answers.keys),
            self._sensors.names(answers.sensors[first]),
            pa.array(answers.times[first]).view(TIMESTAMP),
            pa.array(answers.arities.astype(np.int32)),
            pa.ListArray.from_arrays(pa.array(answers.offsets.astype(np.int32)), members),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _flatten_answers(self, answers: Answers) -> Answers:
        found = flatten_lists(answers.offsets, answers.sensors, self._sensors.count, self._limit)
        heads = answers.keys[found.lists], answers.arities[found.lists], found.offsets
        return Answers(*heads, answers.sensors[found.members], answers.times[found.members])


def _schema(key: pa.DataType, sensor: pa.DataType) -> pa.Schema:
    member = pa.struct([pa.field("sensor", sensor), pa.field("ts", TIMESTAMP)])
    columns = {"key": key, "sensor": sensor, "ts": TIMESTAMP, "arity": pa.int32(), "members": pa.list_(member)}
    return pa.schema(columns)


def _joinable(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """The rows that take part."""
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    if pa.types.is_floating(columns[0].type):
        rows = rows.filter(pc.invert(pc.is_nan(columns[0])))
    return rows.drop_null() if any(column.null_count for column in rows.columns) else rows


def _split(arrivals: Arrivals, mask: Bools) -> tuple[Arrivals, Arrivals]:
    """Those that are marked, and the rest. Nothing is copied where the marked ones all come first."""
    count = int(np.count_nonzero(mask))
    if mask[:count].all():
        return Arrivals(*(column[:count] for column in arrivals)), Arrivals(*(column[count:] for column in arrivals))
    return Arrivals(*(column[mask] for column in arrivals)), Arrivals(*(column[~mask] for column in arrivals))


def _concatenate(parts: Sequence[Arrivals]) -> Arrivals:
    return Arrivals(*(np.concatenate(columns) for columns in zip(_NO_ARRIVALS, *parts, strict=True)))
