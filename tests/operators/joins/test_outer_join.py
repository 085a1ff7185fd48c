from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME, Micros
from skerry.operators.joins.outer_join import OuterJoin
from skerry.operators.operator import Operator
from skerry.operators.spread import Spread
from skerry.testing import laws
from tests.operators.joins.test_absence import meet
from tests.operators.joins.test_multi_join import KEYS, SCHEMA, batch_of, side, steps, tuples_of

spans = st.tuples(*[st.integers(0, 6) | st.just(2**62)] * 2)
key_columns = pytest.mark.parametrize("keys", KEYS, ids="-".join)
LATER = Expression('"b.row" > "a.row"', pa.bool_())
fulls = pytest.mark.parametrize("full", [False, True], ids=["left", "full"])
conditions = pytest.mark.parametrize("condition", [None, LATER], ids=["always", "later"])


class Streams(Operator):
    """An outer join whose streams come in one batch, distinguished by a column."""

    def __init__(self, spans, keys, condition=None, full=False):
        sides = [side(name, keys, span_us=span) for name, span in zip("ab", spans, strict=True)]
        self._join = OuterJoin(sides, condition, full=full)
        self.schema = self._join.schema
        self.advance, self.changes = self._join.advance, self._join.changes
        self.restore, self.snapshot = self._join.restore, self._join.snapshot
        self.redistribute = self._join.redistribute

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % 2
        for stream in (0, 1):
            found = self._join.transition(batch.filter(pa.array(streams == stream)).select(SCHEMA.names), stream)
        return found


def nested_loops(steps, spans, keys, condition, full):
    """Every row of a kept stream with each of its partners, or with None if it has none."""
    tuples = list(tuples_of(steps, spans, keys))
    here, there = ([each for each in tuples if each.stream == stream] for stream in (0, 1))
    found = Counter()
    for each in here:
        partners = [other.row for other in there if meet(each, other) and (not condition or other.row > each.row)]
        found.update((each.row, partner) for partner in partners or [None])
    met = {partner for _, partner in found}
    found.update((None, each.row) for each in there if full and each.row not in met)
    return found


@fulls
@conditions
@key_columns
@settings(max_examples=15)
@given(steps=steps(), spans=spans)
def test_answers_are_those_of_nested_loops(keys, condition, full, steps, spans):
    operator, found = Streams(spans, keys, condition, full), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        answers = operator.advance(watermark)
        found.update(zip(answers["a.row"].to_pylist(), answers["b.row"].to_pylist(), strict=True))
    assert found == nested_loops(steps, spans, keys, condition, full)


@fulls
@conditions
@settings(max_examples=8)
@given(steps=steps(), spans=st.tuples(st.integers(0, 6), st.integers(0, 6)))
def test_all_laws_are_kept(condition, full, steps, spans):
    laws.check_laws(lambda: Streams(spans, KEYS[0], condition, full), steps, time="ts")


@fulls
@conditions
@pytest.mark.parametrize("keys", [KEYS[0], KEYS[-1]], ids="-".join)
@settings(max_examples=15)
@given(steps=steps(), spans=spans)
def test_other_buckets_change_nothing(keys, condition, full, steps, spans):
    make = lambda: Streams(spans, keys, condition, full)  # noqa: E731
    laws.other_buckets_change_nothing(make, steps, keys=keys, spread=Spread((keys, keys), 1))


def test_a_row_without_a_partner_is_given_as_soon_as_none_can_come():
    left = OuterJoin([side("a", span_us=5), side("b", span_us=1)])
    left.transition(batch_of([{"ts": 3, "tag": 7}]), 0)
    assert left.advance(Micros(8)).num_rows == 0
    assert left.advance(Micros(9)).select(["a.tag", "b.tag"]).to_pylist() == [{"a.tag": 7, "b.tag": None}]
    assert left.advance(END_OF_TIME).num_rows == 0


def test_rows_are_forgotten_when_their_windows_are_over():
    left = OuterJoin([side("a", span_us=5), side("b", span_us=5)])
    for stream in (0, 1):
        left.transition(batch_of([{"ts": 3, "tag": 7}]), stream)
    left.advance(Micros(8))
    assert len([name for name in left.snapshot() if name.count("/") > 1]) == 4
    left.advance(Micros(9))
    assert [name for name in left.snapshot() if name.count("/") > 1] == []
