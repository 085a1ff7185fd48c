"""Proxies: one per sensor, longer-lived than any query. They bring sensors to do what the queries want.

A proxy compares what its sensor says of itself with what is wanted, and as long as they differ it sends control: only
while the sensor listens, again with growing pauses until the sensor's state confirms it. A control has a number higher
than all the sensor has seen, so it does no harm that it may come twice. What a sensor says is all that a proxy needs
to know: after a restart of either side it goes on from the next state that it hears.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sensors.messages import Control, SensorState, Setting
from skerry.sensors.watch import Watch

__all__ = ["Proxies", "Proxy"]

_SILENT_US = 20 * MICROS["SECOND"]
_FIRST_PAUSE_US, _LONGEST_PAUSE_US = MICROS["SECOND"], MICROS["MINUTE"]


@dataclass(frozen=True)
class Proxy:
    """What is known of a sensor, and what is wanted of it.

    ``sent`` is the control that is on its way, ``again_us`` when to send it again, ``pause_us`` how long after that.
    ``controls`` counts those that were sent, with repetitions. ``watch`` notes what the sensor sends.
    """

    state: SensorState | None = None
    wanted: Setting | None = None
    sent: Control | None = None
    again_us: Micros = Micros(0)  # noqa: RUF009
    pause_us: int = _FIRST_PAUSE_US
    heard_us: Micros | None = None
    controls: int = 0
    watch: Watch = field(default_factory=Watch, compare=False)

    @property
    def is_obeyed(self) -> bool:
        """Whether the sensor does what is wanted, as far as it has said."""
        return self.wanted is None or (self.state is not None and _does(self.state.setting, self.wanted))

    def hear(self, now: Micros, state: SensorState | None, readings: Sequence[Mapping[str, Any]] = ()) -> "Proxy":
        """The sensor has sent something at a time: its state, or readings."""
        if state:
            self.watch.note_state(now, state)
        elif readings:
            self.watch.note_readings(now, readings)
        heard = replace(self, heard_us=now, state=state or self.state)
        if state and self.sent and state.control >= self.sent.number:
            return replace(heard, sent=None, again_us=Micros(0), pause_us=_FIRST_PAUSE_US)
        return heard

    def want(self, setting: Setting | None) -> "Proxy":
        """Something else is wanted."""
        if setting == self.wanted:
            return self
        return replace(self, wanted=setting, sent=None, again_us=Micros(0), pause_us=_FIRST_PAUSE_US)

    def is_due(self, now: Micros) -> bool:
        """Whether control may go out at the next chance, for a sensor that is not silent."""
        return self.heard_us is not None and now >= self.again_us and now - self.heard_us < _SILENT_US

    def send(self, now: Micros) -> "Proxy":
        """With a control on its way, if one is due: the sensor listens."""
        if self.is_obeyed or self.wanted is None or now < self.again_us:
            return self
        number = self.sent.number if self.sent else max(self._last_number(), now // MICROS["MILLISECOND"]) + 1
        return replace(
            self,
            sent=Control(number, self.wanted),
            again_us=Micros(now + self.pause_us),
            pause_us=min(2 * self.pause_us, _LONGEST_PAUSE_US),
            controls=self.controls + 1,
        )

    def _last_number(self) -> int:
        return self.state.control if self.state else 0


def _does(setting: Setting, wanted: Setting) -> bool:
    """Whether a sensor that has a setting does what is wanted. One that sleeps does nothing else."""
    if wanted.asleep or setting.asleep:
        return setting.asleep == wanted.asleep
    return setting.to_json() == {**setting.to_json(), **wanted.to_json()} and setting.ranges == wanted.ranges


class Proxies:
    """The proxies of a source, by the names of their sensors.

    >>> proxies = Proxies()
    >>> proxies.want({"loop-7": Setting("counts")})
    >>> proxies.hear("loop-7", Micros(0), SensorState(Setting("raw")), listens=True).setting.program
    'counts'
    >>> proxies.hear("loop-7", Micros(10), SensorState(Setting("counts"), control=1), listens=True)
    """

    def __init__(self) -> None:
        self.by_sensor: dict[str, Proxy] = {}
        self._unasked: Setting | None = None
        self._disobeyed: set[str] = set()
        """The sensors that do not do yet what is wanted."""

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """What is wanted of sensors from now on, and of those that are not named or not known yet."""
        self._unasked = others
        for sensor in {*settings, *self.by_sensor}:
            self._put(sensor, self._find(sensor).want(settings.get(sensor, others)))

    def hear(
        self,
        sensor: str,
        now: Micros,
        state: SensorState | None = None,
        readings: Sequence[Mapping[str, Any]] = (),
        *,
        listens: bool,
    ) -> Control | None:
        """A sensor has sent something. Gives the control to send at once, if it listens and one is due."""
        heard = self._find(sensor).hear(now, state, readings)
        answered = heard.send(now) if listens else heard
        self._put(sensor, answered)
        return answered.sent if answered.controls > heard.controls else None

    def count_waiting(self) -> int:
        """How many sensors do not do yet what is wanted."""
        return len(self._disobeyed)

    def has_control_due(self, now: Micros) -> bool:
        """Whether some sensor is to be told something when it listens next: one that was heard a while ago at the most.

        >>> proxies = Proxies()
        >>> proxies.want({"a": Setting("counts")})
        >>> proxies.has_control_due(Micros(0))
        False
        >>> _ = proxies.hear("a", Micros(0), SensorState(Setting("raw")), listens=False)
        >>> proxies.has_control_due(Micros(1)), proxies.has_control_due(Micros(60_000_000))
        (True, False)
        """
        return any(self.by_sensor[sensor].is_due(now) for sensor in self._disobeyed)

    def _put(self, sensor: str, proxy: Proxy) -> None:
        self.by_sensor[sensor] = proxy
        (self._disobeyed.discard if proxy.is_obeyed else self._disobeyed.add)(sensor)

    def _find(self, sensor: str) -> Proxy:
        return self.by_sensor.get(sensor) or Proxy(wanted=self._unasked)
