"""A spool counts who was heard, and after a crash what was not counted yet."""

import json

from skerry.model.time import Micros
from skerry.sensors.heard import Heard
from skerry.sources.spool.doubles import Identity
from skerry.sources.spool.receiver import Receiver
from skerry.sources.spool.unfold import Message

PATTERN = "(?P<sensor>[^/]*)/data"


def make(sensor, *numbers, at=1):
    rows = [{"seq": number, "ts": f"2026-01-01 00:00:{number:02}"} for number in numbers]
    return Message(f"{sensor}/data", json.dumps(rows).encode(), Micros(at))


def receive(folder, messages, *, is_kept=True, **options):
    """What is heard of messages that are received."""
    identity = options.pop("identity", Identity("seq", "ts"))
    with Receiver(folder, 10**6, identity, pattern=options.pop("pattern", PATTERN)) as receiver:
        for message in messages:
            receiver.put(message)
    found = receiver.counts.take()
    if is_kept:
        receiver.counts.settle()
    return found


def test_readings_doubles_gaps_and_garbled_are_counted_by_sensor(tmp_path):
    sent = [make("a", 1, 2, 5), make("b", 7), make("a", 2, at=4), Message("b/data", b'{"seq', Micros(9))]
    assert receive(tmp_path, sent) == {
        "a": Heard(Micros(4), readings=3, duplicates=1, gaps=1),
        "b": Heard(Micros(9), readings=1, garbled=1),
    }


def test_what_is_no_object_in_a_list_is_garbled(tmp_path):
    sent = [Message("a/data", json.dumps([{"seq": 1}, 3, [], None, "x"]).encode(), Micros(2))]
    assert receive(tmp_path, sent) == {"a": Heard(Micros(2), readings=1, garbled=4)}


def test_sensor_may_be_a_key(tmp_path):
    payload = json.dumps([{"sensor": "a"}, {"sensor": "b"}, {"Sensor": "a"}, {}]).encode()
    found = receive(tmp_path, [Message("all", payload, Micros(3))], identity=Identity(sensor="sensor"), pattern=None)
    assert found == {"a": Heard(Micros(3), readings=2), "b": Heard(Micros(3), readings=1)}


def test_counts_go_on_after_a_restart(tmp_path):
    receive(tmp_path, [make("a", 1, 2)])
    assert receive(tmp_path, [make("a", 2, 4)]) == {"a": Heard(Micros(1), readings=1, duplicates=1, gaps=1)}


def test_what_a_crash_has_left_uncounted_is_counted_by_the_next_writer(tmp_path):
    receive(tmp_path, [make("a", 1)])
    receive(tmp_path, [make("a", 2, 5)], is_kept=False)
    assert receive(tmp_path, [make("b", 1)])["a"] == Heard(Micros(1), readings=2, gaps=1)
    assert receive(tmp_path, []) == {}
