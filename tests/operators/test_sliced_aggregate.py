from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.slices import Slices
from skerry.model.time import Micros, seconds
from skerry.model.window import Window
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.operators.sliced_aggregate import SlicedAggregate
from skerry.testing import laws
from tests.operators.readings import ALL_FOLDS, KEYS, SCHEMA, BothHalves, batch_of, fold, steps
from tests.operators.two_halves import TwoHalves

few = settings(max_examples=8)
sizes = st.integers(2, 16).map(lambda halves: Micros(halves * 500_000))


@st.composite
def windows(draw):
    """Different windows, tumbling or hopping, some of them moved."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        size = draw(sizes)
        slide = draw(st.sampled_from([size, Micros(size // 2), Micros(size - 500_000)]))
        found.append(Window(size, slide, draw(st.sampled_from([0, 0, 1_000_000, -7_000]))))
    return list(dict.fromkeys(found))


def sliced(among, keys=(), folds=ALL_FOLDS, wanted=None):
    fields = [SCHEMA.field(key) for key in keys]
    names = [[each.name for each in folds]] * len(among)
    second = SlicedAggregate(among, fields, folds, wanted or names)
    return TwoHalves(PartialAggregate(Slices.of(among), "ts", fields, folds), second)


@pytest.mark.parametrize("keys", [KEYS[0], KEYS[1], KEYS[7]])
@few
@given(steps=steps(), among=windows())
def test_operator_keeps_the_laws(keys, steps, among):
    laws.check_laws(lambda: sliced(among, keys), steps, time="ts")


@few
@given(steps=steps(), among=windows())
def test_other_buckets_change_nothing(steps, among):
    laws.other_buckets_change_nothing(lambda: sliced(among, ("segment",)), steps, keys=("segment",))


@pytest.mark.parametrize("keys", [KEYS[0], KEYS[1], KEYS[7]])
@settings(max_examples=25)
@given(steps=steps(), among=windows())
def test_answers_are_those_of_an_aggregate_per_window(keys, steps, among):
    together = sliced(among, keys)
    apart = [BothHalves(window, keys, ALL_FOLDS) for window in among]
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), Micros(2**62))]:
        together.transition(batch)
        found = together.advance(watermark)
        numbers = found.column("_window").to_numpy()
        for number, alone in enumerate(apart):
            alone.transition(batch)
            expected = alone.advance(watermark)
            mine = found.filter(numbers == number).drop_columns(["_window"])
            assert list(map(repr, mine.to_pylist())) == list(map(repr, expected.to_pylist()))


def test_a_reading_far_from_the_others_costs_no_more_than_its_windows():
    operator = sliced([Window(Micros(1), Micros(1)), Window(Micros(3), Micros(2))], folds=[fold("count")])
    operator.transition(batch_of([{"ts": 0}, {"ts": 2**60}]))
    found = operator.advance(Micros(2**62))
    assert Counter(found.column("_window").to_pylist()) == {0: 2, 1: 4}


def test_folds_that_a_window_does_not_want_are_null():
    folds = [fold("count"), fold("sum", "speed")]
    among = [Window(seconds(1), seconds(1)), Window(seconds(2), seconds(2))]
    operator = sliced(among, (), folds, [["count_None"], ["sum_speed"]])
    operator.transition(batch_of([{"ts": 0, "speed": 3.0}]))
    found = operator.advance(seconds(9)).select(["count_None", "sum_speed", "_window"])
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == [(1, None, 0), (None, 3.0, 1)]


def test_state_is_that_of_the_longest_window():
    among = [Window(seconds(60), seconds(60)), Window(seconds(10), seconds(10))]
    many, one = sliced(among, ("segment",)), sliced([among[1]], ("segment",))
    batch = batch_of([{"ts": seconds(second), "segment": 1} for second in range(60)])
    for operator in (many, one):
        operator.transition(batch)
    assert many.snapshot().keys() == one.snapshot().keys()
