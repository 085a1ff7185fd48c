"""What a plan is made of: immutable nodes that answer for themselves, and know nothing of how they are run.

A node says which columns it has, how far its times may lie behind the watermark, and how ``explain`` describes it.
A node that keeps state says besides how its inputs are spread over buckets. So a new node is a new file here; nothing
else in this room changes.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias, cast

import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Source
from skerry.model.types import TIMESTAMP
from skerry.plan.overload import Shedding

__all__ = ["Conditions", "ManyInputs", "Node", "OneInput", "Stateful", "Stateless", "walk"]

Conditions: TypeAlias = tuple[exp.Expr, ...]
"""Conditions on the rows of a relation, of which all must hold; over its columns."""


class Node(ABC):
    """A relation over time, made from others."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns of the relation."""

    @property
    def inputs(self) -> "tuple[Node, ...]":
        """The relations it is made from."""
        return ()

    @abstractmethod
    def with_inputs(self, inputs: "tuple[Node, ...]") -> "Node":
        """The same node over other inputs."""

    @abstractmethod
    def describe(self) -> str:
        """One line for ``explain``."""

    def replace_fields(self, **fields: Any) -> Self:
        """The same node with other values in some fields."""
        found: Self = replace(cast(Any, self), **fields)  # every node is a dataclass
        return found

    def lag_us(self, column: str) -> int | None:
        """How far a time column may lie behind the watermark when a row is given; None if there is no bound.

        A view that is read by another must let it know when a window is complete. The clock of the reader is kept
        back by this lag, so that no answer comes too late.
        """
        return None

    @property
    def is_changing(self) -> bool:
        """Whether its rows can be taken back: then they have the column ``_op``."""
        return False

    @property
    def time_columns(self) -> list[str]:
        """The columns that a window over this relation can go by."""
        return [field.name for field in self.schema if field.type == TIMESTAMP and self.lag_us(field.name) is not None]

    def outputs(self, view: str) -> Mapping[str, pa.Schema]:
        """Where the answers of a view with this root go, and their columns."""
        return {view: self.schema}

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The columns of an input from which the wanted ones are made; all, where a node does not say."""
        return frozenset(self.inputs[position].schema.names)

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """Conditions on the rows of the input without which none of their rows here meets the given ones.

        A node that does not say has none: every row of its input counts.
        """
        return ()


class OneInput(Node):
    """A node over one relation, its ``input``."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        """The same node over another input."""
        (only,) = inputs
        return self.replace_fields(input=only)


class Stateless(OneInput):
    """A node that makes rows from rows of its one ``input``, and keeps nothing."""

    @property
    def is_changing(self) -> bool:
        """As the input is."""
        return self.input.is_changing

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in."""
        return ()


class Stateful(Node):
    """A node that keeps rows, or something made of them: its inputs meet by key, in buckets."""

    partial: ClassVar[bool] = False
    """Whether a part of the work is done before rows are spread over buckets."""
    needs_every_reading: ClassVar[bool] = True
    """Whether it counts, too, that readings come which no condition below it lets pass: what is absent is known to be
    absent by those that came. So it is of a node that does not say."""

    @property
    def waits(self) -> bool:
        """Whether it must know when the rows of its inputs have all come, up to some time."""
        return True

    def compared_keys(self, position: int) -> tuple[str, ...]:
        """The columns of an input whose values must equal those of other rows for two to meet; groups are no such."""
        return ()

    @abstractmethod
    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The columns by which an input is spread over buckets; without any, all rows go into one."""

    @abstractmethod
    def time_of(self, position: int) -> str | None:
        """The column by which it knows when the rows of an input are."""

    @abstractmethod
    def describe_buckets(self) -> str:
        """How the state is spread over buckets, for ``explain``."""

    @abstractmethod
    def describe_state(self) -> str:
        """What is kept, for ``explain``."""

    def describe_route(self, position: int) -> str:
        """What runs beside the source of an input, for ``explain``."""
        return "route: beside the source, only the columns that are needed"

    def feed_name(self, position: int, source: Source) -> str:
        """A name for an input that no other input of the view has."""
        return source.name

    @property
    def needs_arrival_order(self) -> bool:
        """Whether readings must carry the order of their arrival."""
        return False

    @property
    def shedding(self) -> Shedding | None:
        """How it gives readings up, if it does."""
        return None

    @property
    def no_time_reason(self) -> str:
        """Why its answers have no time that a window can go by, where that is not plain."""
        return ""

    def meanings(self) -> dict[str, str]:
        """What columns that only the plan knows by name were computed from."""
        return {}


class ManyInputs(Stateful):
    """A node that keeps rows of several ``relations``."""

    relations: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The relations."""
        return self.relations

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        """The same node over other relations."""
        return self.replace_fields(relations=inputs)


def walk(root: Node) -> Iterator[Node]:
    """All nodes of a plan, from the root down."""
    todo: list[Node] = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.inputs)
