import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import LimitError, OptionError
from skerry.model.arrival import ARRIVAL, LANE, STAMPS
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.joins.keys import key_codes
from skerry.operators.joins.make_technique import TECHNIQUES
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.operator import Chain, Operator
from skerry.operators.spread import Spread
from skerry.plan.side import Side
from skerry.testing import laws
from tests import oracles
from tests.oracles.joins import Tuple

SCHEMA = pa.schema(
    {
        "ts": TIMESTAMP,
        "tag": pa.int64(),
        "name": pa.string(),
        "height": pa.float64(),
        "note": pa.string(),
        "row": pa.int64(),
    }
)
KEYS = [("tag",), ("name",), ("height",), ("ts",), ("tag", "name"), ("height", "name")]

few = settings(max_examples=10)
key_columns = pytest.mark.parametrize("keys", KEYS, ids="-".join)
techniques = pytest.mark.parametrize("technique", sorted(TECHNIQUES))
windows = st.lists(st.integers(0, 6) | st.just(2**62), min_size=1, max_size=6)
readings = st.fixed_dictionaries(
    {
        "stream": st.integers(0, 5),
        "ts": st.integers(-8, 8),
        "tag": st.none() | st.integers(-1, 0) | st.sampled_from([-(2**63), 2**63 - 1]),
        "name": st.none() | st.sampled_from(["", "a", "ä"]),
        "height": st.none() | st.sampled_from([math.nan, 0.0, -0.0, 1.5, math.inf]),
        "note": st.none() | st.just("noted"),
    }
)


class Streams(Operator):
    """A join whose streams come in one batch, distinguished by a column."""

    def __init__(self, windows, keys, technique="snjoin", **options):
        sides = [side(f"s{stream}", keys, span_us=span) for stream, span in enumerate(windows)]
        self._join = MultiJoin(sides, technique, **options)
        self._stream_count = len(windows)
        self.schema = self._join.schema
        self.advance, self.changes = self._join.advance, self._join.changes
        self.restore, self.snapshot = self._join.restore, self._join.snapshot
        self.redistribute = self._join.redistribute

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % self._stream_count
        for stream in range(self._stream_count):
            part = batch.filter(pa.array(streams == stream))
            found = self._join.transition(part.select(SCHEMA.names), stream)
        return found


def side(name="a", keys=("tag",), span_us=None, last_rows=None):
    return Side(name, SCHEMA, keys, "ts", span_us, last_rows)


def batch_of(rows, schema=SCHEMA):
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@st.composite
def steps(draw):
    """Batches with watermarks, no row behind the one before it; all rows numbered."""
    found, newest, count = [], START_OF_TIME, 0
    for _ in range(draw(st.integers(1, 4))):
        rows = [row for row in draw(st.lists(readings, max_size=8)) if row["ts"] >= newest]
        numbered = [row | {"row": count + index} for index, row in enumerate(rows)]
        count += len(rows)
        newest = max(newest, Micros(draw(st.integers(-9, 9))))
        found.append((batch_of(numbered, SCHEMA.append(pa.field("stream", pa.int64()))), newest))
    return found


def tuples_of(steps, windows, keys):
    """What nested loops make of the same rows."""
    for row in (row for batch, _ in steps for row in batch.to_pylist()):
        key = tuple(row[name] for name in keys)
        missing = any(value is None or value != value for value in key)
        stream, start = row["stream"] % len(windows), pa.scalar(row["ts"], TIMESTAMP).value
        yield Tuple(stream, None if missing else key, start, start + windows[stream], row["row"])


def rows_of(batches, stream_count):
    """The numbers of the rows of each answer."""
    names = [f"s{stream}.row" for stream in range(stream_count)]
    return sorted(tuple(answer[name] for name in names) for batch in batches for answer in batch.to_pylist())


def run(operator, steps):
    return [
        answer for batch, watermark in steps for answer in (operator.transition(batch), operator.advance(watermark))
    ]


@techniques
@key_columns
@few
@given(steps=steps(), windows=windows)
def test_answers_agree_with_nested_loops(technique, keys, steps, windows):
    found = run(Streams(windows, keys, technique), steps)
    assert rows_of(found, len(windows)) == oracles.combinations(list(tuples_of(steps, windows, keys)), len(windows))


@techniques
@key_columns
@few
@given(steps=steps(), windows=windows)
def test_all_laws_are_kept(technique, keys, steps, windows):
    laws.check_laws(lambda: Streams(windows, keys, technique), steps, time="ts")


@key_columns
@few
@given(steps=steps(), windows=windows)
def test_other_buckets_change_nothing(keys, steps, windows):
    spread = Spread((keys,) * len(windows), 1)
    laws.other_buckets_change_nothing(lambda: Streams(windows, keys), steps, keys=keys, spread=spread)


@given(steps=steps(), windows=windows)
def test_answers_have_the_columns_of_all_sides_as_they_came(steps, windows):
    rows = {row["row"]: row for batch, _ in steps for row in batch.to_pylist()}
    for found in run(Streams(windows, ("tag",)), steps):
        for answer in found.to_pylist():
            for stream in range(len(windows)):
                came = rows[answer[f"s{stream}.row"]]
                assert [repr(answer[f"s{stream}.{name}"]) for name in SCHEMA.names] == [
                    repr(came[n]) for n in SCHEMA.names
                ]


@st.composite
def counted_windows(draw):
    """Batches of streams in the order in which they come, and the windows of the streams."""
    kinds = draw(st.lists(st.tuples(st.booleans(), st.integers(1, 4)), min_size=1, max_size=4))
    batches = draw(st.lists(st.tuples(st.integers(0, len(kinds) - 1), st.lists(readings, max_size=3)), max_size=8))
    return kinds, batches, draw(st.integers(1, 3))


@given(counted_windows())
def test_last_rows_are_counted_as_they_arrive(drawn):
    kinds, batches, every = drawn
    sides = [
        side(f"s{n}", **({"last_rows": size} if rows else {"span_us": size})) for n, (rows, size) in enumerate(kinds)
    ]
    join, found, tuples, rows = MultiJoin(sides), [], [], [0] * len(kinds)
    for index, (stream, readings) in enumerate(batches):
        for row in readings:
            ends = 2**62 if kinds[stream][0] else row["ts"] + kinds[stream][1]
            tuples.append(Tuple(stream, row["tag"], row["ts"], ends, rows[stream]))
            row["row"], rows[stream] = rows[stream], rows[stream] + 1
        join.transition(batch_of(readings), stream)
        if index % every == 0:
            copy = MultiJoin(sides)
            copy.restore(join.snapshot())
            found.append(copy.advance(START_OF_TIME))
            join = copy
    found.append(join.advance(START_OF_TIME))
    last_rows = [size if rows else 0 for rows, size in kinds]
    assert rows_of(found, len(kinds)) == sorted(oracles.arriving_combinations(tuples, last_rows))


def test_rows_that_join_nothing_are_counted_all_the_same():
    join = MultiJoin([side("a", last_rows=1), side("b", span_us=0)])
    join.transition(batch_of([{"ts": 0, "tag": 7}, {"ts": 1, "tag": None}]), 0)
    join.transition(batch_of([{"ts": 2, "tag": 7}]), 1)
    assert join.advance(START_OF_TIME).num_rows == 0


def make_stamped(*rows):
    """Rows of one tag, each as (when it arrived, its number)."""
    schema = pa.schema([*SCHEMA, *STAMPS])
    readings = [{"ts": 0, "tag": 7, "row": row, ARRIVAL: arrival, LANE: 0} for arrival, row in rows]
    return batch_of(readings, schema)


@pytest.mark.parametrize("saved", [False, True])
def test_rows_with_stamps_are_counted_in_the_order_of_their_stamps(saved):
    sides = [Side(name, make_stamped().schema, ("tag",), "ts", None, 1) for name in ("s0", "s1")]
    join = MultiJoin(sides)
    for batch, stream in ((make_stamped((3, 1), (5, 2)), 0), (make_stamped((4, 10)), 1), (make_stamped((1, 0)), 0)):
        join.transition(batch, stream)
    if saved:
        pages = join.snapshot()
        join = MultiJoin(sides)
        join.restore(pages)
    assert rows_of([join.advance(START_OF_TIME)], 2) == [(1, 10), (2, 10)]


def test_counted_rows_are_forgotten_at_the_end_of_time():
    join = MultiJoin([side("a", last_rows=5), side("b", last_rows=5)])
    join.transition(batch_of([{"ts": 0, "tag": 7}]))
    join.advance(END_OF_TIME)
    assert join.snapshot().keys() == MultiJoin([side("a", last_rows=5), side("b", last_rows=5)]).snapshot().keys()


def unscramble(hash_):
    """The integer that has a hash (splitmix64, backwards)."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        hash_ ^= hash_ >> shift ^ hash_ >> 2 * shift
        hash_ = hash_ * pow(factor, -1, 2**64) % 2**64
    value = (hash_ - 0x9E3779B97F4A7C15) % 2**64
    return value - 2**64 if value >= 2**63 else value


def test_keys_whose_hashes_collide_are_kept_apart():
    # Two columns are hashed as scramble(31 * scramble(hash of the first) + hash of the second).
    first, second = ((oracles.mix(0, oracles.hash_integer(tag)) * 31) % 2**64 for tag in (1, 2))
    twin = unscramble((first + oracles.hash_integer(5) - second) % 2**64)
    schema = pa.schema({"ts": TIMESTAMP, "tag": pa.int64(), "place": pa.int64()})
    one, other = (batch_of([{"ts": 0, "tag": tag, "place": at}], schema) for tag, at in ((1, 5), (2, twin)))
    codes = [key_codes(batch.columns[1:], 1)[0].item() for batch in (one, other)]
    assert codes[0] == codes[1]
    join = MultiJoin([Side(name, schema, ("tag", "place"), "ts", 0) for name in "ab"])
    for batch, stream in ((one, 0), (other, 0), (one, 1)):
        join.transition(batch, stream)
    assert join.advance(END_OF_TIME).column("a.tag").to_pylist() == [1]


def test_times_beyond_all_time_overflow_nothing():
    join = MultiJoin([side("a", span_us=2**63 - 1), side("b", span_us=0)])
    join.transition(batch_of([{"ts": -(2**63), "tag": 7}, {"ts": 2**63 - 1, "tag": 7}]), 0)
    join.transition(batch_of([{"ts": 2**63 - 1, "tag": 7}, {"ts": -(2**63), "tag": 7}]), 1)
    assert join.advance(END_OF_TIME).num_rows == 2
    assert list(join.snapshot()) == ["clock"]


def test_both_ends_of_a_window_belong_to_it():
    join = MultiJoin([side("a", span_us=10), side("b", span_us=0)])
    join.transition(batch_of([{"ts": ts, "tag": 7, "row": ts} for ts in (0, 1, 11, 12)]), 0)
    join.transition(batch_of([{"ts": 11, "tag": 7}]), 1)
    assert join.advance(END_OF_TIME).column("a.row").to_pylist() == [11, 1]


def test_row_that_has_ended_when_it_comes_is_not_kept():
    join = MultiJoin([side("a", span_us=1), side("b", span_us=1)])
    join.advance(Micros(10))
    for stream in (0, 1):
        join.transition(batch_of([{"ts": 0, "tag": 7}]), stream)
    assert join.advance(Micros(10)).num_rows == 0
    assert list(join.snapshot()) == ["clock"]


def test_columns_are_named_after_their_side():
    assert MultiJoin([side("a", span_us=1), side("b", span_us=1)]).schema.names[:2] == ["a.ts", "a.tag"]


def test_empty_batches_and_sides_without_rows_give_nothing():
    join = MultiJoin([side("a", span_us=1), side("b", span_us=1)])
    assert join.transition(batch_of([])).schema == join.schema
    join.transition(batch_of([{"ts": 0, "tag": 7}]))
    assert join.advance(Micros(0)).num_rows == 0


@few
@given(steps=steps(), windows=windows)
def test_answers_are_the_same_piece_by_piece(steps, windows):
    whole = run(Streams(windows, ("tag",)), steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skerry.operators.joins.multi_join._PIECE", 2)
        found = run(Streams(windows, ("tag",)), steps)
    assert [batch.to_pylist() for batch in found] == [batch.to_pylist() for batch in whole]


def test_pieces_are_handed_down_one_by_one(monkeypatch):
    monkeypatch.setattr("skerry.operators.joins.multi_join._PIECE", 30)
    sizes = []

    class Watching(Operator):
        def __init__(self, schema):
            self.schema = schema

        def transition(self, batch, stream=0):
            sizes.append(batch.num_rows)
            return batch.slice(0, 1)

    join = MultiJoin([side("a", span_us=9), side("b", span_us=9)])
    for stream in (0, 1):
        join.transition(batch_of([{"ts": 0, "tag": 7}] * 10), stream)
    assert Chain([join, Watching(join.schema)]).advance(Micros(0)).num_rows == 4
    assert sizes == [30, 30, 30, 10]


def test_more_answers_than_the_limit_are_refused():
    join = MultiJoin([side("a", span_us=9), side("b", span_us=9)], limit=99)
    for stream in (0, 1):
        join.transition(batch_of([{"ts": 0, "tag": 7}] * 10), stream)
    with pytest.raises(LimitError, match="the limit is 99"):
        join.advance(Micros(0))


def test_unknown_technique_is_refused():
    with pytest.raises(OptionError, match=r"unknown join technique 'sort'; there are .*snjoin"):
        MultiJoin([side(span_us=1)], "sort")


@pytest.mark.parametrize("technique", sorted(set(TECHNIQUES) - {"snjoin"}))
def test_rivals_do_not_count_rows(technique):
    with pytest.raises(OptionError, match="joined by snjoin alone"):
        MultiJoin([side(last_rows=1)], technique)


@pytest.mark.parametrize("window", [{}, {"span_us": 1, "last_rows": 1}, {"span_us": -1}, {"last_rows": 0}])
def test_side_without_a_window_of_one_kind_is_refused(window):
    with pytest.raises(OptionError, match="window"):
        side(**window)


def test_many_small_steps_leave_few_pages():
    join, saved = MultiJoin([side("a", span_us=200), side("b", span_us=200)]), {}
    for ts in range(1000):
        join.transition(batch_of([{"ts": ts, "tag": ts}]), ts % 2)
        join.advance(Micros(ts))
        laws.apply_changes(join.changes(), saved)
    assert len(saved) < 30
