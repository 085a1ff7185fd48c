import duckdb
import pytest

from skerry.model.dialect import parse_expression, write_expression

WORDS = (
    *("us", "usec", "usecs", "microsecond", "microseconds", "ms", "msec", "msecs", "millisecond", "milliseconds"),
    *("s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour"),
    *("hours", "d", "day", "days", "w", "week", "weeks", "mon", "mons", "month", "months", "quarter", "quarters"),
    *("y", "yr", "yrs", "year", "years", "decade", "decades", "century", "centuries", "millennium", "millennia"),
)


def meaning(sql: str) -> object:
    return duckdb.sql(f"SELECT ({sql})").to_arrow_table().column(0)[0].as_py()


@pytest.mark.parametrize("written", ["INTERVAL '2 {}'", "INTERVAL '2{}'", "INTERVAL '2' {}", "INTERVAL 2 {}"])
def test_units_mean_what_duckdb_makes_of_them_in_a_text(written):
    for word in WORDS:
        read = write_expression(parse_expression(written.format(word)))
        assert meaning(read) == meaning(f"INTERVAL '2 {word}'"), read


@pytest.mark.parametrize("text", ["1 day 02:00:00", "1 hour 5 minutes", "00:05:00", "5 minutes ago", "1.5 min", "7"])
def test_texts_mean_what_duckdb_makes_of_them(text):
    again = write_expression(parse_expression(write_expression(parse_expression(f"INTERVAL '{text}'"))))
    assert meaning(again) == meaning(f"INTERVAL '{text}'")
