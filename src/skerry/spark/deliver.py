"""deliver: what a batch gives, written once each.

Spark may run a batch again after a crash. The sink writes by batch id, and the record of progress is
kept by batch id, so the second time changes nothing.
"""

import json
from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame

from skerry.fjord.pipeline import Outcome, Pipeline
from skerry.model.batch import join, unpack
from skerry.proxies.gate import Tally
from skerry.sinks.sink import Sink
from skerry.spark.envelope import TALLY
from skerry.spark.progress import PROPERTY, Progress

__all__ = ["Deliver"]


class Deliver:
    """The end of the pipeline, on the driver."""

    def __init__(
        self, pipeline: Pipeline, sink: Sink, progress: Progress, watch: Callable[[Outcome], None] | None
    ) -> None:
        self._outputs, self._sink, self._progress, self._watch = pipeline.outputs(), sink, progress, watch

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write one batch."""
        table = frame.toArrow().sort_by([("name", "ascending"), ("grp", "ascending"), ("bucket", "ascending")])
        names = table.column("name").to_pylist()
        blobs = table.column("blob")
        outcome = Outcome(batches=1)
        answers: dict[str, list[pa.RecordBatch]] = {}
        for place, name in enumerate(names):
            if name == TALLY:
                outcome = outcome.then(_outcome(blobs[place].as_py()))
            else:
                answers.setdefault(name, []).append(unpack(blobs[place].as_buffer()))
        counts = {output: self._write(output, batch, batches) for output, batches in answers.items()}
        self._progress.record(batch, outcome.then(Outcome(answers=counts)))
        frame.sparkSession.sparkContext.setLocalProperty(PROPERTY, self._progress.as_property())
        if self._watch:
            self._watch(self._progress.total)

    def _write(self, output: str, batch: int, batches: list[pa.RecordBatch]) -> int:
        rows = join(batches, self._outputs[output])
        self._sink.write(output, batch, rows)
        return rows.num_rows


def _outcome(told: bytes) -> Outcome:
    read = json.loads(told)
    return Outcome({source: Tally(**tally) for source, tally in read["tallies"].items()}, read["newest"])
