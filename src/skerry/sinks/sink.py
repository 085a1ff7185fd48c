"""What a sink must offer: an output's rows, once a batch."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import pyarrow as pa

__all__ = ["MemorySink", "Sink", "Stager"]


class Stager(ABC):
    """Puts rows where the sink will find them, from wherever a task runs: picklable."""

    @abstractmethod
    def stage(self, output: str, number: int, task: int, rows: pa.RecordBatch) -> None:
        """Put one task's rows of a batch aside, unseen by readers until the sink is told of them."""


class Sink(ABC):
    """Takes answers by output and batch. The same batch written twice leaves what one writing leaves."""

    @abstractmethod
    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Make ready; without ``resume`` what an earlier run left under these names is removed."""

    @abstractmethod
    def write(self, output: str, number: int, rows: pa.RecordBatch, staged: Sequence[int] = ()) -> None:
        """Take an output's rows of one batch: those given, and those that tasks have staged."""

    def stager(self) -> Stager | None:
        """What tasks stage large answers with; None if all must be handed over."""
        return None

    @abstractmethod
    def close(self) -> None:
        """All batches are written."""


class MemorySink(Sink):
    """Keeps answers in memory, for tests and for Python programs."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[int, pa.RecordBatch]] = {}
        self._schemas: dict[str, pa.Schema] = {}

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Remember the schemas."""
        self._schemas = dict(outputs)

    def write(self, output: str, number: int, rows: pa.RecordBatch, staged: Sequence[int] = ()) -> None:
        """Keep the rows under their batch."""
        self._rows.setdefault(output, {})[number] = rows

    def close(self) -> None:
        """Nothing to finish."""

    def outputs(self) -> list[str]:
        """All outputs, with rows or without."""
        return list(self._schemas)

    def table(self, output: str) -> pa.Table:
        """All rows of an output, in order of batches."""
        batches = [rows for _, rows in sorted(self._rows.get(output, {}).items())]
        return pa.Table.from_batches(batches, self._schemas[output])
