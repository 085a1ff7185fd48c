import pytest

from skerry.model.time import END_OF_TIME, MICROS, START_OF_TIME, Micros, seconds, show


def test_seconds_are_rounded_to_whole_microseconds():
    assert seconds(0.1234567) == 123_457


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (Micros(0), "1970-01-01 00:00:00"),
        (seconds(-1), "1969-12-31 23:59:59"),
        (START_OF_TIME, "the start of time"),
        (END_OF_TIME, "the end of time"),
    ],
)
def test_moments_are_shown_in_utc(moment, shown):
    assert show(moment) == shown


def test_units_build_on_each_other():
    assert MICROS["WEEK"] == 7 * 24 * 60 * 60 * MICROS["SECOND"]
