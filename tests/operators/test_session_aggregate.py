from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.session_window import SessionWindow
from skerry.model.time import END_OF_TIME, Micros, seconds
from skerry.operators.open_sessions import FIRST
from skerry.operators.operator import Operator
from skerry.operators.session_aggregate import PartialSessions, SessionAggregate
from skerry.testing import laws
from tests.operators.readings import ALL_FOLDS, KEYS, SCHEMA, batch_of, fold, steps

windows = st.sampled_from([SessionWindow(seconds(gap)) for gap in (1, 3, 10)])
some_keys = pytest.mark.parametrize("keys", [KEYS[0], KEYS[1], KEYS[7]])


class BothHalves(Operator):
    """The two halves of a session aggregate as one operator."""

    def __init__(self, window, keys, folds):
        fields = [SCHEMA.field(key) for key in keys]
        self._partial = PartialSessions(window, "ts", fields, folds)
        self._whole = SessionAggregate(window, fields, folds)
        self.schema = self._whole.schema
        self.advance, self.changes = self._whole.advance, self._whole.changes
        self.restore, self.snapshot = self._whole.restore, self._whole.snapshot
        self.redistribute = self._whole.redistribute

    def transition(self, batch, stream=0):
        return self._whole.transition(self._partial.transition(batch))


@some_keys
@settings(max_examples=12)
@given(steps=steps(), window=windows)
def test_all_laws_are_kept(keys, steps, window):
    laws.check_laws(lambda: BothHalves(window, keys, ALL_FOLDS), steps, time="ts")


@settings(max_examples=15)
@given(steps=steps(), window=windows)
def test_other_buckets_change_nothing(steps, window):
    keys = ("segment", "height")
    laws.other_buckets_change_nothing(lambda: BothHalves(window, keys, ALL_FOLDS), steps, keys=keys)


@given(steps=steps(), window=windows)
def test_sessions_are_those_of_sorted_readings(steps, window):
    operator, found = BothHalves(window, ("segment",), [fold("count")]), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        answers = operator.advance(watermark)
        times = [answers.column(name).cast(pa.int64()).to_pylist() for name in ("window_start", "window_end")]
        found.update(zip(answers["segment"].to_pylist(), *times, answers["count_None"].to_pylist(), strict=True))
    assert found == expected_sessions(steps, window.gap_us)


def expected_sessions(steps, gap_us):
    """The sessions of each segment, reading after reading."""
    rows = [row for batch, _ in steps for row in zip(batch["segment"].to_pylist(), _moments(batch), strict=True)]
    found = Counter()
    for segment in {segment for segment, _ in rows}:
        sessions = []
        for moment in sorted(moment for of, moment in rows if of == segment):
            if sessions and moment - sessions[-1][-1] <= gap_us:
                sessions[-1].append(moment)
            else:
                sessions.append([moment])
        found.update((segment, session[0], session[-1] + gap_us, len(session)) for session in sessions)
    return found


def _moments(batch):
    return batch["ts"].cast(pa.int64()).to_pylist()


def test_session_is_over_when_the_watermark_has_passed_its_end():
    operator = BothHalves(SessionWindow(Micros(5)), (), [fold("count")])
    operator.transition(batch_of([{"ts": 1}, {"ts": 3}]))
    assert operator.advance(Micros(8)).num_rows == 0
    operator.transition(batch_of([{"ts": 8}]))
    assert operator.advance(Micros(13)).num_rows == 0
    assert operator.advance(Micros(14))["count_None"].to_pylist() == [3]
    assert operator.advance(END_OF_TIME).num_rows == 0


def test_reading_joins_two_sessions_into_one():
    operator = BothHalves(SessionWindow(Micros(5)), (), [fold("count")])
    for moments in ([1, 11], [6]):
        operator.transition(batch_of([{"ts": moment} for moment in moments]))
        operator.advance(Micros(1))
    assert operator.advance(END_OF_TIME)["count_None"].to_pylist() == [3]


def test_only_pages_with_changes_are_written():
    operator = BothHalves(SessionWindow(seconds(1)), ("segment",), [fold("count")])
    operator.transition(batch_of([{"ts": 0, "segment": segment} for segment in range(50)]))
    assert len(operator.changes().put) > 10
    operator.transition(batch_of([{"ts": 1, "segment": 7}]))
    assert len(operator.changes().put) == 2


def test_partial_rows_tell_where_sessions_begin():
    partial = PartialSessions(SessionWindow(Micros(5)), "ts", [], [fold("count")])
    assert partial.transition(batch_of([{"ts": 20}, {"ts": 1}, {"ts": 6}]))[FIRST].to_pylist() == [1, 20]
