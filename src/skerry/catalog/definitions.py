"""What the catalogue holds: plain, immutable records."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from skerry.model.time import Micros

__all__ = ["Sensor", "Source", "View", "conceal_secrets"]

_SECRET = ("password", "secret", "token")
"""Words in the names of options whose values are nobody's business."""


@dataclass(frozen=True)
class Source:
    """A stream of readings, or a table, and where it comes from.

    ``event_time`` names the column that says when a reading was taken; ``delay_us`` is how far
    behind the newest reading another may still arrive. Without a declared watermark both are None,
    nothing is ever late, and windows close at the end of the input.

    ``max_ahead_us`` is how far a reading may be ahead of the others (None: as ``sources.ahead`` has it), and
    ``idle_timeout_us`` how long the source may be quiet before it stops holding others back (None: for ever).
    ``sample_period_us`` is how often each of its sensors takes a reading (None: not known), ``battery_lifetime_us`` how
    long their batteries are to last, whatever its readers ask for. ``network`` says which network its sensors are motes
    of, as options (``model.network_options``); empty if they are in none. ``generated`` are columns that are computed
    from the others, by expressions in DuckDB's dialect. ``history`` says whether, and for how long, its
    readings are kept, as options (``model.history_options``); empty if nothing is said of that.
    """

    name: str
    schema: pa.Schema
    connector: str
    options: Mapping[str, str] = field(default_factory=dict)
    event_time: str | None = None
    delay_us: Micros | None = None
    is_table: bool = False
    text: str = ""
    max_ahead_us: Micros | None = None
    idle_timeout_us: Micros | None = None
    sample_period_us: Micros | None = None
    battery_lifetime_us: Micros | None = None
    network: Mapping[str, str] = field(default_factory=dict)
    generated: tuple[tuple[str, str], ...] = ()
    history: Mapping[str, str] = field(default_factory=dict)

    @property
    def public_options(self) -> Mapping[str, str]:
        """Its options as they may be shown: without passwords and the like.

        >>> Source("road", pa.schema([]), "mqtt", {"url": "mqtt://ann:x@broker", "topic": "a"}).public_options
        {'url': 'mqtt://ann:***@broker', 'topic': 'a'}
        """
        return conceal_secrets(self.options)

    @property
    def stored_schema(self) -> pa.Schema:
        """The columns that readings come with."""
        computed = dict(self.generated)
        return pa.schema([column for column in self.schema if column.name not in computed])


def conceal_secrets(options: Mapping[str, str]) -> Mapping[str, str]:
    """Options as they may be shown: without passwords and the like."""
    return {name: _conceal(name, value) for name, value in options.items()}


def _conceal(option: str, value: str) -> str:
    is_secret = any(word in option.lower() for word in _SECRET)
    return "***" if is_secret else re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:***@", value)


@dataclass(frozen=True)
class View:
    """A standing query: its name, the options behind WITH, and the user's own text.

    ``program`` is the rule program it is made of, if it is, as the file had it when the view was made. Without a
    statement around it the text is empty.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    program: str = ""

    @property
    def public_text(self) -> str:
        """Its text, or its program, as it may be shown.

        >>> View("v", {"spark.password": "x1"}, "CREATE ... WITH (spark.password='x1') ...").public_text
        "CREATE ... WITH (spark.password='***') ..."
        """
        shown = self.text or self.program
        for name, value in conceal_secrets(self.options).items():
            shown = shown if value == self.options[name] else shown.replace(f"'{self.options[name]}'", f"'{value}'")
        return shown


@dataclass(frozen=True)
class Sensor:
    """A thing that takes readings: which source carries them, where it stands, what it is about.

    ``columns`` are those of its source that it fills (none: all), ``units`` their units, ``programs`` the names of the
    programs that it knows. ``relations`` name other sensors of the source: ``("upstream_of", "loop-7")``,
    ``("pair_of", ...)``, ``("replaces", ...)``.
    """

    name: str
    source: str
    kind: str
    latitude: float | None = None
    longitude: float | None = None
    tags: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    sample_period_us: Micros | None = None
    programs: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
