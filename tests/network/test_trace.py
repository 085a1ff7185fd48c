import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import OptionError
from skerry.network.message import Kind, Message
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.topology.grid import make_grid
from skerry.network.trace import Trace, read_trace, write_trace

HELLO = Message(Kind.JOIN, ("hello",), 17)


class Relay:
    """Passes on what it hears first."""

    def __init__(self, board: Board) -> None:
        self.board, self.heard = board, 0

    def receive(self, sender: int, message: Message) -> None:
        self.heard += 1
        if self.heard == 1:
            self.board.broadcast(message)
            self.board.send(sender, message)


def flood(loss: float, seed: int, trace: Trace | None, **settings) -> Network:
    network = Network(make_grid(3, 4), RadioSettings(loss=loss, retries=2, **settings), seed)
    network.radio.observer = trace
    network.programs = network.install(Relay)
    network.boards[5].broadcast(HELLO)
    network.simulation.run()
    return network


@given(loss=st.floats(0, 0.9), seed=st.integers(0, 99))
def test_looking_on_changes_nothing(loss, seed):
    seen, unseen = flood(loss, seed, Trace()), flood(loss, seed, None)
    assert seen.radio.tally.by_mote == unseen.radio.tally.by_mote
    assert seen.simulation.now == unseen.simulation.now


@pytest.mark.parametrize("kind", [{}, {"collisions": True}, {"duplication": 0.2, "reordering": 0.2}])
@given(loss=st.floats(0, 0.9), seed=st.integers(0, 99))
def test_trace_has_what_was_counted_and_what_was_heard(kind, loss, seed):
    trace = Trace()
    network = flood(loss, seed, trace, **kind)
    tally, seen = network.radio.tally, trace.transmissions
    assert [sum(each.sender == mote for each in seen) for mote in range(12)] == tally.by_mote
    assert sum(each.kind == Kind.RETRY for each in seen) == tally.by_kind[Kind.RETRY]
    heard = [mote for each in seen for mote, _ in each.heard]
    assert [heard.count(mote) for mote in range(12)] == [program.heard for program in network.programs]


def test_message_to_one_receiver_is_heard_once_and_retries_stand_apart():
    trace = Trace()
    flood(0.5, 7, trace)
    single = [each for each in trace.transmissions if each.receiver is not None]
    assert {len(each.heard) for each in single} == {0, 1}
    assert any(each.kind == Kind.RETRY for each in single)
    assert all(each.time_us < time for each in single for _, time in each.heard)


def test_trace_is_read_as_it_was_written(tmp_path):
    trace = Trace()
    flood(0.3, 1, trace)
    write_trace(trace.transmissions, tmp_path / "run.jsonl")
    assert list(read_trace(tmp_path / "run.jsonl")) == trace.transmissions


def test_trace_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(OptionError, match=r"cannot write the trace .*: No such file"):
        write_trace([], tmp_path / "none" / "run.jsonl")
