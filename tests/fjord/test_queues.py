"""Laws that every queue keeps, whatever its kind."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import RunError
from skerry.fjord.queues.lossy import LossyReader, LossyWriter, open_lossy
from skerry.fjord.queues.message import Advance, Note, Rows
from skerry.fjord.queues.pipe import PipeClosed, PipeReader, PipeWriter
from skerry.fjord.queues.pull import PullQueue
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.queues.transactional import TransactionalReader, TransactionalWriter
from skerry.model.time import Micros

MESSAGES = st.lists(
    st.builds(Advance, st.integers(-5, 5).map(Micros), st.dictionaries(st.text(max_size=2), st.integers(-5, 5)))
    | st.builds(Note, st.text(max_size=3), st.dictionaries(st.text(max_size=2), st.booleans()))
    | st.builds(
        lambda numbers, stream: Rows(pa.record_batch({"a": pa.array(numbers, pa.int64())}), stream),
        st.lists(st.integers(0, 9), max_size=4),
        st.integers(0, 2),
    ),
    max_size=12,
)


def read_all(queue):
    return list(iter(queue.get, None))


@given(messages=MESSAGES)
def test_push_queue_gives_what_went_in_as_it_was_and_then_nothing(messages):
    queue = PushQueue()
    for message in messages:
        queue.put(message)
    assert len(queue) == len(messages)
    found = read_all(queue)
    assert all(out is put for out, put in zip(found, messages, strict=True))
    assert queue.get() is None


@given(messages=MESSAGES, capacity=st.integers(1, 6))
def test_full_push_queue_tells_its_writer_and_loses_nothing(messages, capacity):
    queue, found = PushQueue(capacity), []
    for message in messages:
        while queue.is_full:
            found.append(queue.get())
        queue.put(message)
    assert found + read_all(queue) == messages


@given(messages=MESSAGES, capacity=st.integers(1, 6))
def test_push_queue_holds_no_more_than_its_capacity_and_one_message(messages, capacity):
    queue, held = PushQueue(capacity), 0
    for message in messages:
        rows = message.batch.num_rows if isinstance(message, Rows) else 0
        if queue.is_full and rows:
            assert held >= capacity
            with pytest.raises(RunError, match=f"a queue of {capacity} rows is full"):
                queue.put(message)
        else:
            assert held < capacity or not rows
            queue.put(message)
            held += rows


@given(messages=MESSAGES, silent=st.lists(st.booleans(), max_size=12))
def test_pull_queue_runs_its_writer_until_it_gives_something_or_has_nothing(messages, silent):
    queue, ahead = PullQueue(), []
    turns = iter([None] * silent.count(True) + messages if silent else messages)

    def turn():
        ahead.append(queue.is_full)
        for message in turns:
            if message is not None:
                queue.put(message)
            return True
        return False

    queue.pull_from(turn)
    assert read_all(queue) == messages
    assert not any(ahead), "its writer works no further ahead than one message"


def test_pull_queue_without_a_writer_has_nothing():
    assert PullQueue().get() is None


def test_one_turn_of_a_pulled_writer_may_give_several_messages():
    queue, turns = PullQueue(), iter([True, False])

    def turn():
        has_more = next(turns)
        for moment in (1, 2) if has_more else ():
            queue.put(Advance(Micros(moment)))
        return has_more

    queue.pull_from(turn)
    assert read_all(queue) == [Advance(Micros(1)), Advance(Micros(2))]


ECHO = """
import socket, sys
from skerry.fjord.queues.pipe import PipeClosed, PipeReader, PipeWriter
end = socket.socket(fileno=int(sys.argv[1]))
reader, writer = PipeReader(end), PipeWriter(end)
try:
    while True:
        writer.put(reader.wait())
except PipeClosed:
    pass
"""


@pytest.fixture(scope="module")
def echo() -> Iterator[tuple[PipeWriter, PipeReader]]:
    """The ends of two queues, to and from a process that sends back what comes."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-c", ECHO, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    yield PipeWriter(ours), PipeReader(ours)
    ours.close()
    assert process.wait() == 0


@given(messages=MESSAGES)
def test_pipe_gives_what_went_in_as_it_was_in_another_process_and_back(messages, echo):
    writer, reader = echo
    for message in messages:
        writer.put(message)
    assert [reader.wait() for _ in messages] == messages
    assert reader.get() is None


def test_pipe_whose_other_end_is_gone_says_so():
    ours, theirs = socket.socketpair()
    theirs.close()
    with pytest.raises(PipeClosed):
        PipeReader(ours).wait()
    with pytest.raises(PipeClosed):
        PipeWriter(ours).put(Note("look"))
    ours.close()


@given(messages=MESSAGES, segment_bytes=st.sampled_from([1, 300, 1 << 20]))
def test_transactional_queue_gives_what_went_in_as_it_was(messages, segment_bytes):
    with TemporaryDirectory() as folder:
        writer = TransactionalWriter(Path(folder), segment_bytes=segment_bytes)
        reader, found = TransactionalReader(Path(folder)), []
        for message in messages:
            writer.put(message)
            found.append(reader.get())
            assert reader.get() is None
        assert found == messages
        assert read_all(TransactionalReader(Path(folder))) == messages
        writer.close()
        reader.close()


CRASHES = st.lists(st.tuples(st.sampled_from(["writer", "reader", "torn"]), st.integers(0, 11)), max_size=8)


@settings(max_examples=40)
@given(messages=MESSAGES, crashes=CRASHES, kept=st.integers(1, 4), segment_bytes=st.sampled_from([1, 300]))
def test_every_message_comes_once_whichever_end_dies_at_any_moment(messages, crashes, kept, segment_bytes):
    """Each end keeps how far it is now and then, and what dies begins again from there."""
    deaths: dict[int, list[str]] = {}
    for end, moment in crashes:
        deaths.setdefault(moment, []).append(end)
    with TemporaryDirectory() as name:
        folder = Path(name)
        writer, reader = TransactionalWriter(folder, segment_bytes=segment_bytes), TransactionalReader(folder)
        written = done = 0
        found, kept_found = [], []
        while done < len(messages):
            writer.put(messages[written])
            written += 1
            for end in deaths.pop(written, ()):
                if end == "reader":
                    reader.close()
                    reader, found = TransactionalReader(folder, done), list(kept_found)
                else:
                    writer.close()
                    if end == "torn":
                        tear(folder)
                    writer = TransactionalWriter(folder, segment_bytes=segment_bytes)
                    written = min(done, writer.count)
                    writer.go_back(written)
            if written % kept == 0 or written == len(messages):
                found += read_all(reader)
                if reader.position >= written:
                    done, kept_found = reader.position, list(found)
                    writer.forget(done)
        assert found == messages
        writer.close()
        reader.close()


def tear(folder):
    """Cut a message short that was just being written, behind all that are whole."""
    last = max(folder.glob("*.queue"), key=lambda path: int(path.stem))
    with last.open("ab") as file:
        file.write(b"SKQ1torn")


@pytest.mark.parametrize("offset", [0, 5, -1])
def test_damaged_message_is_found_out_and_named(tmp_path, offset):
    writer = TransactionalWriter(tmp_path)
    writer.put(Rows(pa.record_batch({"a": [1, 2, 3]})))
    writer.close()
    path = tmp_path / "000000000000.queue"
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"000000000000.queue, byte 0: a queue is damaged"):
        TransactionalReader(tmp_path).get()
    with pytest.raises(RunError, match="a queue is damaged"):
        TransactionalWriter(tmp_path)


def test_messages_that_are_forgotten_are_gone_with_their_files(tmp_path):
    writer = TransactionalWriter(tmp_path, segment_bytes=1)
    for _ in range(5):
        writer.put(Note("look"))
    writer.forget(3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000000003.queue", "000000000004.queue"]
    assert len(read_all(TransactionalReader(tmp_path, 3))) == 2
    with pytest.raises(RunError, match="begins with message 3; 1 is gone"):
        TransactionalReader(tmp_path, 1).get()
    writer.close()


@given(messages=MESSAGES, reads=st.lists(st.booleans(), max_size=12))
def test_lossy_queue_gives_each_message_once_or_counts_it(messages, reads):
    ends = open_lossy()
    writer, reader, found = LossyWriter(ends[0]), LossyReader(ends[1]), []
    for message, reads_now in zip(messages, reads + [False] * len(messages), strict=False):
        writer.put(message)
        found += read_all(reader) if reads_now else []
    assert found + read_all(reader) == messages
    assert (writer.dropped, reader.missed) == (0, 0)
    for end in ends:
        end.close()


def test_lossy_queue_that_nobody_reads_drops_and_both_ends_count():
    ours, theirs = open_lossy()
    writer, reader = LossyWriter(ours), LossyReader(theirs)
    messages = [Note(str(number)) for number in range(5_000)]
    for message in messages:
        writer.put(message)
    found = read_all(reader)
    assert writer.dropped > 0
    assert len(found) + writer.dropped == len(messages)
    assert found == messages[: len(found)]
    writer.put(Note("last"))
    assert reader.get() == Note("last")
    assert reader.missed == writer.dropped
    ours.close()
    theirs.close()


def test_message_that_a_lossy_queue_can_never_carry_is_refused():
    ours, theirs = open_lossy()
    with pytest.raises(RunError, match="131,072 bytes at most"):
        LossyWriter(ours).put(Note("x" * 200_000))
    ours.close()
    theirs.close()
