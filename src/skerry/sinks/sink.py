"""What a sink must offer: an output's rows, once a batch."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

__all__ = ["PartWriter", "Sink"]


class PartWriter(ABC):
    """Writes parts of a batch where the sink will find them, from wherever a task runs: picklable."""

    @abstractmethod
    def write_part(self, output: str, number: int, task: int, rows: pa.RecordBatch) -> None:
        """Write one task's rows of a batch, unseen by readers until the sink writes the batch with this part."""


class Sink(ABC):
    """Takes answers by output and batch. The same batch written twice leaves what one writing leaves."""

    @abstractmethod
    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Make ready; without ``resume`` what an earlier run left under these names is removed."""

    def begin_outputs(self, outputs: Mapping[str, pa.Schema], number: int) -> None:  # noqa: B027
        """Make ready for outputs that come with a batch; what was under these names before that batch is removed."""

    @abstractmethod
    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Take an output's rows of one batch: those given, and the parts that the tasks of these numbers wrote."""

    def part_writer(self) -> PartWriter | None:
        """What tasks write large answers with; None if all must be handed over."""
        return None

    def claim(self, run: str, batches: int) -> None:  # noqa: B027
        """Note whose answers these are, for a run that may go on after a crash: all that it writes must outlive one.

        Called before ``open``. ``batches`` is how many of them the run has recorded. If there are any, refuse if what
        is there are not this run's answers so far; what is there of later batches was never recorded, and comes again.
        """

    def last_batch(self, outputs: Collection[str]) -> int:
        """The last batch that has left rows in some outputs; -1 if there is none, or it is not known.

        Called after ``claim``, before ``open``.
        """
        return -1

    def settle(self) -> None:  # noqa: B027
        """Return when all that was written outlives a loss of power, if the run may go on after one."""

    @abstractmethod
    def close(self) -> None:
        """All batches are written."""
