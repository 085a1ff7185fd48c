from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME, Micros
from skerry.operators.joins.absence import Absence, NotIn, Presence
from skerry.operators.operator import Operator
from skerry.operators.spread import Spread
from skerry.testing import laws
from tests.operators.joins.test_multi_join import KEYS, SCHEMA, batch_of, side, steps, tuples_of

spans = st.tuples(*[st.integers(0, 6) | st.just(2**62)] * 2)
key_columns = pytest.mark.parametrize("keys", KEYS, ids="-".join)


class Streams(Operator):
    """An absence whose streams come in one batch, distinguished by a column."""

    def __init__(self, spans, keys, kind=Absence, condition=None):
        sides = [side(name, keys, span_us=span) for name, span in zip("ab", spans, strict=True)]
        self._absence = kind(sides, ["row"], condition)
        self.schema = self._absence.schema
        self.advance, self.changes = self._absence.advance, self._absence.changes
        self.restore, self.snapshot = self._absence.restore, self._absence.snapshot
        self.redistribute = self._absence.redistribute

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % 2
        for stream in (0, 1):
            found = self._absence.transition(batch.filter(pa.array(streams == stream)).select(SCHEMA.names), stream)
        return found


def alone(steps, spans, keys):
    """Rows without a partner, by nested loops."""
    tuples = list(tuples_of(steps, spans, keys))
    here, there = ([each for each in tuples if each.stream == stream] for stream in (0, 1))
    return Counter(each.row for each in here if not any(meet(each, other) for other in there))


def meet(one, other):
    return one.key is not None and one.key == other.key and max(one.start, other.start) <= min(one.end, other.end)


@key_columns
@settings(max_examples=40)
@given(steps=steps(), spans=spans)
def test_rows_without_a_partner_are_those_of_nested_loops(keys, steps, spans):
    operator, found = Streams(spans, keys), []
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        found += operator.advance(watermark).column("row").to_pylist()
    assert Counter(found) == alone(steps, spans, keys)


@key_columns
@settings(max_examples=15)
@given(steps=steps(), spans=st.tuples(st.integers(0, 6), st.integers(0, 6)))
def test_all_laws_are_kept(keys, steps, spans):
    laws.check_laws(lambda: Streams(spans, keys), steps, time="ts")


@key_columns
@settings(max_examples=15)
@given(steps=steps(), spans=spans)
def test_other_buckets_change_nothing(keys, steps, spans):
    laws.other_buckets_change_nothing(lambda: Streams(spans, keys), steps, keys=keys, spread=Spread((keys, keys), 1))


def test_a_row_is_given_as_soon_as_no_partner_can_come():
    absence = Absence([side("a", span_us=5), side("b", span_us=1)], ["tag"])
    absence.transition(batch_of([{"ts": 3, "tag": 7}]), 0)
    assert absence.advance(Micros(8)).num_rows == 0
    assert absence.advance(Micros(9)).to_pydict() == {"tag": [7]}
    assert absence.advance(END_OF_TIME).num_rows == 0


def test_rows_are_forgotten_when_nobody_canmeet_them():
    absence = Absence([side("a", span_us=5), side("b", span_us=2)], ["tag"])
    absence.transition(batch_of([{"ts": 3, "tag": 7}]), 1)
    kept = [
        len([name for name in absence.snapshot() if "/" in name])
        for at in (10, 11)
        if absence.advance(Micros(at)) is not None
    ]
    assert kept == [1, 0]


ODD = Expression('("a.row" + "b.row") % 2 = 1', pa.bool_())


@key_columns
@settings(max_examples=20)
@given(steps=steps(), spans=spans, kind=st.sampled_from([Absence, Presence]))
def test_partners_that_must_agree_are_those_of_nested_loops(keys, steps, spans, kind):
    tuples = list(tuples_of(steps, spans, keys))
    here, there = ([each for each in tuples if each.stream == stream] for stream in (0, 1))
    found = laws.answers(Streams(spans, keys, kind, ODD), steps)
    partnered = {each.row for each in here if any(meet(each, other) and (each.row + other.row) % 2 for other in there)}
    wanted = [each.row for each in here if (each.row in partnered) == (kind is Presence)]
    assert found == Counter((repr(row),) for row in wanted)


@settings(max_examples=30)
@given(steps=steps(), spans=spans)
def test_not_in_is_that_of_three_values(steps, spans):
    """As SQL has it: one by one, equal is yes, a NULL beside it is unknown, and only a sure no is an answer."""
    found = laws.answers(Streams(spans, ("tag",), NotIn), steps)
    tuples = list(tuples_of(steps, spans, ("tag",)))
    here, there = ([each for each in tuples if each.stream == stream] for stream in (0, 1))
    sure = []
    for each in here:
        near = [other.key for other in there if max(each.start, other.start) <= min(each.end, other.end)]
        if not near or (each.key is not None and all(key not in (None, each.key) for key in near)):
            sure.append(each.row)
    assert found == Counter((repr(row),) for row in sure)


@settings(max_examples=10)
@given(steps=steps(), spans=st.tuples(st.integers(0, 6), st.integers(0, 6)), kind=st.sampled_from([Presence, NotIn]))
def test_presence_and_not_in_keep_all_laws(steps, spans, kind):
    keys = KEYS[0]
    laws.check_laws(lambda: Streams(spans, keys, kind, ODD if kind is Presence else None), steps, time="ts")
    if kind is Presence:
        spread = Spread((keys, keys), 1)
        laws.other_buckets_change_nothing(lambda: Streams(spans, keys, kind), steps, keys=keys, spread=spread)
