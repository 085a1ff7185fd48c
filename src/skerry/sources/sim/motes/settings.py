"""What a fleet is made of, and what goes wrong in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros
from skerry.sensors.broker_address import check_topic
from skerry.sources.sim.motes.kinds import KINDS

__all__ = ["ENCODINGS", "MOST_MOTES", "SHORTEST_PERIOD_US", "TIME_FORMS", "Faults", "FleetSettings", "parse_kinds"]

ENCODINGS = ("json", "cbor")
TIME_FORMS = ("iso", "s", "ms", "us")
"""How the event time of a reading is written: as text, or as a number since 1970 in a unit."""
MOST_MOTES = 100_000
SHORTEST_PERIOD_US = Micros(1_000)
_LONGEST_PERIOD_US = Micros(MICROS["DAY"])


@dataclass(frozen=True)
class Faults:
    """Shares of what goes wrong, from 0 to 1: of motes that die now and then or have a wrong clock, of messages else.

    A mote that dies does so once in ``die_every_s``, and comes back after a tenth to three tenths of that.
    """

    die: float = 0.0
    die_every_s: float = 60.0
    wrong_clock: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    garble: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        for name in ("die", "wrong_clock", "duplicate", "reorder", "garble"):
            _check(name.replace("_", "-"), getattr(self, name), 0.0, 1.0)
        _check("die-every", self.die_every_s, 5.0, 1e6)


@dataclass(frozen=True)
class FleetSettings:
    """A fleet: how many motes of which kinds, and how they behave as long as nobody tells them otherwise.

    ``sample_period_us`` and ``program`` are those of all motes; None is what the kind has. Times are those of the
    simulation, ``speed`` times as fast as the wall clock, but ``listens_ms``, since who sends control lives there.

    >>> FleetSettings({"trafic": 5})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown kind of mote 'trafic'; known are air, soil, traffic, vibration; did you mean ...
    """

    kinds: Mapping[str, int]
    prefix: str = "motes"
    seed: int = 1
    sample_period_us: Micros | None = None
    program: str | None = None
    publish_every_s: float = 1.0
    look_in_every_s: float = 3.0
    state_every_s: float = 60.0
    listens_ms: float = 50.0
    encoding: str = "json"
    time_form: str = "iso"
    speed: float = 1.0
    battery_mah: float = 100.0
    listening_mw: float = 0.0
    first_sequence: int = 0
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        check_topic(self.prefix, "the prefix of a fleet")
        self._check_kinds()
        for name, value, known in (("encoding", self.encoding, ENCODINGS), ("time", self.time_form, TIME_FORMS)):
            if value not in known:
                raise OptionError(f"unknown {name} {value!r}; known are {', '.join(known)}")
        _check("speed", self.speed, 0.01, 1000.0)
        _check("battery", self.battery_mah, 1e-6, 1e6)
        _check("listens", self.listens_ms, 0.0, 60_000.0)
        _check("listening", self.listening_mw, 0.0, 1e6)
        _check("seed", self.seed, 0, 2**63 - 1)
        if self.sample_period_us is not None:
            rates = (1e6 / _LONGEST_PERIOD_US, 1e6 / SHORTEST_PERIOD_US)
            _check("rate", 1e6 / max(self.sample_period_us, 1), *rates)

    def _check_kinds(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                near = get_close_matches(kind, KINDS, n=1)
                meant = f"; did you mean {near[0]!r}?" if near else ""
                raise OptionError(f"unknown kind of mote {kind!r}; known are {', '.join(sorted(KINDS))}{meant}")
            programs = [program.name for program in KINDS[kind].programs]
            if self.program is not None and self.program not in programs:
                raise OptionError(
                    f"motes of kind {kind} have no program {self.program!r}; they have {', '.join(programs)}"
                )
        _check("number of sensors", sum(self.kinds.values()), 1, MOST_MOTES)


def parse_kinds(text: str) -> dict[str, int]:
    """Read how many motes of which kinds there are to be.

    >>> parse_kinds("traffic=1000, air=500")
    {'traffic': 1000, 'air': 500}
    >>> parse_kinds("traffic")
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: kinds are written as traffic=1000,air=500; got 'traffic'
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        kind, is_given, count = (each.strip() for each in part.partition("="))
        if not is_given or not (count.isascii() and count.isdigit()) or len(count) > 9 or kind in found:
            raise OptionError(f"kinds are written as traffic=1000,air=500; got {text!r}")
        found[kind] = int(count)
    return found


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise OptionError(f"the {name} of a fleet is from {least:g} to {most:g}; got {value:g}")
