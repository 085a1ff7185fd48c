"""Messages are taken apart into readings; what is none has a problem, whatever came with it."""

import json

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


BARE = [
    (b"20.5", ['{"x":20.5}']),
    (b" -1 ", ['{"x":-1}']),
    (b'"ON"', ['{"x":"ON"}']),
    (b"ON", ['{"x":"ON"}']),
    (b'20.5 "', ['{"x":"20.5 \\""}']),
    (b"true", ['{"x":true}']),
    (b"null", ['{"x":null}']),
    (b'[1, {"x": 2}, "a"]', ['{"x":1}', '{"x":2}', '{"x":"a"}']),
    (b'{"readings": [1], "y": 2}', ['{"x":1}']),
    (b'{"y": 2}', ['{"y":2}']),
]


@pytest.mark.parametrize(("payload", "lines"), BARE)
@pytest.mark.parametrize("beside", [b"5", b"[5]"])
def test_value_without_a_key_fills_the_column_of_values(payload, lines, beside):
    received, numbers = unfold([Message("a", each, Micros(0)) for each in (payload, beside)], 99, value_column="x")
    found = [json.loads(line) for line in received.column("line").to_pylist()]
    assert found == [json.loads(line) for line in [*lines, '{"x": 5}']]
    assert received.column("problem").null_count == len(found)
    assert numbers.tolist() == [0] * len(lines) + [1]


@pytest.mark.parametrize("payload", [b"", b"  ", b'{"x": 2', b"[1", b"\xff", b"[[1]]"])
def test_what_is_broken_is_no_value(payload):
    received, _ = unfold([Message("a", payload, Micros(0))], 99, value_column="x")
    assert received.column("problem").null_count == 0
