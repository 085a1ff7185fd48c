import pytest

from skerry.errors import OptionError
from skerry.model.options import (
    Option,
    Owner,
    character,
    moment,
    number,
    one_of,
    parse_options,
    span_of_time,
    text,
    truth_value,
    whole_number,
)

FAX = Owner("connector 'fax'")


@pytest.mark.parametrize(
    ("parser", "written", "value"),
    [
        (text(), "a b", "a b"),
        (whole_number(1, 20), "12", 12),
        (number(0, 1), "1e-3", 0.001),
        (truth_value(), "FALSE", False),
        (span_of_time(1, 10**7), "250ms", 250_000),
        (moment(), "1970-01-01T01:00:01+01:00", 1_000_000),
        (one_of("a", "b"), "b", "b"),
        (character(), r"\t", "\t"),
    ],
)
def test_value_is_read_from_its_text(parser, written, value):
    assert parse_options({"o": written}, (Option("o", parser),), FAX) == {"o": value}
    assert parse_options({}, (Option("o", parser, written),), FAX) == {"o": value}


@pytest.mark.parametrize(
    ("parser", "written", "expected"),
    [
        (whole_number(1, 20), "²", "a whole number from 1 to 20"),
        (whole_number(1, 20), "21", "a whole number from 1 to 20"),
        (number(0, 1), "nan", "a number from 0 to 1"),
        (truth_value(), "maybe", "'true' or 'false'"),
        (span_of_time(1_000, 10**6), "1min", "a span of time such as '250ms', '1s' or '10min', from 1ms to 1s"),
        (moment(), "soon", "a time such as '2000-06-05 06:00:00'"),
        (one_of("a", "b"), "xyz", "one of a, b"),
        (character(), '"', "one ASCII character, no quote and no line end"),
    ],
)
def test_wrong_value_is_refused_with_what_is_expected(parser, written, expected):
    with pytest.raises(OptionError) as raised:
        parse_options({"o": written}, (Option("o", parser),), FAX)
    assert str(raised.value) == f"option o of connector 'fax' must be {expected}; got {written!r}"


def test_option_without_a_default_is_none_unless_it_is_given():
    declared = (Option("o", whole_number(1, 20)),)
    assert parse_options({}, declared, FAX) == parse_options({"o": ""}, declared, FAX) == {"o": None}


@pytest.mark.parametrize("given", [{}, {"o": ""}])
def test_required_option_is_missing_without_a_value(given):
    with pytest.raises(OptionError, match="option o of connector 'fax' is missing; give one such as 'x'"):
        parse_options(given, (Option("o", text(), required=True, example="'x'"),), FAX)


def test_unknown_option_lists_the_known_ones_and_the_nearest():
    declared = (Option("path", text()), Option("header", text()))
    with pytest.raises(OptionError) as raised:
        parse_options({"paht": "x"}, declared, FAX)
    assert str(raised.value) == "unknown option 'paht' of connector 'fax'; it has header, path; did you mean 'path'?"


def test_unknown_option_like_none_has_no_hint():
    with pytest.raises(OptionError, match=r"it has path$"):
        parse_options({"colour": "x"}, (Option("path", text()),), FAX)


def test_wrong_word_names_the_nearest():
    with pytest.raises(OptionError, match="must be one of final, early; got 'finall'; did you mean 'final'"):
        parse_options({"emit": "finall"}, (Option("emit", one_of("final", "early")),), FAX)


def test_owner_words_its_errors():
    view = Owner("view 'v'", wrong="{owner}: {option} is {given!r}; known are {known}")
    with pytest.raises(OptionError, match="view 'v': emit is 'x'; known are final, early"):
        parse_options({"emit": "x"}, (Option("emit", one_of("final", "early")),), view)
