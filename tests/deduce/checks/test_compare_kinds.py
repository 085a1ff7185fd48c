"""Comparisons of values that are never of one kind."""

import pytest

from skerry.deduce.checks import check, check_kinds_of_facts
from skerry.errors import RuleError
from skerry.lang.rules import read
from tests.deduce.checks.programs import refusal

BASES = "base i(x: int). base f(x: float). base s(x: string). base n(x: node). base l(x: list). base t(x: time). "


@pytest.mark.parametrize(
    ("body", "sides"),
    [
        ("i(x), x < 'a'", "x is int, 'a' is string"),
        ("i(x), x = '1'", "x is int, '1' is string"),
        ("i(x), x != '1'", "x is int, '1' is string"),
        ("i(x), 1 = '1'", "1 is int, '1' is string"),
        ("i(x), s(y), x >= y", "x is int, y is string"),
        ("l(x), x > 3", "x is list, 3 is int"),
        ("n(x), x = TRUE", "x is node, TRUE is bool"),
        ("s(x), i(y), y - 1 = x", "what is computed is float, x is string"),
        ("t(x), x < '2026-01-01'", "x is time, '2026-01-01' is string"),
    ],
)
def test_comparison_of_two_kinds_is_refused(body, sides):
    assert f"compares two kinds: {sides}" in refusal(f"{BASES}p(x) :- {body}.")


@pytest.mark.parametrize(
    "body",
    [
        "i(x), f(y), x < y",
        "i(x), t(y), x < y",
        "n(x), x = 'a'",
        "n(x), x < 3",
        "any(x), x < 3",
        "any(x), any(y), x = y",
        "i(x), y = 'a', s(y)",
        "l(x), x = [1]",
        "t(x), t(y), x - y > 5 s",
    ],
)
def test_comparison_that_may_hold_is_not(body):
    assert refusal(f"{BASES}p(x) :- {body}.") is None


def facts_refusal(text, **facts):
    try:
        check_kinds_of_facts(check(read(text)), facts)
    except RuleError as error:
        return str(error)
    return None


def test_facts_tell_kinds_that_a_program_leaves_open():
    assert "E110 line 1, column 15, rule 1: x < 'a' compares two" in facts_refusal("p(x) :- r(x), x < 'a'.", r=[(1,)])
    assert facts_refusal("p(x) :- r(x), x < 'a'.", r=[(1,), ("b",)]) is None
    assert facts_refusal("q(x) :- r(x). p(x) :- q(x), x > 3.", r=[("b",)]) is not None


def test_facts_of_two_kinds_may_be_asked_whether_they_are_equal():
    assert facts_refusal("p(x) :- r(x), s(y), x != y.", r=[(1,)], s=[("b",)]) is None
