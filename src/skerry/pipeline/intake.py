"""The way of readings into a pipeline, the same on every runtime.

    split ─ connector ─ stamp ─ gate ─┬─ in time ─┬─ the feeds of views        (handed on: what runs them differs)
                                      │           └─ the query index          (selections, subscriptions)
                                      ├─ late ─────── the outputs that views name
                                      └─ rejected ─── dead letters

In = accepted + late + rejected, always.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.batch import join
from skerry.model.time import START_OF_TIME, Micros
from skerry.pipeline.gate import Gate
from skerry.pipeline.nan_keys import split_off_nan_keys
from skerry.pipeline.outcome import Outcome, Tally
from skerry.pipeline.pipeline import Pipeline, Reader, dead_letter_output
from skerry.sources.source import REJECTS, Decoded, Split
from skerry.subscriptions.registry import Registry
from skerry.subscriptions.versions import registry_at

__all__ = ["Intake"]


class Intake:
    """Takes in what one task, or one step, reads.

    ``newest`` is the newest event time by source, as of the steps before: all splits of a step meet the same watermark.
    ``hand_on`` gives readings to the feeds of views. ``outcome`` is what has become of readings, ``outputs`` are the
    rows for sinks. ``heard`` is the newest event time of all readings by source: how far a source has come may be less,
    for its lanes advance together. ``accepted`` are the readings of the sources that are kept.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        newest: Mapping[str, Micros],
        hand_on: Callable[[Sequence[Reader], pa.RecordBatch], None],
    ) -> None:
        self._pipeline, self._newest, self._hand_on = pipeline, newest, hand_on
        self._registry: Registry | None = None
        self.outcome = Outcome()
        self.outputs: dict[str, list[pa.RecordBatch]] = {}
        self.heard: dict[str, Micros] = {}
        self.accepted: dict[str, list[pa.RecordBatch]] = {}

    def register(self, version: int) -> None:
        """Let the subscriptions of a version be answered too."""
        if self._pipeline.registry:
            self._registry = registry_at(self._pipeline.registry, version)
            self.outcome = self.outcome.then(Outcome(version=version))

    def read_split(self, split: Split) -> None:
        """Read a split of one of Skerry's own sources."""
        connector = self._pipeline.connectors_by_source[split.source]
        gate = self.open_gate(connector.definition, accepted=connector.accepted)
        stamp = None if connector.accepted else self._pipeline.make_stamp(split)
        for decoded in connector.read(split):
            found, rejects = self.check_keys(split.source, decoded, split.lane)
            self.admit(connector.definition, gate, stamp.put_on(found) if stamp else found, rejects)
        self.note_newest(split.source, split.cap_at_horizon(gate.newest))
        self.note_heard(split.source, gate.newest)

    def check_keys(self, source: str, decoded: Decoded, location: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Reject the readings in which a key is NaN."""
        keys = self._pipeline.nan_keys(source)
        if not keys:
            return decoded.readings, decoded.rejects
        kept, letters = split_off_nan_keys(decoded.readings, keys, location)
        return kept, join([decoded.rejects, letters], REJECTS)

    def open_gate(self, source: Source, *, ordered: bool = True, accepted: bool = False) -> Gate:
        """A gate for a split, standing where the steps before have left it."""
        return Gate(source, self._newest.get(source.name, START_OF_TIME), ordered=ordered, accepted=accepted)

    def admit(self, source: Source, gate: Gate, readings: pa.RecordBatch, rejects: pa.RecordBatch) -> None:
        """Pass decoded readings through the gate and on."""
        accepted, late = gate.admit(readings)
        tally = Tally(accepted.num_rows, late.num_rows, rejects.num_rows)
        self.outcome = self.outcome.then(Outcome({source.name: tally}))
        self.keep(dead_letter_output(source.name), rejects)
        for output in self._pipeline.late_outputs(source.name):
            self.keep(output, late.select(source.schema.names))
        if self._pipeline.keeps(source.name) and accepted.num_rows:
            self.accepted.setdefault(source.name, []).append(accepted)
        if len(accepted.schema) > len(source.schema) and not self._pipeline.needs_stamps(source.name):
            accepted = accepted.select(source.schema.names)
        self._hand_on(self._pipeline.readers(source.name), accepted)
        for output, rows in self._pipeline.match(source.name, accepted, self._registry):
            self.keep(output, rows)

    def note_newest(self, source: str, newest: Micros) -> None:
        """Note how far a source has come with what was admitted."""
        self.outcome = self.outcome.then(Outcome(newest={source: newest}))

    def note_heard(self, source: str, moment: Micros) -> None:
        """Note the newest reading of a source."""
        self.heard[source] = max(self.heard.get(source, moment), moment)

    def keep(self, output: str, rows: pa.RecordBatch) -> None:
        """Keep rows for an output."""
        if rows.num_rows:
            self.outputs.setdefault(output, []).append(rows)
