"""A trace: every transmission of a run, and who heard it when. Written by an observer of the radio."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from skerry.errors import OptionError
from skerry.model.time import Micros
from skerry.network.message import Kind, Message

__all__ = ["Trace", "Transmission", "read_trace", "write_trace"]


@dataclass(slots=True)
class Transmission:
    """One message on the air: when, from whom, to one receiver or to all neighbours (None), and who heard it when."""

    time_us: Micros
    sender: int
    receiver: int | None
    kind: Kind
    bytes: int
    heard: list[tuple[int, Micros]] = field(default_factory=list)


class Trace:
    """Looks on, and keeps all it sees. A message carries its own identity for as long as it flies.

    >>> from skerry.network.network import Network
    >>> from skerry.network.radio import RadioSettings
    >>> from skerry.network.topology.grid import make_grid
    >>> class Deaf:
    ...     def receive(self, sender: int, message: Message) -> None: ...
    >>> network, trace = Network(make_grid(1, 3), RadioSettings(10, 10)), Trace()
    >>> network.radio.observer = trace
    >>> _ = network.install(lambda board: Deaf())
    >>> network.boards[1].broadcast(Message(Kind.JOIN, (5,), 13))
    >>> network.simulation.run()
    >>> trace.transmissions[0].heard
    [(0, 10), (2, 10)]
    """

    def __init__(self) -> None:
        self._seen: list[Transmission] = []
        self._flying: dict[int, tuple[Message, Transmission]] = {}

    @property
    def transmissions(self) -> list[Transmission]:
        """All that was sent, in order of time: the radio settles when it will try again before it does."""
        return sorted(self._seen, key=lambda each: each.time_us)

    def see_sent(self, time: Micros, sender: int, receiver: int | None, kind: Kind, message: Message) -> Message:
        """Keep a transmission; the copy is known by its identity, and is kept so that no other can have the same."""
        copy, seen = replace(message), Transmission(time, sender, receiver, kind, message.bytes)
        self._seen.append(seen)
        self._flying[id(copy)] = copy, seen
        return copy

    def see_heard(self, time: Micros, receiver: int, message: Message) -> None:
        """Keep who heard it."""
        self._flying[id(message)][1].heard.append((receiver, time))


def write_trace(transmissions: Iterable[Transmission], path: Path) -> None:
    """Write JSON lines with the fields of ``Transmission``; ``heard`` has pairs of a mote and a time."""
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{_format(each)}\n" for each in transmissions)
    except OSError as error:
        raise OptionError(f"cannot write the trace {str(path)!r}: {error.strerror}") from None


def read_trace(path: Path) -> Iterator[Transmission]:
    """Read what ``write_trace`` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            fields = json.loads(line)
            heard = [(mote, Micros(time)) for mote, time in fields.pop("heard")]
            yield Transmission(**{**fields, "kind": Kind(fields["kind"])}, heard=heard)


def _format(seen: Transmission) -> str:
    fields = {name: getattr(seen, name) for name in ("time_us", "sender", "receiver", "kind", "bytes", "heard")}
    return json.dumps(fields)
