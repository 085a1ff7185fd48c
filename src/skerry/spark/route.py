"""route: readings in, envelopes out. Runs inside the source, or in ``mapInArrow`` behind another.

A task takes its readings in, runs the first part of every view that reads them, spreads what that gives over buckets,
and lets every bucket know how far time has come.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.catalog import Source
from skerry.model.batch import join, pack
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.operator import Operator
from skerry.operators.spread import spread_rows
from skerry.pipeline.intake import Intake
from skerry.pipeline.nan_keys import split_off_nan_keys
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, Reader
from skerry.pipeline.skew import hot_keys
from skerry.pipeline.watermark import pass_idle
from skerry.replay.pace import count_lags
from skerry.sinks.sink import PartWriter
from skerry.sources.source import Split
from skerry.spark.batch_views import views_of_task
from skerry.spark.envelope import DIRECT, KEPT, PART_BYTES, RETIRE, SHARE, TALLY, Envelope, to_batch
from skerry.spark.functions import NO_FUNCTIONS, PackedFunctions
from skerry.spark.layout import Layout
from skerry.spark.plan_files import PlanFiles
from skerry.spark.progress import batch_of_task, newest_before_task
from skerry.spark.tables import tables_of_task
from skerry.subscriptions.counters import COUNTS, add_counts

__all__ = ["RouteSettings", "Router", "live_buckets", "spread_feed"]


Routes = dict[tuple[int, str], Operator]
"""What runs beside sources, by the number of the view and the name of the feed."""


def live_buckets(view: CutView, count: int) -> range:
    """The buckets that hold a view's state: without keys there is nothing to spread."""
    return range(count if view.is_spread else 1)


@dataclass(frozen=True)
class RouteSettings:
    """What the route tasks of a run share; it travels to the executors."""

    pipeline: Pipeline
    layout: Layout
    part_writer: PartWriter | None = None
    functions: PackedFunctions = NO_FUNCTIONS
    routes: Routes = field(default_factory=dict)
    """The operators that tasks of one process have built; they keep no state."""
    plans: PlanFiles | None = None
    """Where the versions of the views are, if these come and go."""
    _of_version: dict[int, "RouteSettings"] = field(default_factory=dict)

    def see_batch(self) -> "RouteSettings":
        """The same with the views that the batch of the running task sees."""
        if self.plans is None:
            return self
        version = views_of_task().version
        if version not in self._of_version:
            made = replace(self, pipeline=self.plans.pipeline(version), routes={}, _of_version={})
            for before in self._of_version.values():
                made.routes.update(before._list_routes_of(made.pipeline))
            self._of_version.clear()
            self._of_version[version] = made
        return self._of_version[version]

    def _list_routes_of(self, pipeline: Pipeline) -> Routes:
        """The operators of views that another version has too, as they are."""
        views = pipeline.views_by_number
        kept = {number for number, view in self.pipeline.views_by_number.items() if views.get(number) is view}
        return {key: operator for key, operator in self.routes.items() if key[0] in kept}

    def make_router(self, task: int, streams: Collection[str], come: Mapping[str, Micros] | None = None) -> "Router":
        """The work of the Spark task that asks; ``come`` is how far the replay has come with the batches before."""
        self.functions.install()
        write_part = partial(_write_part, self.part_writer, batch_of_task(), task) if self.part_writer else None
        before = newest_before_task()
        if self.plans:
            before |= {name: max(moment, before.get(name, moment)) for name, moment in views_of_task().newest.items()}
        newest = pass_idle(self.pipeline.own_sources, before, come or {})
        names = [table.name for table in self.pipeline.tables]
        tables = tables_of_task(names) if names else {}
        count = self.layout.bucket_count
        return Router(self.pipeline, count, task, newest, streams, write_part, tables, self.routes, batch_of_task())

    def send(self, envelopes: Iterable[Envelope]) -> pa.RecordBatch:
        """What a task hands to Spark: its envelopes, and a word to the addresses that will not be heard of again."""
        retired = [*self.layout.retired] if batch_of_task() == self.layout.first_batch else []
        gone = views_of_task().gone if self.plans else ()
        retired += [(group, self.layout.address(group, bucket)) for group, count in gone for bucket in range(count)]
        addressed = [self._address(envelope) for envelope in envelopes]
        return to_batch([*(Envelope(group, address, 0, RETIRE) for group, address in retired), *addressed])

    def _address(self, envelope: Envelope) -> Envelope:
        if envelope.grp == DIRECT:
            return envelope
        return replace(envelope, bucket=self.layout.address(envelope.grp, envelope.bucket))


def _write_part(part_writer: PartWriter, batch: int, task: int, output: str, rows: pa.RecordBatch) -> None:
    part_writer.write_part(output, batch, task, rows)


class Router:
    """One task's work over some streams. ``newest`` is that of the batches before."""

    def __init__(
        self,
        pipeline: Pipeline,
        bucket_count: int,
        task: int,
        newest: Mapping[str, Micros],
        streams: Collection[str],
        write_part: Callable[[str, pa.RecordBatch], None] | None = None,
        tables: Mapping[str, pa.RecordBatch] | None = None,
        routes: Routes | None = None,
        batch: int = 0,
    ) -> None:
        self._pipeline, self.bucket_count, self._task, self._streams = pipeline, bucket_count, task, streams
        self._write_part, self._tables, self._newest, self._batch = write_part, tables or {}, newest, batch
        self._routes: Routes = {} if routes is None else routes
        self._routes_with_tables: Routes = {}
        self._routed: dict[tuple[int, str], list[pa.RecordBatch]] = {}
        self._outcome = Outcome()
        self._shares: dict[str, float] = {}
        self.intake = Intake(pipeline, newest, self._run_feeds)

    def pace(self, lag_us: int, shares: Mapping[str, float], blameless: Sequence[str] = ()) -> None:
        """Note how far the step began behind, the share of it that some views may take in, and who is not to blame."""
        figures = count_lags(blameless) if blameless else {}
        self.note(Outcome(lag_us=lag_us, figures=figures))
        self._shares = dict(shares)

    def note(self, outcome: Outcome) -> None:
        """Add to what the task reports."""
        self._outcome = self._outcome.then(outcome)

    def read_facts(self, splits: Iterable[Split], numbers: Collection[int]) -> None:
        """Give some views what others have read before of tables that are read as facts."""
        for split in splits:
            readers = [each for each in self._pipeline.readers(split.source) if each.number in numbers]
            for decoded in self._pipeline.connectors_by_source[split.source].read(split) if readers else ():
                for reader in readers:
                    keys = list(reader.feed.nan_keys)
                    rows = split_off_nan_keys(decoded.readings, keys, split.lane)[0] if keys else decoded.readings
                    self._run_feeds([reader], rows)

    def envelopes(self, *, done: bool) -> Iterator[Envelope]:
        """All that the task has to send. ``done`` says that the whole input is used up."""
        outputs = self.intake.outputs
        if counts := outputs.pop(COUNTS, []):
            yield self._to_deliver(COUNTS, pack(add_counts(counts)))
        for stream, accepted in self.intake.accepted.items():
            yield self._keep(stream, accepted)
        for output, batches in outputs.items():
            yield from self._send_answers(output, join(batches, batches[0].schema))
        for number, view in self._pipeline.views_by_number.items():
            for feed in view.feeds if view.stateful else ():
                if done or feed.source.name in self._streams or self._may_be_idle(feed.source):
                    yield from self._to_operate(number, view, feed, done=done)
            if view.name in self._shares:
                yield Envelope(number, 0, self._task, SHARE, share=self._shares[view.name])
        outcome = self.intake.outcome.then(self._outcome).then(Outcome.of_functions())
        yield self._to_deliver(TALLY, json.dumps(asdict(outcome)).encode())

    def _may_be_idle(self, source: Source) -> bool:
        """Whether a source that Spark reads may have no task in this batch to say how far it has come."""
        return source.idle_timeout_us is not None and source in self._pipeline.foreign

    def _run_feeds(self, readers: Sequence[Reader], accepted: pa.RecordBatch) -> None:
        """Run the first part of the views that read a source."""
        for reader in readers:
            made = self.run_feed(reader.number, reader.feed, accepted)
            if not reader.view.stateful:
                self.intake.keep(reader.view.name, made)
            elif made.num_rows:
                self._routed.setdefault((reader.number, reader.feed.name), []).append(made)

    def run_feed(self, number: int, feed: Feed, readings: pa.RecordBatch) -> pa.RecordBatch:
        """Run the first part of a view on one of its streams."""
        # A batch has its own version of a table: what looks one up is built for each task.
        routes, key = self._routes_with_tables if feed.tables else self._routes, (number, feed.name)
        if key not in routes:
            routes[key] = feed.build_route(self._tables)
        return routes[key].transition(readings)

    def _keep(self, stream: str, accepted: Sequence[pa.RecordBatch]) -> Envelope:
        """Write accepted readings down here; only that it was done is sent."""
        assert self._pipeline.history
        self._pipeline.history.write_part(stream, self._batch, self._task, accepted)
        return self._to_deliver(KEPT + stream, None, sum(each.num_rows for each in accepted))

    def _send_answers(self, name: str, answers: pa.RecordBatch) -> Iterator[Envelope]:
        """Rows for the sink: in the envelope, or written as a part, with only their number in it, if they are many."""
        if self._write_part is None or answers.nbytes <= PART_BYTES:
            yield self._to_deliver(name, pack(answers))
            return
        for output, rows in self._pipeline.with_copies(name, answers):
            self._write_part(output, rows)
            yield self._to_deliver(output, None, rows.num_rows)

    def _to_deliver(self, name: str, blob: bytes | None, row_count: int | None = None) -> Envelope:
        return Envelope(DIRECT, self._task, self._task, name, row_count=row_count, blob=blob)

    def _to_operate(self, number: int, view: CutView, feed: Feed, *, done: bool) -> Iterator[Envelope]:
        """An envelope per bucket, with rows or with the time alone."""
        source = feed.source.name
        seen = max(self.intake.outcome.newest.get(source, START_OF_TIME), self._newest.get(source, START_OF_TIME))
        newest = END_OF_TIME if done else seen
        routed = self._routed.get((number, feed.name), [])
        rows = join(routed, routed[0].schema) if routed else None
        live = live_buckets(view, self.bucket_count)
        parts = spread_feed(feed, rows, live) if rows else {}
        if rows and not feed.partial:
            loads = {str(bucket): part.num_rows for bucket, part in parts.items()}
            hot = hot_keys(rows, feed.keys)
            self._outcome = self._outcome.then(Outcome(loads={view.name: loads}, hot_keys={view.name: hot}))
        for bucket in live:
            blob = pack(parts[bucket]) if bucket in parts else None
            yield Envelope(number, bucket, self._task, feed.name, newest, self.intake.heard.get(source), blob=blob)


def spread_feed(feed: Feed, rows: pa.RecordBatch, live: range) -> dict[int, pa.RecordBatch]:
    """Rows by the bucket of their keys."""
    parts = spread_rows(rows, feed.keys, len(live))
    return {bucket: part for bucket, part in enumerate(parts) if part.num_rows}
