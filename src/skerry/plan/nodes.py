"""Plan nodes: immutable, typed, checked when they are built. No node knows how it is run."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.types import TIMESTAMP
from skerry.model.window import Window
from skerry.operators.aggregate import WINDOW_END, WINDOW_START
from skerry.operators.derive import Expression
from skerry.operators.folds import Fold

__all__ = ["Aggregate", "Node", "Project", "Scan", "Select", "ViewPlan"]


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
class ViewPlan:
    """A standing query: its name, what it means, and its options."""

    name: str
    root: Node
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources it reads."""
        found: list[Source] = []
        todo: list[Node] = [self.root]
        while todo:
            node = todo.pop()
            found += [node.source] if isinstance(node, Scan) else []
            todo += node.inputs
        return tuple(found)
