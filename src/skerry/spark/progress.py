"""What is known after each batch: newest event times, tallies, answers.

``deliver`` writes it down, by batch id, when a batch is done; the next batch's tasks learn it from
Spark's local properties. A batch that runs again finds the record of the batch before it unchanged,
so the same readings are late as the first time.
"""

import json
from dataclasses import asdict

from pyspark import TaskContext

from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import Micros
from skerry.pipeline.outcome import Outcome

__all__ = ["PROPERTY", "RECORD", "Progress", "batch_of_task", "newest_before_task", "property_of_task"]

PROPERTY = "skerry.newest"
RECORD = "progress.json"
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

    def __init__(self, files: SealedFolder) -> None:
        self._files = files
        self._after: dict[int, Outcome] = {}
        self._digests: dict[int, str] = {}
        if files.file(RECORD).exists():
            found = json.loads(files.read(RECORD))
            self._after = {
                int(batch): Outcome.from_json(record).start_again() for batch, record in found["after"].items()
            }
            self._digests = {int(batch): digest for batch, digest in found["offsets"].items()}

    @property
    def total(self) -> Outcome:
        """All batches together."""
        return self._after[max(self._after)] if self._after else Outcome()

    @property
    def next_batch(self) -> int:
        """The batch that follows, or that was under way when the run broke off."""
        return max(self._after, default=-1) + 1

    def digest_of(self, batch: int) -> str | None:
        """That of a batch's positions in Spark's log, if the batch is one of the last."""
        return self._digests.get(batch)

    def record(self, batch: int, outcome: Outcome, digest: str = "") -> None:
        """Write down what a batch came to, on top of those before it, and the digest of its positions."""
        before = self._after.get(batch - 1, Outcome())
        kept = range(batch - _KEPT + 1, batch + 1)
        after, digests = {**self._after, batch: before.then(outcome)}, {**self._digests, batch: digest}
        self._after = {number: total for number, total in after.items() if number in kept}
        self._digests = {number: found for number, found in digests.items() if number in kept}
        record = {"after": {number: asdict(total) for number, total in self._after.items()}, "offsets": self._digests}
        self._files.write(RECORD, json.dumps(record).encode())

    def as_property(self) -> str:
        """What tasks need to know."""
        return json.dumps({number: total.newest for number, total in self._after.items()})
