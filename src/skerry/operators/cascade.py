"""Operators that keep state, above each other: what one gives, the next takes in, in the same bucket."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from skerry.model.batch import empty, join
from skerry.model.time import END_OF_TIME, Micros
from skerry.operators.operator import Operator, PageChanges, StatePages

__all__ = ["Cascade", "Edge", "Level"]


@dataclass(frozen=True)
class Edge:
    """The way from an operator's answers into the one above it."""

    level: int
    """The number of the operator above."""
    stream: int
    """Which of its streams the answers are."""
    between: tuple[Operator, ...] = ()
    """What makes them what it reads; keeps no state."""
    lag_us: int = 0
    """How far behind the watermark the times of answers may lie."""


@dataclass
class Level:
    """One operator of a cascade, what reads its answers, and how far its clock is behind that of the readings."""

    operator: Operator
    edge: Edge | None = None
    delay_us: int = 0


class Cascade(Operator):
    """Levels from the lowest up; the last gives the answers. ``entries`` says where each stream comes in.

    Each level learns of a watermark after those below it have, and as much later as answers of theirs may be
    behind: so none of them is late. State is that of all levels, each in pages behind its number. Costs what its
    operators cost.

    >>> from skerry.operators.derive import Derive
    >>> from skerry.model.expression import Expression
    >>> speed = Expression.of("speed", pa.float64())
    >>> slow = Derive([("speed", speed)], where=Expression('"speed" < 30', pa.bool_()))
    >>> half = Derive([("half", Expression('"speed" / 2', pa.float64()))])
    >>> both = Cascade([Level(slow, Edge(1, 0)), Level(half)], [(0, 0)])
    >>> both.transition(pa.record_batch({"speed": [20.0, 50.0]})).to_pydict()
    {'half': [10.0]}
    """

    def __init__(self, levels: Sequence[Level], entries: Sequence[tuple[int, int]]) -> None:
        self._levels, self._entries = tuple(levels), tuple(entries)
        self.schema = self._levels[-1].operator.schema
        for level in self._levels:
            if level.edge:
                above = self._levels[level.edge.level]
                above.delay_us = max(above.delay_us, level.delay_us + level.edge.lag_us)

    def replace_between(self, between: Sequence[tuple[Operator, ...]]) -> None:
        """Put others between the levels, from the lowest up; they give the same columns."""
        for level, operators in zip(self._levels[:-1], between, strict=True):
            assert level.edge is not None
            level.edge = replace(level.edge, between=operators)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Let the readings in where they belong, and hand what follows upward."""
        number, entry = self._entries[stream]
        return self._pass_up(number, self._levels[number].operator.transition(batch, entry))

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Advance level by level, the lowest first."""
        given = []
        for number, level in enumerate(self._levels):
            reached = watermark if watermark == END_OF_TIME else Micros(watermark - level.delay_us)
            given += [self._pass_up(number, piece) for piece in level.operator.pieces(reached)]
        return join([batch for batch in given if batch.num_rows], self.schema)

    def note_end(self, newest: Micros) -> None:
        """All levels are told."""
        for level in self._levels:
            level.operator.note_end(newest)

    def changes(self) -> PageChanges:
        """Those of all levels."""
        put: dict[str, bytes] = {}
        drop: list[str] = []
        for number, level in enumerate(self._levels):
            changed = level.operator.changes()
            put |= {f"{number}/{name}": blob for name, blob in changed.put.items()}
            drop += [f"{number}/{name}" for name in changed.drop]
        return PageChanges(put, drop)

    def restore(self, pages: StatePages) -> None:
        """Give each level its pages back."""
        for number, level in enumerate(self._levels):
            own = f"{number}/"
            level.operator.restore(
                {name.removeprefix(own): blob for name, blob in pages.items() if name.startswith(own)}
            )

    def snapshot(self) -> StatePages:
        """The state of all levels."""
        return {
            f"{number}/{name}": blob
            for number, level in enumerate(self._levels)
            for name, blob in level.operator.snapshot().items()
        }

    def figures(self) -> Mapping[str, int]:
        """Those of all levels together."""
        found: Counter[str] = Counter()
        for level in self._levels:
            found.update(level.operator.figures())
        return found

    def _pass_up(self, number: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        edge = self._levels[number].edge
        while edge and batch.num_rows:
            for operator in edge.between:
                batch = operator.transition(batch)
            above = self._levels[edge.level]
            batch = above.operator.transition(batch, edge.stream)
            edge = above.edge
        return batch if edge is None else empty(self.schema)
