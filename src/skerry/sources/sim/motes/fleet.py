"""A fleet at work: motes take their turns in the order of time, and one thread drives them and their connections."""

import time
from collections.abc import Callable
from heapq import heappop, heappush
from pathlib import Path

from paho.mqtt.client import MQTTMessage

from skerry.errors import InputError
from skerry.model.time import MICROS, Micros
from skerry.sensors.broker_address import BrokerAddress
from skerry.sources.sim.motes.ether import Ether
from skerry.sources.sim.motes.kinds import KINDS
from skerry.sources.sim.motes.link import Link
from skerry.sources.sim.motes.mote import Hearing, Mote
from skerry.sources.sim.motes.radio import Radio
from skerry.sources.sim.motes.sender import Sender
from skerry.sources.sim.motes.settings import FleetSettings
from skerry.sources.sim.motes.tally import Tally
from skerry.sources.sim.motes.truth import Truth

__all__ = ["Fleet"]

_TURNS_AT_ONCE = 10
"""Connections are looked at in between, so that control is heard in time."""
_FAREWELL_S = 10.0
"""How long the end of a run waits for what is not acknowledged yet."""


class Fleet:
    """Motes of some kinds on a broker.

    About once a second, each at a time of its own within the second, a mote takes its turn: it sends what it has
    measured since the last one, and listens. One that sleeps, or has nothing to send, looks in every few seconds.
    Times are those of the simulation. It begins at ``start_us``, or now.

    ``Fleet(FleetSettings({"air": 10}), BrokerAddress.parse("mqtt://127.0.0.1")).run(seconds=5.0)``

    In an ``ether`` instead of on a broker, seconds are simulated: a day takes as long as the motes have to do.
    """

    def __init__(
        self,
        settings: FleetSettings,
        address: BrokerAddress | None,
        truth: Path | None = None,
        certificate: Path | None = None,
        start_us: Micros | None = None,
        ether: Ether | None = None,
    ) -> None:
        self.settings, self.tally, self._truth = settings, Tally(), Truth(truth)
        self.motes, self._is_live = _build(settings), start_us is None
        self.start_us = Micros(time.time_ns() // 1000) if start_us is None else start_us
        self._by_topic = {f"{settings.prefix}/{mote.name}/control": mote for mote in self.motes}
        self._clock: Callable[[], float] = ether.tell_seconds if ether else time.monotonic
        self._radio = self._join(ether) if ether else self._tune(address, certificate)
        self._sender = Sender(settings, self._radio, self._truth, self.tally, self._clock)
        self._numbers = {mote.name: number for number, mote in enumerate(self.motes)}
        self._every_us = round(settings.publish_every_s * MICROS["SECOND"])
        self._began_s = 0.0
        self._turns: list[tuple[int, int, int]] = []

    def run(
        self,
        seconds: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
        watch: Callable[[Tally], None] = lambda tally: None,
    ) -> Tally:
        """Simulate for so many seconds of the clock, or until told to stop; give what it came to.

        ``watch`` is called a few times per second.
        """
        self._radio.connect()
        self._begin()
        ends_s = float("inf") if seconds is None else self._began_s + seconds
        watched_s = 0.0
        while not stopped() and (now_s := self._clock()) < ends_s:
            self._take_turns()
            self._radio.poll(min(self._until_next_turn_s(), ends_s - now_s, 0.1))
            if now_s - watched_s > 0.2:
                watched_s = now_s
                watch(self._count())
        return self._finish()

    @property
    def now_us(self) -> Micros:
        """The time of the simulation."""
        return Micros(self.start_us + int((self._clock() - self._began_s) * self.settings.speed * 1e6))

    def _tune(self, address: BrokerAddress | None, certificate: Path | None) -> Link:
        if address is None:
            raise InputError("a fleet needs the address of a broker, or an ether; got neither")
        return Radio(address, list(self._by_topic), self._hear, self._acknowledge, certificate)

    def _join(self, ether: Ether) -> Link:
        ether.join(self._hear, self._acknowledge)
        return ether

    def _begin(self) -> None:
        for mote in self.motes:
            mote.prepare(self.start_us)
        self._introduce()
        self._began_s = self._clock()
        if self._is_live:
            self.start_us = Micros(time.time_ns() // 1000)
        self._turns = self._plan()

    def _plan(self) -> list[tuple[int, int, int]]:
        """Spread the first turns over a second: when, whose, and since when that mote has measured."""
        count, every_us = len(self.motes), self._every_us
        # In steps that are prime to the count, mostly: neighbours by number are not neighbours in time.
        turns = [self.start_us + number * 7919 % count * every_us // count for number in range(count)]
        return sorted((turn_us, number, self.start_us) for number, turn_us in enumerate(turns))

    def _introduce(self) -> None:
        self.tally.motes = len(self.motes)
        for mote in self.motes:
            where = {"kind": mote.kind.name, "latitude": mote.latitude, "longitude": mote.longitude}
            self._truth.note("mote", mote.name, **where, clock_error_s=mote.faults.clock_error_us / 1e6)

    def _take_turns(self) -> None:
        now_us = self.now_us
        for _ in range(_TURNS_AT_ONCE):
            if not self._turns or self._turns[0][0] > now_us:
                return
            turn_us, number, since_us = heappop(self._turns)
            self.tally.longest_lag_s = max(self.tally.longest_lag_s, (now_us - turn_us) / 1e6)
            self._take_turn(number, Micros(since_us), Micros(turn_us))
            if self.motes[number].meter.battery > 0.0:
                heappush(self._turns, (turn_us + self._every_us, number, turn_us))
            else:
                self._run_down(self.motes[number], turn_us)

    def _take_turn(self, number: int, since_us: Micros, now_us: Micros) -> None:
        mote = self.motes[number]
        if mote.faults.is_dead(Micros(now_us - self.start_us)):
            return self._die(mote, now_us)
        if not mote.is_alive:
            self._revive(mote, number, now_us)
        readings = mote.measure(since_us, now_us)
        if readings:
            sent = self._sender.send(mote, number, readings, now_us)
        else:
            sent = self._sender.send_held_back(mote, number, now_us)
        mote.spend(now_us - since_us, sent)
        if not readings:
            self._look_in(mote, number, now_us)
        elif now_us - mote.state_sent_us >= self.settings.state_every_s * MICROS["SECOND"]:
            self._sender.send_state(mote, number, now_us)
        return None

    def _look_in(self, mote: Mote, number: int, now_us: Micros) -> None:
        """Say that it is there, and listen, if it has been silent for a while."""
        if now_us - mote.silent_since_us >= self.settings.look_in_every_s * MICROS["SECOND"]:
            self._sender.send_state(mote, number, now_us)

    def _die(self, mote: Mote, now_us: Micros) -> None:
        if mote.is_alive:
            mote.is_alive = False
            self.tally.deaths += 1
            self._sender.forget(mote)
            self._truth.note("died", mote.name, at_us=now_us)

    def _revive(self, mote: Mote, number: int, now_us: Micros) -> None:
        """Come back as it was built, and say so."""
        mote.is_alive = True
        mote.restart()
        self.tally.restarts += 1
        self._truth.note("restarted", mote.name, at_us=now_us)
        self._sender.send_state(mote, number, now_us)

    def _run_down(self, mote: Mote, now_us: int) -> None:
        mote.is_alive = False
        self.tally.batteries_empty += 1
        self._truth.note("empty", mote.name, at_us=now_us)

    def _hear(self, topic: str, message: MQTTMessage) -> None:
        mote = self._by_topic.get(topic)
        if mote is None:
            return
        now_s, opened_s = self._clock(), mote.listens_until_s - self.settings.listens_ms / 1000
        heard = mote.hear(bytes(message.payload), self._is_in_time(mote) and not message.retain)
        self.tally.controls[heard] += 1
        after_ms = round((now_s - opened_s) * 1000, 3) if opened_s > 0 else None
        payload = message.payload[:1000].decode("utf-8", "replace")
        when = {"received": time.time(), "after_ms": after_ms, "window": mote.windows}
        self._truth.note("control", mote.name, heard=heard, **when, payload=payload)
        if heard not in (Hearing.DEAD, Hearing.OUTSIDE, Hearing.GARBLED):
            self._sender.send_state(mote, self._numbers[mote.name], self.now_us)

    def _is_in_time(self, mote: Mote) -> bool:
        """Whether what is taken now may have come while a mote listened.

        On a busy machine the simulator itself is late. Only what has certainly come afterwards is held against the
        sender: what was not there yet at a look after the window.
        """
        return self.settings.listens_ms > 0 and self._radio.emptied_s <= mote.listens_until_s

    def _acknowledge(self, token: object) -> None:
        self._sender.acknowledge(token)

    def _until_next_turn_s(self) -> float:
        if not self._turns:
            return 1.0
        return max((self._turns[0][0] - self.now_us) / 1e6 / self.settings.speed, 0.0)

    def _count(self) -> Tally:
        self.tally.asleep = sum(mote.is_asleep for mote in self.motes)
        self.tally.energy_mj = sum(mote.meter.total_mj for mote in self.motes)
        self.tally.connection_losses = self._radio.losses
        return self.tally

    def _finish(self) -> Tally:
        """Wait a little for the broker's answers, so that the truth is whole."""
        deadline_s = self._clock() + _FAREWELL_S
        while self._radio.unacknowledged and self._clock() < deadline_s:
            self._radio.poll(0.05)
        self._sender.give_up(self._radio.unacknowledged)
        self._radio.close()
        for mote in self.motes:
            counts = {"states": mote.states, "windows": mote.windows, "outside": mote.outside, "control": mote.control}
            self._truth.note("energy", mote.name, **_describe_energy(mote), **counts, **mote.setting.to_json())
        self._truth.summarize(self._count().to_json())
        self._truth.close()
        return self.tally


def _describe_energy(mote: Mote) -> dict[str, float]:
    """What a mote has used, by component, and what is left."""
    parts = ("radio_mj", "processor_mj", "conversion_mj", "idle_mj", "listening_mj")
    used = {name: round(getattr(mote.meter, name), 6) for name in parts}
    return {"energy_mj": round(mote.meter.total_mj, 6), **used, "battery": round(mote.meter.battery, 9)}


def _build(settings: FleetSettings) -> list[Mote]:
    """Number the motes through all kinds, and each kind's from 0."""
    wanted = [(kind, index) for kind, count in settings.kinds.items() for index in range(count)]
    return [Mote(settings, KINDS[kind], index, number) for number, (kind, index) in enumerate(wanted)]
