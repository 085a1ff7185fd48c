"""Answers in memory, for tests and for Python programs."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from skerry.model.options import Option, Owner, parse_options
from skerry.sinks.sink import Sink

__all__ = ["MemorySink"]


class MemorySink(Sink):
    """Keeps all rows of all outputs."""

    OPTIONS: ClassVar[tuple[Option, ...]] = ()

    def __init__(self) -> None:
        self._rows: dict[str, dict[int, pa.RecordBatch]] = {}
        self._schemas: dict[str, pa.Schema] = {}

    @classmethod
    def configure(cls, options: Mapping[str, str]) -> "MemorySink":
        """Make a sink; there is nothing to choose."""
        parse_options(options, cls.OPTIONS, Owner("sink 'memory'"))
        return cls()

    def claim(self, run: str, batches: int) -> None:
        """Forget what was not recorded."""
        for output, rows in self._rows.items():
            self._rows[output] = {number: batch for number, batch in rows.items() if number < batches}

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Remember the schemas."""
        self._schemas = dict(outputs)

    def begin_outputs(self, outputs: Mapping[str, pa.Schema], number: int) -> None:
        """Remember more schemas, and forget what was there before."""
        self._schemas |= outputs
        for output in outputs:
            rows = self._rows.get(output, {})
            self._rows[output] = {batch: found for batch, found in rows.items() if batch >= number}

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
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
