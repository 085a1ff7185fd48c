"""What a connector must offer.

A source is a set of *lanes* (a file, a generator). A lane is a sequence of *units* (a block of a
file, a sample of a simulator) in stored order. Planning looks at units from the driver; reading turns
a *split*, some units of one lane, into Arrow wherever the runtime likes.

    source ── lane 0:  [unit 0][unit 1][unit 2] ...
          └── lane 1:  [  unit 0  ][ unit 1 ] ...          ─► event time
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from skerry.catalog import Sensor, Source
from skerry.model.time import START_OF_TIME, Micros
from skerry.sensors.heard import Heard
from skerry.sensors.messages import Setting
from skerry.sensors.proxies import Proxy

__all__ = ["NOTHING_RECEIVED", "REJECTS", "Connector", "Decoded", "Lane", "Receiving", "ReceivingAlone", "Split"]

REJECTS = pa.schema({"reason": pa.string(), "reading": pa.string(), "place": pa.string()})
"""A dead letter: the reason, what was read, and where it was found. The names are the columns of the output."""


@dataclass(frozen=True)
class Split:
    """Units ``start`` to ``stop`` (exclusive) of a lane, cut by arrival at both ends.

    A row *arrives* at the greatest event time of its unit up to and including itself. Of the first
    unit only rows that arrive after ``after`` are read, of the last only those that arrive until
    ``until``: what one split leaves of a unit, the next one takes.

    ``horizon`` is how far the other lanes of the source come with the same step, None if there are none.
    """

    source: str
    lane: str
    start: int
    stop: int
    after: Micros | None = None
    until: Micros | None = None
    weight: int = 0
    horizon: Micros | None = None

    def cap_at_horizon(self, newest: Micros) -> Micros:
        """How far the source has come, if ``newest`` was met here: no further than all of its lanes.

        A unit ends with its last reading, but an earlier one may be newer. Were that to count at once,
        readings of other lanes would be late that are within the delay.
        """
        return newest if self.horizon is None else min(newest, self.horizon)


@dataclass(frozen=True)
class Decoded:
    """Readings in stored order with the declared schema, and the dead letters met on the way."""

    readings: pa.RecordBatch
    rejects: pa.RecordBatch


class Lane(ABC):
    """A sequence of units, seen by the planner. Never reads more of a unit than it must."""

    name: str
    speed: float = 1.0
    """Of a live lane, how many seconds of event time pass in a second."""
    is_received: bool = False
    """Whether its units come from others, each when it comes: another lane may stand still meanwhile."""

    @abstractmethod
    def count(self) -> int:
        """How many units there are now."""

    @abstractmethod
    def first(self, unit: int) -> Micros:
        """The event time of a unit's first reading, or near it."""

    @abstractmethod
    def last(self, unit: int) -> Micros:
        """The event time of a unit's last reading, or near it."""

    @abstractmethod
    def weight(self, unit: int) -> int:
        """About how many readings a unit has."""

    def come(self) -> Micros:
        """How far a live lane has come: what it hands over later arrives later."""
        count = self.count()
        return self.last(count - 1) if count else START_OF_TIME

    def forget(self, unit: int) -> None:  # noqa: B027
        """Units before ``unit`` are done for good: for lanes that keep what they have received."""

    def resume_at(self, unit: int) -> None:  # noqa: B027
        """Reading goes on with ``unit``: for lanes whose units come with the clock."""


class Receiving(Protocol):
    """What goes on beside a run: readings come in."""

    def check(self) -> None:
        """Raise what has ended it, if something has."""

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """What is wanted of the sensors from now on, and of those that are not named."""

    def list_proxies(self) -> Mapping[str, Proxy]:
        """What is known by now of sensors that speak of themselves."""

    def take_heard(self) -> Mapping[str, Heard]:
        """Who was heard since this was asked last, by sensor."""

    def settle_heard(self) -> None:
        """What was taken last is kept by somebody: after a crash it need not be counted again."""


class ReceivingAlone:
    """Readings come in from senders that take no control."""

    def check(self) -> None:
        """Nothing has failed."""

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """Nobody is told."""

    def list_proxies(self) -> Mapping[str, Proxy]:
        """Nobody speaks of itself."""
        return {}

    def take_heard(self) -> Mapping[str, Heard]:
        """Nobody is counted."""
        return {}

    def settle_heard(self) -> None:
        """Nothing was counted."""


NOTHING_RECEIVED: Receiving = ReceivingAlone()


class Connector(ABC):
    """A configured source: immutable and picklable, so that it can travel to where it is read."""

    definition: Source
    live: bool = False
    """Whether more readings may come: a live source has no end."""
    starts_over: bool = True
    """Whether a run that begins is given again what an earlier run was."""
    accepted: bool = False
    """Whether its readings were accepted before: then none is late, and each says when it arrived (``STAMPS``)."""

    @property
    def exclusive(self) -> str | None:
        """What no other source may have at the same time, in words."""
        return None

    @abstractmethod
    def lanes(self) -> Sequence[Lane]:
        """The lanes, in an order that a restart finds again."""

    def divide(self, unit_rows: int) -> "Connector":
        """The same source in units of about so many readings at most, if it can be cut finer than it is."""
        return self

    @abstractmethod
    def read(self, split: Split) -> Iterator[Decoded]:
        """Decode a split, a unit at a time."""

    def spool_in(self, folder: Path, *, is_kept: bool = True) -> "Connector":
        """The same source, which keeps what it receives in a folder that all workers see, if it receives anything.

        ``is_kept`` says whether a later run goes on with the folder.
        """
        return self

    def receive(self) -> AbstractContextManager["Receiving"]:
        """Receive readings, as long as the context is open: for sources that others send to."""
        return nullcontext(NOTHING_RECEIVED)

    def inventory(self) -> str:
        """What there is to read, in a few words that change with it: positions in other input mean something else."""
        return "what its declaration says"

    def sensors(self) -> Sequence[Sensor]:
        """The sensors this source is known to carry."""
        return ()
