"""Views that begin with history: what each takes in before its first batch.

History up to a batch, then live input from the next one on: neither a gap nor a double. A source that a new run reads
from its start (a file) is read by the run itself; of what earlier runs had of it, only readings before its first count.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.errors import InputError
from skerry.history.backfill import Chunk, find_newest, read_chunks
from skerry.history.folder import HistoryFolder
from skerry.history.past import Past
from skerry.model.backfill_span import BACKFILL, read_backfill
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros, show
from skerry.model.window import Window
from skerry.pipeline.nan_keys import split_off_nan_keys
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.node import walk
from skerry.plan.view import ViewPlan
from skerry.sources.source import Connector

__all__ = ["Backfill", "check_backfill", "describe_backfill", "find_beginning", "list_backfills"]

_log = logging.getLogger(__name__)
_HISTORY = "history"
"""Where a dead letter was found."""


def check_backfill(plan: ViewPlan, pipeline: Pipeline, known: Iterable[str] = ()) -> None:
    """Refuse a view that is to begin with history, if this run does not go on with that of all its streams.

    ``known`` are the sources that the run reads already: of another one, what earlier runs have kept is all there is.
    """
    if read_backfill(plan.options) is None:
        return
    history = pipeline.history
    kept = set(history.streams) if history else set()
    kept |= set(history.folder.streams()) - set(known) if history else set()
    for source in plan.sources:
        if source in pipeline.foreign:
            wrong = f"view {plan.name!r} is to begin with history, and Spark itself reads source {source.name!r}"
            raise InputError(f"{wrong}; leave backfill out")
        if not source.is_table and source.name not in kept:
            wrong = f"view {plan.name!r} is to begin with history, and this run keeps none of source {source.name!r}"
            raise InputError(f"{wrong}; {_advise(source)}, or leave backfill out")
        if source.event_time is None and read_backfill(plan.options) != END_OF_TIME:
            wrong = f"view {plan.name!r}: source {source.name!r} has no event time that a span could be counted in"
            raise InputError(f"{wrong}; write backfill='all'")


def _advise(source: Source) -> str:
    if source.history.get("history", "true").lower() == "false":
        return "take history='false' out of its declaration, and start the run again"
    return "start it in a project (--project DIR), with history='true' behind WITH of the source or with --history"


def find_beginning(plan: ViewPlan, pasts: Sequence[Past]) -> Micros:
    """From which moment on a view reads: so long before the newest reading, and then back to where a window begins."""
    span_us = read_backfill(plan.options)
    newest = find_newest(pasts)
    if span_us is None or span_us >= END_OF_TIME or newest <= START_OF_TIME:
        return START_OF_TIME
    windows = [window for node in walk(plan.root) if isinstance(window := getattr(node, "window", None), Window)]
    since = int(newest) - span_us
    if windows:
        widest = max(windows, key=lambda window: window.slide_us)
        since = widest.origin_us + (since - widest.origin_us) // widest.slide_us * widest.slide_us
    return Micros(max(since, START_OF_TIME))


def describe_backfill(plan: ViewPlan, folder: HistoryFolder) -> str:
    """What a view would begin with now, for ``explain``."""
    streams = [source for source in plan.sources if not source.is_table]
    pasts = [Past(folder, source, 2**63 - 1) for source in streams]
    since = find_beginning(plan, pasts)
    lines = [f"view {plan.name} begins with history (backfill = {plan.options[BACKFILL.name]!r})"]
    for past in pasts:
        found = past.count(since)
        read = "nothing of it is kept yet"
        if found.numbers.size:
            span = f", from {show(Micros(int(found.least.min())))} to {show(Micros(int(found.most.max())))}"
            read = f"{int(found.counts.sum()):,} readings of {found.numbers.size:,} batches"
            read += span if past.source.event_time else ""
        lines.append(f"  {past.source.name}: {read}")
    return "\n".join([*lines, "  a source that a new run reads from its start, such as a file, is not read twice"])


def list_backfills(pipeline: Pipeline, numbers: Iterable[int]) -> list[int]:
    """The views among some that begin with history, by their numbers."""
    views = pipeline.views_by_number
    return [number for number in sorted(numbers) if read_backfill(views[number].view.options) is not None]


@dataclass(frozen=True)
class _Group:
    """Views that read the same of history."""

    since: Micros
    pasts: tuple[Past, ...]
    views: tuple[int, ...]


class Backfill:
    """What views that come with a batch take in of history.

    ``batch`` is the first that they see. ``newest`` is how far sources have come, ``begun`` the sources that the run
    has read before: others go on behind their history.
    """

    def __init__(
        self, pipeline: Pipeline, numbers: Sequence[int], batch: int, newest: Mapping[str, Micros], begun: Iterable[str]
    ) -> None:
        self._pipeline, self._batch, self._newest = pipeline, batch, newest
        self._begun = set(begun)
        self._pasts: dict[str, Past] = {}
        self._groups = self._group(numbers)
        self.heard: dict[str, Micros] = {}
        """The newest readings of the sources that the run has not read before."""
        self.letters: dict[str, list[pa.RecordBatch]] = {}
        """Readings that views cannot take in, by source."""

    def find_beginnings(self) -> dict[str, Micros]:
        """What ``heard`` comes to when all chunks are read, from event times alone."""
        found: dict[str, Micros] = {}
        for group in self._groups:
            for past in group.pasts:
                most, name = past.count(group.since).most, past.source.name
                if most.size and name not in self._begun and past.source.event_time is not None:
                    found[name] = Micros(max(found.get(name, START_OF_TIME), int(most.max())))
        return found

    def chunks(self) -> Iterator[tuple[Sequence[int], Chunk]]:
        """All that is read, and the views that take it in."""
        for group in self._groups:
            come = {name: moment for name, moment in self._newest.items() if name in self._begun}
            for chunk in read_chunks(group.pasts, group.since, come):
                for name, moment in chunk.heard.items():
                    if name not in self._begun:
                        self.heard[name] = max(self.heard.get(name, moment), moment)
                yield group.views, chunk

    def feed(self, view: CutView, chunk: Chunk) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What the feeds of a view take in of a chunk, by feed."""
        for feed in view.feeds:
            name = feed.source.name
            readings = chunk.readings.get(name)
            if readings is None:
                continue
            keys = sorted({key for each in view.feeds if each.source.name == name for key in each.nan_keys})
            if keys:
                readings, letters = split_off_nan_keys(readings, keys, _HISTORY)
                if letters.num_rows and feed is next(each for each in view.feeds if each.source.name == name):
                    self.letters.setdefault(name, []).append(letters)
            if not self._pipeline.needs_stamps(name):
                readings = readings.select(feed.source.schema.names)
            yield feed.name, readings

    def _group(self, numbers: Sequence[int]) -> list[_Group]:
        found: dict[tuple[Micros, tuple[str, ...]], list[int]] = {}
        for number in numbers:
            plan = self._pipeline.views_by_number[number].view
            names = tuple(sorted(source.name for source in plan.sources if not source.is_table))
            since = find_beginning(plan, [self._open(name) for name in names])
            self._tell(plan, names, since)
            found.setdefault((since, names), []).append(number)
        return [_Group(since, tuple(map(self._open, names)), tuple(views)) for (since, names), views in found.items()]

    def _open(self, name: str) -> Past:
        if name not in self._pasts:
            history, connector = self._pipeline.history, self._pipeline.connectors_by_source[name]
            assert history, "checked before"
            bound = history.number(self._batch)
            self._pasts[name] = Past(history.folder, connector.definition, bound, history.own, _find_start(connector))
        return self._pasts[name]

    def _tell(self, plan: ViewPlan, names: Sequence[str], since: Micros) -> None:
        """Let the user know where there is less than was asked for."""
        for name in names:
            counted = self._open(name).count(since)
            first = int(counted.least.min(initial=END_OF_TIME))
            if not counted.numbers.size:
                _log.warning(
                    "view %r: there is nothing of source %r in history that it could begin with", plan.name, name
                )
            elif since > START_OF_TIME and first > since and self._open(name).count(START_OF_TIME).least.min() >= since:
                _log.warning(
                    "view %r: the history of source %r begins at %s; it was to be read from %s on",
                    *(plan.name, name, show(Micros(first)), show(since)),
                )


def _find_start(connector: Connector) -> Micros:
    """From when on a run reads a source by itself, whatever an earlier run had of it."""
    if not connector.starts_over:
        return END_OF_TIME
    lanes = connector.lanes()
    if any(lane.is_received for lane in lanes):
        return START_OF_TIME
    return min((lane.first(0) for lane in lanes if connector.live or lane.count()), default=END_OF_TIME)
