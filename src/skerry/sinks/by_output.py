"""Answers of some outputs to sinks of their own, and all others to one."""

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from skerry.sinks.sink import Sink

__all__ = ["SinkByOutput"]


class SinkByOutput(Sink):
    """Hands each output to its sink. Tasks write no parts: they do not know which sink would take them."""

    def __init__(self, others: Sink, own: Mapping[str, Sink]) -> None:
        self._others, self._own = others, dict(own)

    def claim(self, run: str, batches: int) -> None:
        """All sinks are this run's."""
        for sink in self._list_all():
            sink.claim(run, batches)

    def last_batch(self, outputs: Collection[str]) -> int:
        """The newest batch that some sink knows of."""
        return max(sink.last_batch([name for name in outputs if self._find(name) is sink]) for sink in self._list_all())

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Each sink opens its own outputs."""
        for sink in self._list_all():
            sink.open({name: schema for name, schema in outputs.items() if self._find(name) is sink}, resume=resume)

    def begin_outputs(self, outputs: Mapping[str, pa.Schema], number: int) -> None:
        """Each sink begins its own outputs."""
        for sink in self._list_all():
            sink.begin_outputs({name: each for name, each in outputs.items() if self._find(name) is sink}, number)

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Hand the rows on."""
        self._find(output).write(output, number, rows, parts)

    def settle(self) -> None:
        """Wait for all."""
        for sink in self._list_all():
            sink.settle()

    def close(self) -> None:
        """All batches are written, of all outputs."""
        for sink in self._list_all():
            sink.close()

    def _find(self, output: str) -> Sink:
        return self._own.get(output, self._others)

    def _list_all(self) -> list[Sink]:
        return [self._others, *self._own.values()]
