"""Whatever a user types, the answer is a checked program or a code, a location and plain words."""

import re

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from skerry.deduce.checks import check
from skerry.deduce.describe import describe
from skerry.deduce.rule_text import write
from skerry.errors import RuleError
from skerry.lang.rules import read
from tests.lang.rules import texts

leak = re.compile(r"<class|Token\(|object at 0x|Traceback|lark|\$|\x1b")


def refusal(text):
    """Why a text is refused, or None if it can run. What is read reads back."""
    try:
        program = read(text)
        assert read(write(program)).rules == program.rules
        describe(check(program))
    except RuleError as error:
        return str(error)
    return None


def test_text_is_read_if_nothing_is_changed():
    assert refusal(texts.edit([])) is None


@settings(max_examples=300)
@given(texts.changes)
def test_mutated_text_can_run_or_is_refused_in_plain_words(changes):
    message = refusal(texts.edit(changes))
    assert message is None or re.match(r"E\d{3} ", message)
    assert message is None or not leak.search(message)


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_any_text_can_run_or_is_refused(text):
    message = refusal(text)
    assert message is None or re.match(r"E\d{3} ", message)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_20000_mutated_texts_can_run_or_are_refused(part):
    @seed(part)
    @settings(max_examples=1_000)
    @given(texts.changes)
    def check_text(changes):
        message = refusal(texts.edit(changes))
        assert message is None or re.match(r"E\d{3} ", message)

    check_text()
