"""What every mote is given: a rule program as plain data. One generic component interprets it.

Gupta, Zhu: Deductive Approach for Programming Sensor Networks, section 3.5 and Figure 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.deduce.subgoal_order import variables_of
from skerry.deduce.values import Row
from skerry.model.term import Constant, Term, Variable
from skerry.plan.program import MICROSECONDS, Aggregate, Atom, Subgoal, Type

__all__ = [
    "EVERYWHERE",
    "Calendar",
    "Denial",
    "DerivationKey",
    "NodeProgram",
    "NodeRule",
    "Range",
    "Schema",
    "Site",
    "Timing",
    "TupleId",
]

TupleId = tuple[int, int, int]
"""Where a tuple was inserted, at which local time, and a number that tells apart those of one time."""

DerivationKey = tuple[int, tuple[TupleId, ...]]
"""A rule's number, and the ids of its positive subgoals' tuples; for a range, the number takes the place of a tuple."""

EVERYWHERE = -1
"""The source of what every mote knows: tuples that the program's text says, and the numbers of ranges."""


@dataclass(frozen=True)
class Schema:
    """A predicate, as a mote knows it."""

    name: str
    types: tuple[Type, ...]
    host: int | None
    """The column that names the mote on which a tuple lives."""
    keys: tuple[int, ...]
    """Without a host: the columns whose hash names it."""
    limits: tuple[tuple[int, int], ...]
    component: int
    """Where it stands in the order of settling: its component, then its stage, then its position."""
    position: int
    stage: int | None
    falling: bool
    link: int | None
    """It holds of all pairs of motes at most so many hops apart. Each mote knows its own, in both directions."""
    known: tuple[Row, ...] | None
    """All its tuples, where the program's text says them."""
    time: int | None
    span: int | None
    """Its window, in units of the program's time: a tuple counts until its time is further back than that."""

    def exceeds_limit(self, row: Row) -> bool:
        """Whether a declared limit cuts a row off."""
        for column, most in self.limits:
            value = row[column]
            size = len(value) if isinstance(value, tuple) else value
            if isinstance(size, int | float) and size > most:
                return True
        return False

    def find_priority(self, row: Row) -> tuple[int, int, int]:
        """When a tuple is settled: by component, then by stage, then by the order of predicates within a stage."""
        value = 0 if self.stage is None else row[self.stage]
        stage = len(value) if isinstance(value, tuple) else value if isinstance(value, int) else 0
        return self.component, -stage if self.falling else stage, self.position


@dataclass(frozen=True)
class Site:
    """Where a rule is joined: at the mote that a term names, or at the home of one subgoal's tuples."""

    term: Variable | Constant | None
    anchor: int | None = None


@dataclass(frozen=True)
class Denial:
    """What must not hold where a rule derives: a tuple of an atom, under conditions.

    ``given`` are the variables that the rule binds. Others stand for any value; where there are such, or conditions,
    the denial is open: it speaks of many tuples, all of which live on one mote.
    """

    atom: Atom
    conditions: tuple[Subgoal, ...] = ()
    given: tuple[str, ...] | None = None
    """None: all variables."""

    @property
    def is_open(self) -> bool:
        """Whether it speaks of more than one tuple."""
        return bool(self.conditions) or (
            self.given is not None and any(each.name not in self.given for each in variables_of(self.atom))
        )


@dataclass(frozen=True)
class Range:
    """The numbers of ``x in range(low, high)``: a variable counts from zero, and ``count`` is how many there are."""

    index: Variable
    count: Term


@dataclass(frozen=True)
class NodeRule:
    """A rule in parts: subgoals that are joined, conditions on them, what is denied, and the head."""

    number: int
    head: Atom
    positives: tuple[Atom, ...]
    conditions: tuple[Subgoal, ...]
    denials: tuple[Denial, ...]
    site: Site
    ranges: tuple[Range, ...] = ()
    """Their numbers are counted where the rule is joined. Conditions say what they are added to."""

    @property
    def aggregates(self) -> bool:
        """Whether its head aggregates."""
        return any(isinstance(argument, Aggregate) for argument in self.head.arguments)


@dataclass(frozen=True)
class Calendar:
    """How times of facts read on the clock of a mote: ``origin`` is its 0, and ``unit`` says how many make a second.

    A run ends at ``horizon_us``. What would expire after that does not expire in it.

    >>> Calendar(origin=100, unit=1, horizon_us=5_000_000).find_expiry(103)
    3000001
    """

    origin: int = 0
    unit: int = 1
    horizon_us: int = 0

    def find_expiry(self, last: int) -> int | None:
        """When a tuple ceases to count that counts up to a time, with it; None: not in this run."""
        moment = self.to_clock(last) + 1
        return moment if moment <= self.horizon_us else None

    def to_clock(self, time: int) -> int:
        """A time of facts, in microseconds of a mote's clock."""
        return (time - self.origin) * MICROSECONDS // self.unit


@dataclass(frozen=True)
class Timing:
    """Bounds that a join relies on: the greatest difference of two clocks, and how long things may take."""

    skew_us: int = 0
    storage_us: int = 0
    """tau_s: until a new tuple is stored wherever it is to be."""
    join_us: int = 0
    """tau_j: from then until all that follows has been heard at its home."""
    window_us: int = 0
    """tau_w: the longest window."""
    hold_us: int = 0
    """In stage order, how long a mote holds what it learns."""
    diameter: int = 0
    """The most hops between two motes."""
    slot_us: int = 0
    """In which a message to a neighbour has come."""

    @property
    def keep_us(self) -> int:
        """How long what is over may still be asked for: (tau_s + tau_c) + tau_j + (tau_w + tau_c)."""
        return self.storage_us + self.skew_us + self.join_us + self.window_us + self.skew_us


@dataclass(frozen=True)
class NodeProgram:
    """Schemas, rules, and how far the tuples of each predicate are replicated."""

    schemas: Mapping[str, Schema]
    rules: tuple[NodeRule, ...]
    ranges: Mapping[str, int]
    """By predicate, how many hops a new tuple is flooded; 0: it stays at home."""
    motes: int
    calendar: Calendar
    nearness: Mapping[int, tuple[tuple[int | None, ...], ...]]
    """By rule, how many hops the homes of each two subgoals are apart at most; None where nothing is known.

    Positive subgoals come first, then what is denied.
    """
    timing: Timing = Timing()
    walking: frozenset[int] = frozenset()
    """The rules whose joins walk across levels; the others are joined from home."""
    gathered: frozenset[int] = frozenset()
    """The rules whose aggregates are added up on the way to the homes of their groups."""
    grid_columns: int | None = None
    """Of a topology that is a grid: how many columns it has."""
