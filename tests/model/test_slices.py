from hypothesis import given
from hypothesis import strategies as st

from skerry.model.slices import Slices
from skerry.model.time import Micros
from skerry.model.window import Window


@st.composite
def windows(draw):
    size = draw(st.integers(1, 30))
    return Window(Micros(size), Micros(draw(st.integers(1, size))), draw(st.integers(-5, 5)))


@given(among=st.lists(windows(), min_size=1, max_size=5), moment=st.integers(-200, 200))
def test_no_window_starts_or_ends_within_a_slice(among, moment):
    rhythms = Slices.of(among).rhythms
    start = max((moment - phase) // step * step + phase for step, phase in rhythms)
    end = min((moment - phase) // step * step + phase + step for step, phase in rhythms)
    for window in among:
        for edge in (window.origin_us, window.origin_us + window.size_us):
            inside = range(start + 1, end)
            assert not any((inner - edge) % window.slide_us == 0 for inner in inside)


def test_there_are_no_more_slices_than_edges():
    minute = [Window(Micros(60), Micros(60)), Window(Micros(61), Micros(61))]
    assert Slices.of(minute).rhythms == ((60, 0), (61, 0))
