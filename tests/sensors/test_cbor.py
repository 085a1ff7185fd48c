"""CBOR from outside: read, or refused with a reason, and never more than it looks."""

import json
import random

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.sensors.cbor import read_cbor
from skerry.sources.mqtt.cbor import to_json

SHARED = b"\xd8\x1c\x82\x61a" + b"\xd8\x1d\x00"
"""A list that holds itself."""


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_reason(payload):
    data, problem = to_json(payload)
    assert problem or isinstance(json.loads(data), object)


def test_what_is_broken_says_why():
    draw, sound = random.Random(1), cbor2.dumps({"readings": [{"ts": 5, "x": [1.5, b"x", None]}], "n": 2**70})
    for _ in range(2_000):
        broken = bytearray(sound)
        for _ in range(draw.randrange(1, 4)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        data, problem = to_json(bytes(broken))
        assert problem is None or (data == broken and problem)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "not valid CBOR: premature end"),
        (b"\xa0\x01", "not valid CBOR: more bytes behind its end"),
        (b"\xa0\xff", "not valid CBOR: more bytes behind its end"),
        (b"\xd8\x1e\x82\x01\x00", "not valid CBOR: error decoding rational"),
        (b"\x81" * 99 + b"\x01", "not valid CBOR: "),
        (SHARED, "references make more than"),
        (b"\xa1\xa0\x01", "keys must be"),
        (cbor2.dumps({"x": 10**5_000}), "integer string conversion"),
    ],
)
def test_reason_is_told(payload, reason):
    assert reason in to_json(payload)[1]


def test_references_make_no_gigabytes():
    shared = [["x" * 99] * 99]
    for _ in range(9):
        shared = [shared] * 9
    payload = cbor2.dumps(shared, value_sharing=True)
    assert len(payload) < 20_000
    assert "references make more than" in to_json(payload)[1]


def test_few_references_are_followed():
    row = {"ts": 5, "x": 1.5}
    assert json.loads(to_json(cbor2.dumps([row, row], value_sharing=True))[0]) == [row, row]


def test_mapping_with_a_tag_around_it_is_a_mapping():
    payload = b"\xd9\xd9\xf7" + cbor2.dumps({"a": {"b": 1}})
    assert read_cbor(payload) == {"a": {"b": 1}}
    assert to_json(payload)[0] == b'{"a": {"b": 1}}'
