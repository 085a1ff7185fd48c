"""A rule program: what was written, then what the checks found.

``lang.rules`` reads a text into a ``Program``; ``deduce.checks`` turns that into a ``Checked`` one, in which

- the arguments of body atoms are variables, constants, or lists and function symbols of those: arithmetic in them has
  become a fresh variable and an equation;
- ``_`` in a positive atom is a fresh variable; in a negated one it is gone: a projection predicate with a rule of its
  own stands there instead;
- every predicate has a declaration, types of all columns included;
- components stand in an order in which each needs only itself and those before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from skerry.errors import Location
from skerry.model.term import Term, Value, Variable
from skerry.model.time import MICROS
from skerry.plan.limits import Limits

__all__ = [
    "AGGREGATES",
    "MICROSECONDS",
    "RANGE",
    "SINCE",
    "Aggregate",
    "Atom",
    "Builtin",
    "Checked",
    "Class",
    "Column",
    "Comparison",
    "Component",
    "Dependency",
    "Function",
    "Output",
    "Predicate",
    "Program",
    "Rule",
    "Spatial",
    "Subgoal",
    "Type",
    "fresh",
    "in_units",
]

MICROSECONDS = MICROS["SECOND"]
"""How many units of time a second has where times are timestamps; where they are bare numbers, it has one."""


def in_units(microseconds: int, unit: int) -> int:
    """A length of time where a second has so many units.

    >>> in_units(1_500_000, MICROSECONDS), in_units(1_500_000, 1)
    (1500000, 1)
    """
    return microseconds * unit // MICROSECONDS


SINCE = "$since "
"""Before the name of a derived predicate with a window: the base predicate that says where its window begins."""

RANGE = "$range "
"""Before a number: the predicate of the numbers of a range that stands in a rule."""

AGGREGATES = ("count", "count_distinct", "sum", "min", "max", "avg", "var", "collect")


class Type(StrEnum):
    """What a column holds. ``any``: values of several kinds."""

    INT = "int"
    FLOAT = "float"
    STRING = "string"
    BOOL = "bool"
    TIME = "time"
    POINT = "point"
    NODE = "node"
    LIST = "list"
    ANY = "any"


@dataclass(frozen=True)
class Column:
    """An attribute of a predicate."""

    name: str
    type: Type


@dataclass(frozen=True)
class Predicate:
    """A declaration, as written or as found out."""

    name: str
    columns: tuple[Column, ...]
    base: bool
    declared: bool = True
    time: int | None = None
    """Which column holds the time of a fact."""
    window_us: int | None = None
    window_rows: int | None = None
    slide_us: int | None = None
    watermark_us: int = 0
    host: int | None = None
    stage: int | None = None
    """Which column counts its stages: declared, or chosen by the check of stages. A list counts by its length."""
    limits: Mapping[int, int] = field(default_factory=dict)
    """The greatest value, by column: tuples beyond it are not derived (a list: its length)."""
    silent: bool = False
    """``expire silent``: what leaves the window takes no answer back."""
    link: int | None = None
    """In a network it holds of all pairs of nodes that are at most so many hops apart; elsewhere its facts are read."""
    location: Location | None = None

    @property
    def arity(self) -> int:
        """How many columns it has."""
        return len(self.columns)


@dataclass(frozen=True)
class Aggregate:
    """``sum<v>`` in a head; ``count<*>`` has no argument."""

    function: str
    argument: Term | None


@dataclass(frozen=True)
class Atom:
    """A predicate with its arguments; in a head they may be aggregates."""

    predicate: str
    arguments: tuple[Term | Aggregate, ...]
    negated: bool = False
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Comparison:
    """``left operator right``, of ``= != < <= > >=``. ``=`` binds where one side is a variable not bound before."""

    operator: str
    left: Term
    right: Term
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Builtin:
    """A built-in predicate asked."""

    name: str
    arguments: tuple[Term, ...]
    negated: bool = False
    location: Location | None = field(default=None, compare=False)


Subgoal = Atom | Comparison | Builtin


@dataclass(frozen=True)
class Rule:
    """``head :- body.`` A fact has no body."""

    head: Atom
    body: tuple[Subgoal, ...]
    number: int
    """Its location in the program, from 1; rules that the checks add go on counting."""
    text: str = field(default="", compare=False)
    location: Location | None = field(default=None, compare=False)

    @property
    def aggregates(self) -> bool:
        """Whether its head gathers."""
        return any(isinstance(argument, Aggregate) for argument in self.head.arguments)


@dataclass(frozen=True)
class Output:
    """``output p mode final to "alerts"``."""

    predicate: str
    mode: Literal["inserts", "changes", "snapshot", "final"] = "final"
    to: str | None = None
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Function:
    """A declared built-in: Python behind ``module:name``."""

    name: str
    parameters: tuple[Type, ...]
    result: Type | None
    """None for a built-in predicate."""
    path: str
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Spatial:
    """``spatial report ~ report within 2 hops``: for the network."""

    left: str
    right: str
    hops: int


@dataclass(frozen=True)
class Program:
    """A text as read."""

    predicates: Mapping[str, Predicate]
    rules: tuple[Rule, ...]
    outputs: tuple[Output, ...] = ()
    functions: Mapping[str, Function] = field(default_factory=dict)
    functors: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    spatial: tuple[Spatial, ...] = ()
    limits: Limits = field(default_factory=Limits)
    """What its text says of them, or a nearer home."""
    text: str = ""


class Class(StrEnum):
    """How a component is kept true."""

    N = "N"
    """Not recursive."""
    X = "X"
    """Recursive with negation, settled stage by stage; within a stage nothing depends on itself."""
    S = "S"
    """Positive recursion."""
    Y = "Y"
    """By stages, with positive recursion inside a stage."""
    L = "L"
    """Locally stratified: no column settles it, but the facts may. Settled tuple by tuple, each after what it needs."""


@dataclass(frozen=True)
class Dependency:
    """Which tuples of a component need which (class L): rows of the head's known columns, then of the subgoal's."""

    relation: str
    head: str
    subgoal: str
    rule: Rule
    negative: bool


@dataclass(frozen=True)
class Component:
    """Predicates that need each other, and the rules that derive them."""

    predicates: tuple[str, ...]
    """In the order of the graph that is left within a stage: each needs, at its own stage, only those before it
    (class Y: or those of its own group)."""
    rules: tuple[Rule, ...]
    kind: Class
    stratum: int
    stages: Mapping[str, int] = field(default_factory=dict)
    """By predicate, the column that counts its stages (classes X and Y)."""
    groups: tuple[tuple[str, ...], ...] = ()
    """The predicates again, those that need each other positively at one stage together; class S: all in one."""
    falling: bool = False
    """Whether stages are settled from the greatest down."""
    known: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Class L: by predicate, the columns whose values are known before it is settled."""
    candidates: Mapping[str, str] = field(default_factory=dict)
    """Class L: by predicate, the relation of what its known columns may hold."""
    needs: tuple[Dependency, ...] = ()
    """Class L: what needs what."""


@dataclass(frozen=True)
class Checked:
    """A program that may run."""

    program: Program
    predicates: Mapping[str, Predicate]
    components: tuple[Component, ...]
    outputs: tuple[Output, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, those the checks added included."""
        return tuple(rule for component in self.components for rule in component.rules)


def fresh(name: str, taken: set[str]) -> Variable:
    """A variable that no rule can have written: its name begins with a sign that names cannot hold."""
    number = len(taken)
    while f"${name}{number}" in taken:
        number += 1
    taken.add(f"${name}{number}")
    return Variable(f"${name}{number}")
