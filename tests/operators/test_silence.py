from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.session_window import SessionWindow
from skerry.model.time import END_OF_TIME, Micros, seconds
from skerry.operators.session_aggregate import PartialSessions
from skerry.operators.silence import Silence
from skerry.testing import laws
from tests.operators.readings import SCHEMA, batch_of, steps
from tests.operators.two_halves import TwoHalves
from tests.oracles.silences import find_silences

spans = st.sampled_from([(seconds(1), seconds(1)), (seconds(3), seconds(8)), (seconds(10), seconds(90))])
either = pytest.mark.parametrize("returns", [False, True])


class BothHalves(TwoHalves):
    """The two halves of SILENCE as one operator."""

    def __init__(self, spans, returns, keys=("segment",)):
        fields = [SCHEMA.field(key) for key in keys]
        first = PartialSessions(SessionWindow(spans[0]), "ts", fields, [])
        super().__init__(first, Silence(fields, spans[0], returns=returns, forget_us=spans[1]))


@either
@settings(max_examples=15)
@given(steps=steps(), spans=spans)
def test_all_laws_are_kept(returns, steps, spans):
    laws.check_laws(lambda: BothHalves(spans, returns), steps, time="ts")
    laws.other_buckets_change_nothing(lambda: BothHalves(spans, returns), steps, keys=("segment",))


@given(steps=steps(), spans=spans)
def test_silences_are_those_of_sorted_readings(steps, spans):
    newest = max([0, *(moment for batch, _ in steps for moment in moments(batch))])
    end = max([newest, *(watermark for _, watermark in steps)])
    operator, found = BothHalves(spans, returns=True), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        if watermark == END_OF_TIME:
            operator.note_end(end)
        found.update(rows(operator.advance(watermark)))
    heard = [row for batch, _ in steps for row in zip(batch["segment"].to_pylist(), moments(batch), strict=True)]
    assert found == Counter(find_silences(heard, *spans, end))


def moments(batch, name="ts"):
    return batch.column(name).cast(pa.int64()).to_pylist()


def rows(batch):
    return zip(
        batch["segment"].to_pylist(), *(moments(batch, name) for name in ("last_ts", "ts", "until")), strict=True
    )


def test_reading_exactly_the_gap_later_is_in_time():
    operator = BothHalves((Micros(5), Micros(5)), returns=False)
    operator.transition(batch_of([{"ts": 0, "segment": 1}]))
    assert operator.advance(Micros(5)).num_rows == 0
    operator.transition(batch_of([{"ts": 5, "segment": 1}]))
    assert operator.advance(Micros(10)).num_rows == 0
    assert moments(operator.advance(Micros(11))) == [10]


def test_sensor_heard_within_the_gap_before_the_end_is_not_silent():
    operator = BothHalves((Micros(5), Micros(5)), returns=False)
    operator.transition(batch_of([{"ts": 0, "segment": 1}, {"ts": 7, "segment": 2}]))
    operator.note_end(Micros(7))
    assert operator.advance(END_OF_TIME)["segment"].to_pylist() == [1]


def test_sensor_away_for_too_long_is_forgotten_and_counted():
    operator = BothHalves((Micros(5), Micros(20)), returns=True)
    operator.transition(batch_of([{"ts": 0, "segment": 1}]))
    assert operator.advance(Micros(21)).num_rows == 1
    assert operator.figures() == {"sensors_forgotten": 1}
    operator.transition(batch_of([{"ts": 22, "segment": 1}]))
    assert operator.advance(Micros(23)).num_rows == 0


def test_a_silent_sensor_is_not_kept_unless_its_return_is_wanted():
    for returns, pages in ((False, 1), (True, 2)):
        operator = BothHalves((Micros(5), Micros(90)), returns=returns)
        operator.transition(batch_of([{"ts": 0, "segment": 1}]))
        operator.advance(Micros(6))
        assert len(operator.snapshot()) == pages
