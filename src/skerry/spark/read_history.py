"""What views that begin with history take in before their first batch, on Spark.

One task of that batch reads history up to it, chunk by chunk, runs the first part of the views, and sends what that
gives to their buckets ahead of what comes live. A bucket works chunk by chunk, too: rows, then how far time has come.
A batch that runs again does this again, and finds the same.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.history.backfill import Chunk
from skerry.model.batch import join, pack
from skerry.model.time import Micros
from skerry.pipeline.backfill import Backfill, list_backfills
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, dead_letter_output
from skerry.spark.batch_views import BatchViews
from skerry.spark.envelope import PAST, Envelope
from skerry.spark.route import Router, live_buckets, spread_feed

__all__ = ["find_beginnings", "read_history"]


def find_beginnings(pipeline: Pipeline, seen: BatchViews, batch: int) -> dict[str, Micros]:
    """How far sources are by their history that are read for the first time, for a view that begins with it."""
    wanting = list_backfills(pipeline, seen.came)
    return Backfill(pipeline, wanting, batch, {}, seen.begun).find_beginnings() if wanting else {}


def read_history(
    router: Router, pipeline: Pipeline, seen: BatchViews, batch: int, newest: Mapping[str, Micros]
) -> Iterator[list[Envelope]]:
    """The envelopes of each chunk. ``newest`` is how far sources have come with the batches before."""
    wanting = list_backfills(pipeline, seen.came)
    if not wanting:
        return
    backfill, counts = Backfill(pipeline, wanting, batch, newest, seen.begun), dict.fromkeys(wanting, 0)
    for index, (numbers, chunk) in enumerate(backfill.chunks()):
        for number in numbers:
            counts[number] += sum(rows.num_rows for rows in chunk.readings.values())
            yield list(_send_chunk(router, number, pipeline.views_by_number[number], backfill, chunk, index))
    for source, letters in backfill.letters.items():
        for each in letters:
            router.intake.keep(dead_letter_output(source), each)
    for source, moment in backfill.heard.items():
        router.intake.note_newest(source, moment)
    figures = {pipeline.views_by_number[n].name: {"readings_from_history": count} for n, count in counts.items()}
    router.note(Outcome(figures=figures))


def _send_chunk(
    router: Router, number: int, view: CutView, backfill: Backfill, chunk: Chunk, index: int
) -> Iterator[Envelope]:
    routed: dict[str, list[pa.RecordBatch]] = {}
    for name, readings in backfill.feed(view, chunk):
        feed = next(each for each in view.feeds if each.name == name)
        made = router.run_feed(number, feed, readings)
        if not view.stateful:
            router.intake.keep(view.name, made)
        elif made.num_rows:
            routed.setdefault(name, []).append(made)
    live = live_buckets(view, router.bucket_count)
    for order, feed in enumerate(view.feeds if view.stateful else ()):
        rows = routed.get(feed.name)
        parts = spread_feed(feed, join(rows, rows[0].schema), live) if rows else {}
        name, source = f"{PAST}{index:08}/{order:04}/{feed.name}", feed.source.name
        for bucket in live:
            blob = pack(parts[bucket]) if bucket in parts else None
            yield Envelope(number, bucket, 0, name, chunk.newest.get(source), chunk.heard.get(source), blob=blob)
