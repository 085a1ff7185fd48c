from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME, Micros
from skerry.operators.joins.asof import Asof
from skerry.operators.operator import Operator
from skerry.operators.spread import Spread
from skerry.testing import laws
from tests.operators.joins.test_multi_join import KEYS, SCHEMA, batch_of, side, steps, tuples_of

spans = st.integers(0, 6) | st.just(END_OF_TIME)
key_columns = pytest.mark.parametrize("keys", [*KEYS, ()], ids="-".join)
kinds = pytest.mark.parametrize(("kept", "strictly"), [(True, False), (False, False), (True, True)])


class Streams(Operator):
    """An ASOF JOIN whose streams come in one batch, distinguished by a column."""

    def __init__(self, span, keys, kept=True, strictly=False):
        self._join = Asof([side("a", keys, span_us=0), side("b", keys, span_us=span)], kept=kept, strictly=strictly)
        self.schema = self._join.schema
        self.advance, self.changes = self._join.advance, self._join.changes
        self.restore, self.snapshot = self._join.restore, self._join.snapshot
        self.redistribute = self._join.redistribute

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % 2
        for stream in (0, 1):
            found = self._join.transition(batch.filter(pa.array(streams == stream)).select(SCHEMA.names), stream)
        return found


def nested_loops(steps, span, keys, kept, strictly):
    """Every row of the first stream with the latest of the second."""
    rows = {row["row"]: row for batch, _ in steps for row in batch.to_pylist()}
    tuples = list(tuples_of(steps, (0, span), keys))
    here, there = ([each for each in tuples if each.stream == stream] for stream in (0, 1))
    found = Counter()
    for each in here:
        before = [
            other
            for other in there
            if each.key is not None
            and other.key == each.key
            and 0 <= each.start - other.start <= span
            and not (strictly and other.start == each.start)
        ]
        latest = max(before, key=lambda other: (other.start, _order(rows[other.row])), default=None)
        if latest or kept:
            found[each.row, latest and latest.row] += 1
    return found


def _order(row):
    """NULL first, then NaN, then values; column by column."""
    return [
        (value is not None, value == value, "" if value is None or value != value else value)
        for value in (row[name] for name in SCHEMA.names)
    ]


@kinds
@key_columns
@settings(max_examples=15)
@given(steps=steps(), span=spans)
def test_answers_are_those_of_nested_loops(keys, kept, strictly, steps, span):
    operator, found = Streams(span, keys, kept, strictly), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        answers = operator.advance(watermark)
        found.update(zip(answers["a.row"].to_pylist(), answers["b.row"].to_pylist(), strict=True))
    assert found == nested_loops(steps, span, keys, kept, strictly)


@settings(max_examples=20)
@given(steps=steps(), span=spans)
def test_all_laws_are_kept(steps, span):
    laws.check_laws(lambda: Streams(span, KEYS[-1]), steps, time="ts")


@settings(max_examples=20)
@given(steps=steps(), span=spans)
def test_other_buckets_change_nothing(steps, span):
    spread = Spread((KEYS[-2], KEYS[-2]), 1)
    laws.other_buckets_change_nothing(lambda: Streams(span, KEYS[-2]), steps, keys=KEYS[-2], spread=spread)


def test_state_is_the_latest_of_each_key_and_no_more():
    asof = Asof([side("a", span_us=0), side("b", span_us=END_OF_TIME)])
    for step in range(20):
        asof.transition(batch_of([{"ts": step * 1000 + row, "tag": row % 3, "row": row} for row in range(1000)]), 1)
        asof.advance(Micros(step * 1000 + 1000))
    assert sum(store.count for store in [asof._others]) < 3000
    asof.transition(batch_of([{"ts": 20_000, "tag": tag} for tag in (0, 1, 2, 3)]), 0)
    found = asof.advance(Micros(20_001))
    assert sorted(found["b.ts"].cast(pa.int64()).to_pylist()) == [19_997, 19_998, 19_999]
