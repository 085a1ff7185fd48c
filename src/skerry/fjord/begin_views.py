"""What views take in before their first step: tables that the run has read before, and history.

It goes the way of what comes live, a chunk at a time, and what follows from it is among the answers of the first step.
A step that is done again does this again, and finds the same: history has all batches before the step, and no later one
is looked at.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from skerry.fjord.flow import RunningView
from skerry.model.time import Micros
from skerry.pipeline.backfill import Backfill, list_backfills
from skerry.pipeline.nan_keys import split_off_nan_keys
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, dead_letter_output
from skerry.replay.replay import Position, Replay

__all__ = ["Beginning", "begin_with_history", "begin_with_tables"]


@dataclass(frozen=True)
class Beginning:
    """What came of it: how many readings each view took in, how far sources are by that, and who could not be taken."""

    outcome: Outcome = field(default_factory=Outcome)
    newest: Mapping[str, Micros] = field(default_factory=dict)
    dead_letters: tuple[tuple[str, pa.RecordBatch], ...] = ()


def begin_with_tables(
    flows: Mapping[int, RunningView], numbers: Collection[int], pipeline: Pipeline, replay: Replay, position: Position
) -> None:
    """Give views the tables that they read as facts, if the run was given them before these views came."""
    for number in sorted(numbers):
        for feed in flows[number].view.feeds:
            source = feed.source.name
            if not feed.source.is_table or source not in position["lanes"]:
                continue
            read = {**position, "lanes": {source: position["lanes"][source]}}
            for split in replay.splits(replay.start(), read):
                for decoded in pipeline.connectors_by_source[source].read(split):
                    keys = list(feed.nan_keys)
                    rows = split_off_nan_keys(decoded.readings, keys, source)[0] if keys else decoded.readings
                    _work_on(flows[number], feed.name, rows)


def begin_with_history(
    flows: Mapping[int, RunningView],
    numbers: Collection[int],
    pipeline: Pipeline,
    batch: int,
    newest: Mapping[str, Micros],
    begun: Collection[str],
) -> Beginning:
    """Give views the history that they ask for, up to the batch before one.

    ``begun`` are the sources that were read before.
    """
    wanting = list_backfills(pipeline, numbers)
    if not wanting:
        return Beginning()
    backfill, counts = Backfill(pipeline, wanting, batch, newest, begun), dict.fromkeys(wanting, 0)
    for views, chunk in backfill.chunks():
        for number in views:
            flow = flows[number]
            for feed, readings in backfill.feed(flow.view, chunk):
                _work_on(flow, feed, readings)
            counts[number] += sum(rows.num_rows for rows in chunk.readings.values())
            flow.advance(chunk.newest, chunk.heard)
            _finish(flow)
    figures = {flows[number].view.name: {"readings_from_history": count} for number, count in counts.items()}
    return Beginning(Outcome(figures=figures), backfill.heard, tuple(_list_letters(backfill)))


def _list_letters(backfill: Backfill) -> Iterator[tuple[str, pa.RecordBatch]]:
    for source, letters in backfill.letters.items():
        for each in letters:
            yield dead_letter_output(source), each


def _work_on(flow: RunningView, feed: str, rows: pa.RecordBatch) -> None:
    found = next(each for each in flow.view.feeds if each.name == feed)
    if rows.num_rows:
        flow.put(found, rows)
        _finish(flow)


def _finish(flow: RunningView) -> None:
    """Let a view work on all that it was handed."""
    while flow.turn():
        pass
