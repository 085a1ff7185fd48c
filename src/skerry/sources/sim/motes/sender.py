"""From readings to messages, with the faults on the way, and from the broker's answers to the ground truth."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sources.sim.motes.link import Link
from skerry.sources.sim.motes.mote import Mote, Reading
from skerry.sources.sim.motes.payload import ENCODERS, TIME_WRITERS, encode_state, garble
from skerry.sources.sim.motes.settings import FleetSettings
from skerry.sources.sim.motes.tally import Tally
from skerry.sources.sim.motes.truth import Truth

__all__ = ["Sender"]

_LONGEST_HOLD_US = 5 * MICROS["SECOND"]


@dataclass(frozen=True)
class _Message:
    """A message of readings: as it is sent, and what is in it, if it can be read."""

    mote: Mote
    number: int
    readings: list[dict[str, Any]]
    payload: bytes
    is_garbled: bool


@dataclass(frozen=True)
class _Sent:
    """What waits for the broker's answer: a message, or a copy of one, or a state if there is none."""

    mote: Mote
    message: _Message | None = None
    is_copy: bool = False


class Sender:
    """Sends for all motes of a fleet. State: the message that each mote holds back, if it does."""

    def __init__(
        self, settings: FleetSettings, radio: Link, truth: Truth, tally: Tally, clock: Callable[[], float]
    ) -> None:
        self._settings, self._radio, self._truth, self._tally, self._clock = settings, radio, truth, tally, clock
        self._encode, self._write_time = ENCODERS[settings.encoding], TIME_WRITERS[settings.time_form]
        self._held_back: dict[str, tuple[_Message, Micros]] = {}

    def send(self, mote: Mote, number: int, readings: list[Reading], now_us: Micros) -> int:
        """Send readings in a message, perhaps twice, broken, or after the next one; say how many went over the radio.

        A message that is held back costs when it is sent.
        """
        message = self._compose(mote, readings)
        held_back, _ = self._held_back.pop(mote.name, (None, 0))
        if held_back is None and mote.faults.is_held_back(message.number):
            self._held_back[mote.name] = message, now_us
            self._tally.reordered += 1
            return 0
        mote.silent_since_us = now_us
        waiting = [message] if held_back is None else [message, held_back]
        return sum(self._send(each, number) for each in waiting)

    def send_held_back(self, mote: Mote, number: int, now_us: Micros) -> int:
        """Send what a mote has held back for long, though nothing else is to be sent; say how many went over the radio.

        A mote that seldom has something to say would hold a message back until it is late everywhere.
        """
        held_back, since_us = self._held_back.get(mote.name, (None, now_us))
        if held_back is None or now_us - since_us < _LONGEST_HOLD_US:
            return 0
        del self._held_back[mote.name]
        mote.silent_since_us = now_us
        return self._send(held_back, number)

    def send_state(self, mote: Mote, number: int, now_us: Micros) -> None:
        """Say how a mote is, for whoever asks later too; if that cannot be done now, at its next turn."""
        payload = encode_state(mote.describe().to_json())
        if self._radio.publish(number, self._topic(mote, "state"), payload, _Sent(mote), is_retained=True):
            mote.silent_since_us = mote.state_sent_us = now_us
            mote.spend_state()
        else:
            mote.silent_since_us = mote.state_sent_us = Micros(0)

    def forget(self, mote: Mote) -> None:
        """Lose what a mote held back."""
        lost, _ = self._held_back.pop(mote.name, (None, 0))
        if lost is not None:
            self._tally.lost_readings += len(lost.readings)

    def acknowledge(self, sent: Any) -> None:
        """Note what the broker has. From now on the mote listens, for it knows that it was heard."""
        if sent.mote.is_alive:
            sent.mote.listen(self._clock())
        message = sent.message
        if message is None:
            self._tally.states += 1
        elif sent.is_copy:
            self._tally.duplicates += 1
            self._truth.note("duplicate", sent.mote.name, message=message.number)
        elif message.is_garbled:
            self._tally.garbled_messages += 1
            self._tally.garbled_readings += len(message.readings)
            self._truth.note("garbled", sent.mote.name, message=message.number, payload=message.payload.hex())
        else:
            self._tally.messages += 1
            self._tally.readings += len(message.readings)
            self._note_readings("reading", message)

    def give_up(self, unacknowledged: Iterable[Any]) -> None:
        """Note what the broker may have or not: the run is over."""
        for message in (sent.message for sent in unacknowledged if not sent.is_copy):
            if message is not None and not message.is_garbled:
                self._tally.unacknowledged_readings += len(message.readings)
                self._note_readings("unacknowledged", message)
        for message, _ in self._held_back.values():
            self._tally.lost_readings += len(message.readings)

    def _compose(self, mote: Mote, readings: list[Reading]) -> _Message:
        rows = [
            {"ts": self._write_time(reading.time_us), "seq": reading.sequence, **reading.columns}
            for reading in readings
        ]
        number, mote.messages = mote.messages, mote.messages + 1
        body = {"readings": rows, "listens_ms": self._settings.listens_ms, "seq": number}
        choice = mote.faults.garbles(number)
        payload = self._encode(body) if choice is None else garble(body, self._settings.encoding, choice)
        return _Message(mote, number, rows, payload, choice is not None)

    def _send(self, message: _Message, number: int) -> int:
        """Send a message and, by a fault, again."""
        copies = 2 if message.mote.faults.is_doubled(message.number) else 1
        topic = self._topic(message.mote, "data")
        for copy in range(copies):
            if not self._radio.publish(number, topic, message.payload, _Sent(message.mote, message, copy > 0)):
                self._tally.lost_readings += 0 if copy else len(message.readings)
        return copies * len(message.readings)

    def _note_readings(self, what: str, message: _Message) -> None:
        for row in message.readings:
            self._truth.note(what, message.mote.name, message=message.number, **row)

    def _topic(self, mote: Mote, what: str) -> str:
        return f"{self._settings.prefix}/{mote.name}/{what}"
