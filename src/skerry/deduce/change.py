"""What goes into a tick, and what it does to a predicate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skerry.deduce.values import Row

__all__ = ["Change", "Tick"]


@dataclass(frozen=True)
class Change:
    """The rows that hold since a tick, and those that hold no more."""

    inserted: Sequence[Row] = ()
    deleted: Sequence[Row] = ()


@dataclass(frozen=True)
class Tick:
    """The facts that come and go at one time; None where there is no time."""

    now: int | None
    inserts: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    deletes: Mapping[str, Sequence[Row]] = field(default_factory=dict)
