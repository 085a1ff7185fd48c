"""Proxies of simulated motes, in simulated time: the product's own, with an ether in place of a broker."""

from collections.abc import Mapping

from skerry.model.time import MICROS, Micros
from skerry.sensors.heard import Heard
from skerry.sensors.messages import Setting
from skerry.sensors.proxies import Proxy
from skerry.sources.mqtt.control import ControlChannel
from skerry.sources.sim.motes.ether import Ether

__all__ = ["SimulatedReceiving"]


class SimulatedReceiving:
    """What a run knows of a source's sensors, and tells them, as ``connector='mqtt'`` has it. Readings go nowhere.

    >>> from skerry.sources.sim.motes import Fleet, FleetSettings
    >>> ether = Ether()
    >>> receiving = SimulatedReceiving(ether)
    >>> receiving.want({}, Setting(asleep=True))
    >>> fleet = Fleet(FleetSettings({"air": 2}), None, start_us=Micros(0), ether=ether)
    >>> fleet.run(seconds=5.0).asleep
    2
    """

    def __init__(self, ether: Ether, prefix: str = "motes", start_us: Micros = Micros(0)) -> None:  # noqa: B008
        self._ether, self._start_us = ether, start_us
        self._channel = ControlChannel(f"{prefix}/{{sensor}}/state", ether.send)
        ether.listen(self._take)

    def check(self) -> None:
        """Nothing has failed."""

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """What is wanted of the sensors from now on, and of those that are not named."""
        self._channel.want(settings, others)

    def list_proxies(self) -> Mapping[str, Proxy]:
        """What is known of the sensors by now."""
        return self._channel.list_proxies()

    def take_heard(self) -> Mapping[str, Heard]:
        """Readings are not counted."""
        return {}

    def settle_heard(self) -> None:
        """Nothing was counted."""

    def _take(self, topic: str, payload: bytes) -> None:
        now = Micros(self._start_us + int(self._ether.tell_seconds() * MICROS["SECOND"]))
        if not self._channel.take_state(topic, payload, now, self._ether.slowest_s):
            self._channel.note_data(topic, payload, now, self._ether.slowest_s)
