import pyarrow as pa
import pytest
from hypothesis import given, settings

from skerry.operators.in_windows import InWindows
from skerry.testing import laws
from tests.operators.readings import SCHEMA, WINDOWS, steps


@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=10)
@given(drawn=steps())
def test_rows_are_given_in_every_window_that_holds_them(window, drawn):
    batch = drawn[0][0]
    given_rows = InWindows(SCHEMA, "ts", window).transition(batch)
    times, starts, ends = (
        given_rows[name].cast(pa.int64()).to_pylist() for name in ("ts", "window_start", "window_end")
    )
    found = sorted(zip(times, starts, ends, strict=True))
    size, slide = window.size_us, window.slide_us
    expected = [
        (moment, start, start + size)
        for moment in batch["ts"].cast(pa.int64()).to_pylist()
        for start in range((moment - size) // slide * slide, moment + 1, slide)
        if start <= moment < start + size
    ]
    assert found == sorted(expected)
    laws.one_batch_equals_many(lambda: InWindows(SCHEMA, "ts", window), drawn)
