import pytest

from skerry.catalog import Subscription
from skerry.errors import InputError
from skerry.subscriptions.file import read_subscriptions

GOOD = b'{"id": 7, "stream": "road", "predicate": "speed < 30"}\n'


def written(tmp_path, data):
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    return path


def test_lines_are_subscriptions_and_blank_ones_are_nothing(tmp_path):
    assert read_subscriptions(written(tmp_path, GOOD + b"\n" + GOOD)) == [Subscription("7", "road", "speed < 30")] * 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"[" * 100_000, "line 2: nested more than 32 deep"),
        (b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "line 2: nested more than 32 deep"),
        (b'{"id": "\xff"}', "line 2: not valid UTF-8, at byte 9"),
        (b'{"id": "a", "predicate": "x = \'\\ud800\'"}', "line 2: '\\ud800' is half a character"),
        (b"nonsense", "line 2, column 1: not JSON, expecting value"),
        (b"3", "line 2: a subscription is an object"),
        (b'{"id": {"a": 1}}', "line 2: 'id' must be a text, got {\"a\": 1}"),
        (b'{"id": "a", "stream": "b"}', "line 2: 'predicate' is missing"),
        (b" " * (1 << 20) + b"1", "line 2: has more than 1048576 bytes"),
    ],
)
def test_a_wrong_line_is_named_with_the_reason(tmp_path, line, complaint):
    with pytest.raises(InputError) as wrong:
        read_subscriptions(written(tmp_path, GOOD + line))
    assert complaint in str(wrong.value)
