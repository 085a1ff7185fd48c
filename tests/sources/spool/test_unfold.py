"""Messages are taken apart into readings; what is none has a problem, whatever came with it."""

import pytest

from skerry.model.time import Micros
from skerry.sources.spool.unfold import Message, unfold

NO_OBJECT = "not a JSON object"
ALONE = [(b"{}", None), (b"?", NO_OBJECT), (b"3", NO_OBJECT), (b"", NO_OBJECT), (b"\xff", "not valid UTF-8")]


def find_problems(*payloads, problem=None):
    received, _ = unfold([Message("a", payload, Micros(0), problem) for payload in payloads], longest=99)
    return received.column("problem").to_pylist()


@pytest.mark.parametrize(("payload", "problem"), ALONE)
def test_message_is_an_object_or_has_a_problem(payload, problem):
    assert find_problems(payload) == [problem]


@pytest.mark.parametrize(("payload", "problem"), ALONE)
def test_message_beside_a_list_is_the_same(payload, problem):
    assert find_problems(payload, b'[{"x": 1}, 2]') == [problem, None, NO_OBJECT]


def test_what_could_not_be_decoded_is_one_problem_and_no_list():
    assert find_problems(b"[]", b"[1, 2]", problem="not valid CBOR") == ["not valid CBOR"] * 2
