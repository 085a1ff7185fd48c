"""What is known after each batch: newest event times, tallies, answers.

``deliver`` writes it down, by batch id, when a batch is done; the next batch's tasks learn it from
Spark's local properties. A batch that runs again finds the record of the batch before it unchanged,
so the same readings are late as the first time.
"""

import json
from dataclasses import asdict
from pathlib import Path

from pyspark import TaskContext

from skerry.model.atomic_write import write_atomically
from skerry.model.time import Micros
from skerry.pipeline.outcome import Outcome

__all__ = ["PROPERTY", "Progress", "batch_of_task", "newest_before_task", "property_of_task"]

PROPERTY = "skerry.newest"
_KEPT = 3


def batch_of_task() -> int:
    """The id of the batch that the running Spark task belongs to."""
    return int(property_of_task("streaming.sql.batchId") or 0)


def newest_before_task() -> dict[str, Micros]:
    """The newest event time of each source, as of the batches before the running task's own."""
    known = json.loads(property_of_task(PROPERTY) or "{}")
    found = known.get(str(batch_of_task() - 1), {})
    return {source: Micros(moment) for source, moment in found.items()}


def property_of_task(name: str) -> str | None:
    """What the driver lets the tasks of a batch know under a name."""
    context = TaskContext.get()
    assert context is not None, "runs inside a Spark task alone"
    found: str | None = context.getLocalProperty(name)
    return found


class Progress:
    """A run's record, kept in its checkpoint."""

    def __init__(self, checkpoint: Path) -> None:
        self._path = checkpoint / "progress.json"
        self._after: dict[int, Outcome] = {}
        if self._path.exists():
            self._after = {
                int(batch): Outcome.from_json(record) for batch, record in json.loads(self._path.read_text()).items()
            }

    @property
    def total(self) -> Outcome:
        """All batches together."""
        return self._after[max(self._after)] if self._after else Outcome()

    @property
    def next_batch(self) -> int:
        """The batch that follows, or that was under way when the run broke off."""
        return max(self._after, default=-1) + 1

    def record(self, batch: int, outcome: Outcome) -> None:
        """Write down what a batch came to, on top of those before it."""
        before = self._after.get(batch - 1, Outcome())
        self._after[batch] = before.then(outcome)
        self._after = {number: total for number, total in self._after.items() if batch - _KEPT < number <= batch}
        record = {number: asdict(total) for number, total in self._after.items()}
        write_atomically(self._path, json.dumps(record).encode())

    def record_nothing(self, batch: int) -> None:
        """Note a batch of Spark's own, without readings: what is known after it is what was known before."""
        self.record(batch, Outcome())

    def as_property(self) -> str:
        """What tasks need to know."""
        return json.dumps({number: total.newest for number, total in self._after.items()})
