"""One mote: what it was told, what it sends, when it listens, what is left in its battery."""

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from skerry.errors import InputError
from skerry.model.time import MICROS, Micros
from skerry.sensors.energy_meter import EnergyMeter
from skerry.sensors.habits import STATE_BITS
from skerry.sensors.messages import Control, SensorState, Setting
from skerry.sensors.power import PowerModel
from skerry.sensors.program import Program
from skerry.sources.sim.motes.faults import MoteFaults
from skerry.sources.sim.motes.kinds.kind import Kind
from skerry.sources.sim.motes.recorder import Recorder
from skerry.sources.sim.motes.settings import SHORTEST_PERIOD_US, FleetSettings

__all__ = ["Hearing", "Mote", "Reading"]

_LONGEST_CONTROL = 65_536
_LONGEST_PERIOD_US = MICROS["DAY"]


class Hearing(StrEnum):
    """What became of a control message."""

    TAKEN = "taken"
    REPEATED = "repeated"
    """Its number is not higher than that of the last one."""
    REFUSED = "refused"
    """It asks for what the mote cannot do."""
    GARBLED = "garbled"
    OUTSIDE = "outside"
    """It came while the mote did not listen."""
    DEAD = "dead"


@dataclass(frozen=True)
class Reading:
    """A reading with its own number and its event time, as the mote's clock has it."""

    sequence: int
    time_us: int
    columns: dict[str, Any]


class Mote:
    """A mote with everything that changes about it. ``number`` is its own in the fleet, ``index`` among its kind.

    It counts the windows in which it has listened, notes in which of them it took its last control, and counts control
    that came ``outside`` of windows.

    >>> from skerry.sources.sim.motes.kinds import KINDS
    >>> mote = Mote(FleetSettings({"air": 1}), KINDS["air"], index=0, number=0)
    >>> mote.hear(b'{"control": 1, "program": "dust", "sample_period_ms": 500}', is_listening=True)
    <Hearing.TAKEN: 'taken'>
    >>> [reading.sequence for reading in mote.measure(Micros(0), Micros(1_000_000))]
    [0, 1]
    """

    def __init__(self, settings: FleetSettings, kind: Kind, index: int, number: int) -> None:
        self.name, self.kind = f"{kind.name}-{index:04d}", kind
        self.faults = MoteFaults(settings.faults, settings.seed, number)
        self.meter = EnergyMeter(PowerModel(battery_mah=settings.battery_mah, listening_mw=settings.listening_mw))
        self.latitude, self.longitude = kind.locate(settings.seed, index)
        self.is_alive, self.listens_until_s, self.messages = True, float("-inf"), 0
        self.states = self.windows = self.taken_in_window = self.outside = 0
        self.silent_since_us = self.state_sent_us = Micros(0)
        self._settings, self._recorder = settings, Recorder(kind, settings.seed, index)
        self._sequence = settings.first_sequence
        self.restart()

    def restart(self) -> None:
        """Begin as it was built: no control is known any more. Its numbers go on, and so does its battery."""
        self.control = 0
        self.setting = self._obey(Setting(program=self._settings.program))

    @property
    def is_asleep(self) -> bool:
        """Whether it was told to send nothing."""
        return self.setting.asleep

    @property
    def program(self) -> Program:
        """What it does with its samples."""
        return next(program for program in self.kind.programs if program.name == self.setting.program)

    def describe(self) -> SensorState:
        """What it says of itself."""
        return SensorState(
            self.setting,
            self.control,
            round(self.meter.battery, 6),
            self._settings.listens_ms,
            self.kind.name,
            self.latitude,
            self.longitude,
            tuple(program.name for program in self.kind.programs),
            self.kind.units,
        )

    def prepare(self, first_us: Micros) -> None:
        """Do what takes long before a run begins."""
        self._recorder.prepare(first_us)

    def measure(self, first_us: Micros, stop_us: Micros) -> list[Reading]:
        """Sample for a span of time, and give the readings that are to be sent."""
        if self.is_asleep:
            return []
        found = [(time_us, row) for time_us, row in self._recorder.take(first_us, stop_us) if self._wants(row)]
        readings = [
            Reading(self._sequence + number, time_us + self.faults.clock_error_us, self._choose_columns(row))
            for number, (time_us, row) in enumerate(found)
        ]
        self._sequence += len(readings)
        return readings

    def spend(self, span_us: int, readings_sent: int) -> None:
        """Drain the battery by what a span of time took: samples, if it is awake, and what it sent."""
        seconds = span_us / 1e6
        samples = 0.0 if self.is_asleep else span_us / (self.setting.sample_period_us or 1)
        cycles, bits = samples * self.program.cycles_per_sample, self.program.count_bits(self._sent_columns())
        self.meter.spend(seconds=seconds, samples=samples, cycles=cycles, bits=bits * readings_sent)

    def spend_state(self) -> None:
        """Drain the battery by a state that was sent."""
        self.states += 1
        self.meter.spend(seconds=0.0, bits=STATE_BITS)

    def listen(self, now_s: float) -> None:
        """Listen for a while from now on. A window that is open stays open for longer, and is no second one."""
        listens_s = self._settings.listens_ms / 1000
        self.windows += now_s > self.listens_until_s
        self.meter.spend(seconds=0.0, listening_s=max(now_s + listens_s - max(self.listens_until_s, now_s), 0.0))
        self.listens_until_s = now_s + listens_s

    def hear(self, payload: bytes, is_listening: bool) -> Hearing:
        """Take a control message, if there is reason to."""
        if not self.is_alive:
            return Hearing.DEAD
        if not is_listening:
            self.outside += 1
            return Hearing.OUTSIDE
        try:
            control = _read(payload)
            if control.number <= self.control:
                return Hearing.REPEATED
            self.setting = self._obey(control.setting)
        except InputError:
            return Hearing.REFUSED
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return Hearing.GARBLED
        self.control, self.taken_in_window = control.number, self.windows
        return Hearing.TAKEN

    def _obey(self, asked: Setting) -> Setting:
        """Run what a setting asks for; what it leaves to the mote is as it was built."""
        built_us = self._settings.sample_period_us or self.kind.sample_period_us
        period_us = built_us if asked.sample_period_us is None else asked.sample_period_us
        program = asked.program or self.kind.programs[0].name
        if program not in [known.name for known in self.kind.programs]:
            raise InputError(f"{self.name} has no program {program!r}")
        if not SHORTEST_PERIOD_US <= period_us <= _LONGEST_PERIOD_US:
            raise InputError(f"{self.name} cannot sample every {period_us} microseconds")
        _check_kinds_of_values(asked)
        self._recorder.use(program, Micros(period_us))
        return replace(asked, program=program, sample_period_us=Micros(period_us))

    def _wants(self, row: dict[str, Any]) -> bool:
        """Whether somebody wants a reading: a value outside of all intervals of its column is wanted by nobody."""
        return all(_is_within(row.get(name), spans) for name, spans in self.setting.ranges.items())

    def _sent_columns(self) -> tuple[str, ...] | None:
        """Who sends and when is always said."""
        columns = self.setting.columns
        return None if columns is None else ("sensor", "ts", *columns)

    def _choose_columns(self, row: dict[str, Any]) -> dict[str, Any]:
        columns = self.setting.columns
        return row if columns is None else {name: value for name, value in row.items() if name in columns}


def _read(payload: bytes) -> Control:
    if len(payload) > _LONGEST_CONTROL:
        raise ValueError("too long")
    return Control.from_json(json.loads(payload))


def _check_kinds_of_values(asked: Setting) -> None:
    """Columns are named, and ranges have numbers: whatever else came is garbled."""
    ends = [end for spans in asked.ranges.values() for span in spans for end in span if end is not None]
    if not all(isinstance(end, int | float) for end in ends):
        raise TypeError("a range without numbers")
    if not all(isinstance(name, str) for name in asked.columns or ()):
        raise TypeError("a column without a name")


def _is_within(value: Any, spans: tuple[tuple[float | None, float | None], ...]) -> bool:
    """No value is never outside; a value that is no number is not compared."""
    if not isinstance(value, int | float):
        return True
    return any((low is None or low <= value) and (high is None or value <= high) for low, high in spans)
