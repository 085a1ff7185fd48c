import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.model.time import Micros, seconds
from skerry.model.window import Window

spans = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(lambda pair: (max(pair), min(pair)))


@given(spans)
def test_slice_divides_size_and_slide(pair):
    window = Window(*map(Micros, pair))
    assert window.size_us % window.slice_us == window.slide_us % window.slice_us == 0


@pytest.mark.parametrize(("slide", "tumbling"), [(10, True), (5, False)])
def test_window_tumbles_if_its_slide_is_its_size(slide, tumbling):
    assert Window(seconds(10), seconds(slide)).tumbling is tumbling


@pytest.mark.parametrize("pair", [(0, 0), (5, 0), (-1, -1)])
def test_window_without_extent_is_refused(pair):
    with pytest.raises(InputError, match="must be above zero, got a size of"):
        Window(*map(Micros, pair))


def test_slide_beyond_the_size_is_refused():
    with pytest.raises(
        InputError, match="slide must not exceed its size, got a slide of 5 MICROSECOND and a size of 4"
    ):
        Window(Micros(4), Micros(5))


def test_window_of_too_many_slices_is_refused():
    with pytest.raises(InputError, match="at most 100000 slices, got 100001"):
        Window(Micros(100_001), Micros(1))
