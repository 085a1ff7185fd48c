"""Plan nodes: immutable, typed, checked when they are built. No node knows how it is run."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.expression import Expression
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.fold import Fold
from skerry.plan.overload import Overload, Shedding
from skerry.plan.side import Side

__all__ = [
    "MOST_COMBINATIONS",
    "Absence",
    "Aggregate",
    "Gather",
    "Join",
    "Lookup",
    "Node",
    "Project",
    "Scan",
    "Select",
    "ViewPlan",
]

MOST_COMBINATIONS = 10_000_000
"""How many combinations of readings a view may give in one step, if it does not say."""


class Node(ABC):
    """A relation over time, made from others."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns of the relation."""

    @property
    def inputs(self) -> tuple["Node", ...]:
        """The relations it is made from."""
        return ()


@dataclass(frozen=True)
class Scan(Node):
    """All readings of a source."""

    source: Source

    @property
    def schema(self) -> pa.Schema:
        """As declared."""
        return self.source.schema


@dataclass(frozen=True)
class Select(Node):
    """The rows for which a predicate holds. ``text`` is the predicate as the user wrote it."""

    input: Node
    predicate: Expression
    text: str = ""

    def __post_init__(self) -> None:
        """A predicate is true or false."""
        if self.predicate.type != pa.bool_():
            raise InputError("a predicate must be BOOLEAN, got", self.predicate.type)

    @property
    def schema(self) -> pa.Schema:
        """As the input's."""
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)


@dataclass(frozen=True)
class Project(Node):
    """Columns computed from each row."""

    input: Node
    columns: tuple[tuple[str, Expression], ...]

    def __post_init__(self) -> None:
        """Names must differ, since answers are read by name."""
        names = [name for name, _ in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"two columns have the name {twice[0]!r}; give one another name with AS")

    @property
    def schema(self) -> pa.Schema:
        """The computed columns."""
        return pa.schema([pa.field(name, expression.type) for name, expression in self.columns])

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)


@dataclass(frozen=True)
class Lookup(Node):
    """Each row with the rows of a table that have equal keys: an expression over either, a key."""

    input: Node
    table: Source
    name: str
    keys: tuple[tuple[Expression, Expression], ...]

    @property
    def schema(self) -> pa.Schema:
        """The input's columns, then the table's behind its name."""
        found = [field.with_name(f"{self.name}.{field.name}") for field in self.table.schema]
        return pa.schema([*self.input.schema, *found])

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one stream; a table is no input that anything waits for."""
        return (self.input,)


@dataclass(frozen=True)
class Aggregate(Node):
    """One row a window and group: window_start, window_end, the keys, the folds."""

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]

    def __post_init__(self) -> None:
        """Time, keys and arguments must be columns of the input."""
        known = self.input.schema.names
        needed = (self.time, *self.keys, *(fold.argument for fold in self.folds if fold.argument))
        missing = [name for name in needed if name not in known]
        if missing:
            raise InputError(f"an aggregate needs column {missing[0]!r}; its input has {', '.join(known)}")
        if self.input.schema.field(self.time).type != TIMESTAMP:
            raise InputError(f"a window needs a TIMESTAMP; {self.time!r} is", self.input.schema.field(self.time).type)

    @property
    def key_fields(self) -> tuple[pa.Field, ...]:
        """The keys with their types."""
        return tuple(self.input.schema.field(key) for key in self.keys)

    @property
    def schema(self) -> pa.Schema:
        """Window, keys, folds."""
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        return pa.schema([*times, *self.key_fields, *(pa.field(fold.name, fold.type) for fold in self.folds)])

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)


@dataclass(frozen=True)
class Join(Node):
    """Every combination of one row a side with equal keys, each in its own window as of the newest of them."""

    relations: tuple[Node, ...]
    sides: tuple[Side, ...]
    technique: str = "snjoin"
    limit: int = MOST_COMBINATIONS
    overload: Overload | None = None
    """What becomes of readings that are too many; if this is not given, all are kept."""

    def __post_init__(self) -> None:
        """A side has the columns of its relation, and keys like those of the others."""
        for relation, side in zip(self.relations, self.sides, strict=True):
            if relation.schema != side.schema:
                raise InputError(f"side {side.name!r} of a join does not have the columns of its relation")
        kinds = {tuple(side.schema.field(key).type for key in side.keys) for side in self.sides}
        if len(kinds) > 1:
            raise InputError("the keys of a join differ in type:", *sorted(str(kind) for kind in kinds))
        if self.overload is not None and self.counted:
            raise InputError("a join with LAST_ROWS keeps its rows in memory; it neither spills nor sheds")
        if isinstance(self.overload, Shedding):
            self.overload.check(self.technique)

    @property
    def counted(self) -> bool:
        """Whether some window counts rows."""
        return any(side.last_rows is not None for side in self.sides)

    def keys(self, place: int) -> tuple[str, ...]:
        """What spreads a side over buckets.

        Nothing if rows are counted, which needs one order of arrival, or shed, which needs one budget.
        """
        return () if self.counted or isinstance(self.overload, Shedding) else self.sides[place].keys

    @property
    def schema(self) -> pa.Schema:
        """The columns of all sides, each behind its side's name."""
        named = [field.with_name(f"{side.name}.{field.name}") for side in self.sides for field in side.schema]
        return pa.schema(named)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The sides' relations."""
        return self.relations


@dataclass(frozen=True)
class Absence(Node):
    """The rows of the first side that have no partner on the second: equal keys, each in its window as of the newer."""

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    columns: tuple[str, ...]
    """What is given of a row."""

    def keys(self, place: int) -> tuple[str, ...]:
        """What spreads a side over buckets."""
        return self.sides[place].keys

    @property
    def schema(self) -> pa.Schema:
        """Columns of the first side."""
        return pa.schema([self.sides[0].schema.field(name) for name in self.columns])

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The sides' relations."""
        return self.relations


@dataclass(frozen=True)
class Gather(Node):
    """For each reading those of other sensors that came before it with the same key: a join of variable arity.

    All relations have the same columns.
    """

    relations: tuple[Node, ...]
    key: str
    sensor: str
    time: str
    span_us: Micros
    min_arity: int = 1
    early: bool = False
    flatten: bool = False
    limit: int = MOST_COMBINATIONS

    @property
    def schema(self) -> pa.Schema:
        """The key, the sensor and time of the reading, how many sensors agree, and all of them."""
        key, sensor = (self.relations[0].schema.field(name).type for name in (self.key, self.sensor))
        member = pa.struct([("sensor", sensor), ("ts", TIMESTAMP)])
        return pa.schema(
            {"key": key, "sensor": sensor, "ts": TIMESTAMP, "arity": pa.int32(), "members": pa.list_(member)}
        )

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The relations gathered from."""
        return self.relations


@dataclass(frozen=True)
class ViewPlan:
    """A standing query: its name, what it means, and its options."""

    name: str
    root: Node
    options: Mapping[str, str] = field(default_factory=dict)
    views: tuple[str, ...] = ()
    """The views it reads; their plans are part of its own."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources it reads, each once."""
        found = {node.source.name: node.source for node in self._nodes() if isinstance(node, Scan)}
        return tuple(found.values())

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in, each once."""
        found = {node.table.name: node.table for node in self._nodes() if isinstance(node, Lookup)}
        return tuple(found.values())

    def _nodes(self) -> Iterator[Node]:
        todo: list[Node] = [self.root]
        while todo:
            node = todo.pop()
            yield node
            todo += reversed(node.inputs)
