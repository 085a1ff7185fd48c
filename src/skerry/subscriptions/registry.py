"""The registry: all subscriptions, as of a version, matched against every reading."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source, Subscription, SubscriptionChange
from skerry.catalog.counters import SUBSCRIPTION
from skerry.errors import InputError
from skerry.index.query_index import QueryIndex
from skerry.index.region import AlikeRegions, Derived, Region
from skerry.index.regions import Regions
from skerry.lang.sql.predicates import FormGroup, Predicates
from skerry.model.bulk_load import load_in_bulk
from skerry.model.duckdb_session import open_duckdb
from skerry.subscriptions.counters import COUNTS, Counted

__all__ = ["SUBSCRIPTIONS", "Registry", "answer_schema", "outputs_of"]

SUBSCRIPTIONS = "subscriptions"
"""The output of all subscriptions that name none."""

_ID, _SENSOR = "id", "sensor"
_MOST_EARLY = 10_000
"""Of so many subscriptions at a time it is noted that they came before the index computed what they are about."""
_FEWEST_TOGETHER = 32
"""Fewer subscriptions than this are taken up one by one."""
_log = logging.getLogger(__name__)


def answer_schema(stream: Source) -> pa.Schema:
    """The columns of a subscription's answers: its id, the sensor and the time, the rest of the reading."""
    first = [name for name in (_SENSOR, stream.event_time) if name in stream.schema.names]
    names = [*first, *(name for name in stream.schema.names if name not in first and name != _ID)]
    return pa.schema([pa.field(_ID, pa.string()), *(stream.schema.field(name) for name in names)])


def outputs_of(streams: Sequence[Source]) -> dict[str, str]:
    """Where the answers of each stream's subscriptions go, if they name none: of several streams, each has one."""
    alone = len(streams) == 1
    return {stream.name: SUBSCRIPTIONS if alone else f"{SUBSCRIPTIONS}/{stream.name}" for stream in streams}


class Registry:
    """The subscriptions to some streams.

    >>> from skerry.catalog import Subscription
    >>> road = Source("road", pa.schema({"speed": pa.float64()}), "file")
    >>> registry = Registry([road])
    >>> registry.change([SubscriptionChange(1, Subscription("slow", "road", "speed < 30"))])
    >>> registry.matches("road", pa.record_batch({"speed": [20.0, 40.0]}))["subscriptions"].to_pylist()
    [{'id': 'slow', 'speed': 20.0}]
    """

    def __init__(self, streams: Sequence[Source]) -> None:
        self.version = 0
        self._streams = {stream.name: stream for stream in streams}
        self._outputs = outputs_of(streams)
        self._predicates = Predicates(self._streams)
        self._indexes = {name: QueryIndex(stream.schema, open_duckdb) for name, stream in self._streams.items()}
        self._regions = {
            name: Regions(stream.schema, open_duckdb, partial(self._derive, name))
            for name, stream in self._streams.items()
        }
        self._refused: list[str] = []
        self._early: list[tuple[Sequence[Subscription], set[str]]] = []
        self._sinks: dict[str, dict[str, str]] = {name: {} for name in self._streams}

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return sum(map(len, self._indexes.values()))

    def change(self, changes: Sequence[SubscriptionChange]) -> None:
        """Take changes up, in order. Those of other streams, and what cannot be read any more, are passed over."""
        with load_in_bulk():
            for some in self._divide(changes):
                if len(some) < _FEWEST_TOGETHER:
                    for change in some:
                        self._take_up(change)
                else:
                    self._take_up_together([change.subscription for change in some])
                self.version = some[-1].version
            self._repeat_early()

    def matches(self, stream: str, batch: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """What a batch's readings answer, by output, and under ``COUNTS`` how often each subscription was true."""
        index = self._indexes.get(stream)
        if not index or not batch.num_rows:
            return {}
        counted = Counted(index, SUBSCRIPTION, self._streams[stream])
        rows, queries = counted.match(batch)
        if not rows.size:
            return {COUNTS: counted.counts}
        schema, names, taken = answer_schema(self._streams[stream]), index.names(queries), batch.take(pa.array(rows))
        columns = [names, *(taken.column(name) for name in schema.names[1:])]
        return self._by_output(stream, pa.RecordBatch.from_arrays(columns, schema=schema)) | {COUNTS: counted.counts}

    def save(self) -> bytes:
        """All there is, as bytes."""
        parts = {name: index.save() for name, index in self._indexes.items()}
        contents = {
            "version": self.version,
            "sinks": self._sinks,
            "parts": {name: len(part) for name, part in parts.items()},
        }
        return b"\n".join([json.dumps(contents).encode(), b"".join(parts.values())])

    @classmethod
    def restore(cls, blob: bytes, streams: Sequence[Source]) -> "Registry":
        """The registry again. A stream that it did not know has no subscriptions."""
        head, _, body = blob.partition(b"\n")
        contents, registry, start = json.loads(head), cls(streams), 0
        registry.version, registry._sinks = contents["version"], registry._sinks | contents["sinks"]
        for name, size in contents["parts"].items():
            if name in registry._streams:
                part = body[start : start + size]
                registry._indexes[name] = QueryIndex.restore(part, registry._streams[name].schema, open_duckdb)
            start += size
        return registry

    def _divide(self, changes: Sequence[SubscriptionChange]) -> Iterator[list[SubscriptionChange]]:
        """Changes in order: runs of subscriptions that come, under names that nobody has, and all others one by one."""
        run: list[SubscriptionChange] = []
        names: set[tuple[str, str]] = set()
        for change in changes:
            stream, name = change.subscription.stream, change.subscription.id
            is_there = (stream, name) in names or (stream in self._indexes and name in self._indexes[stream])
            if not is_there and not change.removed:
                run.append(change)
                names.add((stream, name))
                continue
            if run:
                yield run
            yield [change]
            run, names = [], set()
        if run:
            yield run

    def _take_up_together(self, subscriptions: Sequence[Subscription]) -> None:
        """Take up subscriptions of names that nobody has: form by form, their constants in columns."""
        for stream, index in self._indexes.items():
            mine = [subscription for subscription in subscriptions if subscription.stream == stream]
            alike: list[AlikeRegions] = []
            alone: list[int] = []
            for group in self._predicates.group(mine):
                found, others = self._make_regions(stream, group, mine)
                alike += found
                alone += others
            regions = {position: self._try_region(mine[position]) for position in sorted(alone)}
            self._enter(index, mine, alike, regions)

    def _make_regions(
        self, stream: str, group: FormGroup, subscriptions: Sequence[Subscription]
    ) -> tuple[list[AlikeRegions], list[int]]:
        """The regions of predicates of one form; and the positions of those to be read one by one."""
        if group.form is None:
            return [], group.positions.tolist()
        self._refused = []
        try:
            found = self._regions[stream].make_many(group.form, group.columns, group.positions)
        except InputError:  # each of them says so
            return [], group.positions.tolist()
        self._note_early([subscriptions[position] for each in found[0] for position in each.positions.tolist()])
        return found

    def _enter(
        self,
        index: QueryIndex,
        subscriptions: Sequence[Subscription],
        alike: Sequence[AlikeRegions],
        alone: Mapping[int, Region | None],
    ) -> None:
        """Enter regions by the positions of their subscriptions; None is the region of one that is not answered."""
        answered = np.array([alone.get(position, True) is not None for position in range(len(subscriptions))], np.bool_)
        entered = [each for each, is_answered in zip(subscriptions, answered.tolist(), strict=True) if is_answered]
        positions = np.cumsum(answered) - 1
        index.add_many(
            [subscription.id for subscription in entered],
            [AlikeRegions(positions[each.positions], each.region) for each in alike],
            {int(positions[position]): region for position, region in alone.items() if region is not None},
        )
        for subscription in entered:
            if subscription.sink:
                self._sinks[subscription.stream][subscription.id] = subscription.sink

    def _take_up(self, change: SubscriptionChange) -> None:
        subscription = change.subscription
        index = self._indexes.get(subscription.stream)
        if index is None:
            return
        if subscription.id in index:
            index.remove(subscription.id)
            self._sinks[subscription.stream].pop(subscription.id, None)
        if change.removed:
            return
        region = self._try_region(subscription)
        if region is None:
            return
        index.add(subscription.id, region)
        if subscription.sink:
            self._sinks[subscription.stream][subscription.id] = subscription.sink

    def _try_region(self, subscription: Subscription) -> Region | None:
        """The region of a predicate, or nothing but a warning."""
        try:
            return self._make_region(subscription)
        except InputError as error:  # it was checked when it was entered; since then its stream has changed
            _log.warning("not answered: %s", error)
            return None

    def _make_region(self, subscription: Subscription) -> Region:
        """The region of a predicate; it is noted if an expression of it is not computed by the index yet."""
        self._refused = []
        region = self._regions[subscription.stream].make(self._predicates.form(subscription))
        self._note_early([subscription])
        return region

    def _note_early(self, subscriptions: Sequence[Subscription]) -> None:
        """Note who came before the index computed an expression of theirs, if there is such."""
        known = sum(len(some) for some, _ in self._early)
        if self._refused and subscriptions and known < _MOST_EARLY:
            self._early.append((subscriptions[: _MOST_EARLY - known], set(self._refused)))

    def _derive(self, stream: str, sql: str, weight: int = 1) -> Derived | None:
        """An expression as a column of a stream's index, if it computes that."""
        found = self._indexes[stream].derived.find(sql, weight)
        if found is None:
            self._refused.append(sql)
        return found

    def _repeat_early(self) -> None:
        """Take up again what came before the index computed an expression of it; forget about the others."""
        early, self._early = self._early, []
        for subscriptions, refused in early:
            index = self._indexes[subscriptions[0].stream]
            if any(map(index.derived.is_known, refused)):
                self._repeat(index, [each for each in subscriptions if each.id in index])
        self._early = []

    def _repeat(self, index: QueryIndex, subscriptions: Sequence[Subscription]) -> None:
        for subscription in subscriptions:
            region = self._make_region(subscription)
            index.remove(subscription.id)
            index.add(subscription.id, region)

    def _by_output(self, stream: str, answers: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """Answers apart, by where they go."""
        sinks = self._sinks[stream]
        if not sinks:
            return {self._outputs[stream]: answers}
        named = pc.index_in(answers.column(_ID), value_set=pa.array(sinks.keys(), pa.string()))
        outputs = pc.fill_null(pa.array(sinks.values(), pa.string()).take(named), self._outputs[stream])
        return {output: answers.filter(pc.equal(outputs, output)) for output in outputs.unique().to_pylist()}
