"""What is acknowledged is on disk, and what comes twice is kept once."""

import json
import threading

import numpy as np
import pytest

from skerry.errors import RunError
from skerry.model.time import Micros
from skerry.sources.spool import writer
from skerry.sources.spool.doubles import Doubles, Identity
from skerry.sources.spool.receiver import Receiver
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.unfold import Message, unfold

COUNTED = Identity("seq", "ts")


def make(origin, *readings, is_repeated=False):
    payload = json.dumps(list(readings)).encode()
    return Message(origin, payload, Micros(1), is_repeated=is_repeated)


def receive(folder, messages, identity=COUNTED):
    with Receiver(folder, 10**6, identity) as receiver:
        for message in messages:
            receiver.put(message)
    return receiver.doubles


def read(folder):
    segments = Segments(folder)
    count = segments.count()
    return [json.loads(line) for batch in segments.read(0, count) for line in batch.column("line").to_pylist()]


def test_message_is_on_disk_when_it_is_done(tmp_path):
    seen, done = [], threading.Event()

    def note():
        seen.extend(read(tmp_path))
        done.set()

    with Receiver(tmp_path, 10**6, Identity()) as receiver:
        receiver.put(make("s1", {"a": 1}), note)
        assert done.wait(60)
    assert seen == [{"a": 1}]


def test_reading_with_a_number_that_came_before_is_a_double(tmp_path):
    first = {"seq": 1, "ts": "2026-01-01", "battery": 3}
    sent = [make("s1", first), make("s1", {**first, "battery": 2}), make("s2", first), make("s1", {**first, "seq": 2})]
    assert receive(tmp_path, sent) == 1
    assert len(read(tmp_path)) == 3


def test_sensor_that_restarts_counts_anew(tmp_path):
    sent = [make("s1", {"seq": 1, "ts": "2026-01-01"}), make("s1", {"seq": 1, "ts": "2026-01-02"})]
    assert receive(tmp_path, sent) == 0


def test_doubles_are_known_after_a_restart(tmp_path):
    sent = [make("s1", {"seq": number, "ts": "2026-01-01"}) for number in range(5)]
    assert receive(tmp_path, sent) == 0
    assert receive(tmp_path, sent) == 5
    assert len(read(tmp_path)) == 5


def test_equal_readings_without_numbers_are_doubles_if_their_message_is_repeated(tmp_path):
    sent = [make("s1", {"a": 1}), make("s1", {"a": 1}), make("s1", {"a": 1}, is_repeated=True)]
    assert receive(tmp_path, sent, Identity()) == 1
    assert len(read(tmp_path)) == 2


def test_readings_of_several_sensors_in_one_topic_are_told_apart():
    sent, numbers = unfold([make("all", {"s": "a", "seq": 1, "ts": "1"}, {"s": "b", "seq": 1, "ts": "1"})], 999)
    assert not Doubles(Identity("seq", "ts", "s")).mark(sent, np.zeros(numbers.size, np.bool_)).any()


def test_where_nothing_names_the_sensor_a_double_says_the_same(tmp_path):
    sent = [make("all", {"device": name, "seq": 1, "ts": "1"}) for name in ("a", "b", "a")]
    assert receive(tmp_path, sent, Identity("seq", "ts", is_anonymous=True)) == 1
    assert [reading["device"] for reading in read(tmp_path)] == ["a", "b"]


def test_failure_to_write_ends_the_run_and_acknowledges_nothing(tmp_path, monkeypatch):
    done = []
    with Receiver(tmp_path, 10**6, Identity()) as receiver:
        monkeypatch.setattr(writer, "_write_all", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        receiver.put(make("s1", {"a": 1}), lambda: done.append(1))
        receiver._thread.join(60)
        with pytest.raises(RunError, match="No space left"):
            receiver.check()
        with pytest.raises(RunError, match="No space left"):
            receiver.put(make("s1", {"a": 2}))
    assert done == []
