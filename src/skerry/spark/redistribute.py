"""State spread over another number of buckets, when a run goes on with one.

It is done between two batches. The state that the last batch left is read, spread, and written to files, one per
bucket. Then Spark is asked to divide its own store among as many tasks, which adds an empty batch to its log. Then the
new layout holds; until then the old one does. In the first batch after that, each bucket hands what is in its file to
Spark, under its new address, and what is kept under old addresses is dropped. So whatever breaks on the way, what was
done is done again, or is found done.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from skerry.build.cut import CutView
from skerry.errors import InputError, RunError
from skerry.operators.operator import StatePages
from skerry.operators.spread import Spread
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.saved_pages import CLOCK
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.layout import Layout
from skerry.spark.route import live_buckets
from skerry.spark.saved_layout import Move, SavedLayout, name_folder

__all__ = ["Redistribution", "redistribute_view"]

_STATE = "grp INT, address INT, page STRING, blob BINARY"


class Redistribution:
    """The change of a checkpoint's layout to another. ``list_views`` gives the views of the last batch, by number."""

    def __init__(
        self, spark: SparkSession, list_views: Callable[[], Mapping[int, CutView]], checkpoint: Checkpoint
    ) -> None:
        self._spark, self._list_views, self._checkpoint, self._log = spark, list_views, checkpoint, checkpoint.log

    @property
    def layout(self) -> Layout:
        """How state is spread now."""
        return self._checkpoint.layout.layout

    def check(self, wanted: int | None) -> None:
        """Refuse another number of buckets where some view's state cannot be spread anew."""
        if wanted in (None, self.layout.bucket_count) or not self._log.begun:
            return
        for view in self._list_views().values():
            if view.stateful and view.is_spread and redistribute_view(view, [_save_fresh(view)], 2) is None:
                assert view.state is not None
                raise InputError(
                    f"the state of view {view.name!r} cannot be spread over {wanted} buckets ({view.state.describe()});"
                    f" go on with --buckets {self.layout.bucket_count}, or name another checkpoint"
                )

    def change(self, wanted: int | None, finish_batch: Callable[[], None]) -> None:
        """Spread state over as many buckets as wanted.

        ``finish_batch`` carries a batch that was broken off to its end. A change that was broken off is done first,
        whatever is wanted now.
        """
        while (move := self._checkpoint.layout.move) or wanted not in (None, self.layout.bucket_count):
            if move:
                self._complete(move)
            elif wanted is None or not self._begin(wanted, finish_batch):
                return

    def _begin(self, wanted: int, finish_batch: Callable[[], None]) -> bool:
        """Write down the state of each bucket; False if the last batch was broken off again."""
        if self._log.planned > self._log.done:
            finish_batch()
        if self._log.planned > self._log.done:
            return False
        following, done = replace(self.layout, bucket_count=wanted), self._log.done
        if done < 0 or not any(view.stateful for view in self._list_views().values()):
            self._checkpoint.keep_layout(SavedLayout(following))
            return True
        following = self._following(wanted)
        retired = self._write_states(following)
        self._checkpoint.keep_layout(SavedLayout(self.layout, Move(wanted, done, retired)))
        return True

    def _following(self, bucket_count: int) -> Layout:
        """The layout of the next generation, before it is known what it retires."""
        generation = self.layout.generation + 1
        return Layout(bucket_count, generation, folder=self._checkpoint.part(name_folder(generation)))

    def _complete(self, move: Move) -> None:
        """Let Spark divide its store, unless it has, and let the new layout hold."""
        if self._log.done == move.last_batch:
            self._repartition(move.bucket_count)
        # Until the disk has all of this batch, its commit too, it is not recorded: Spark could not do it again.
        self._log.settle(move.own_batch)
        self._log.settle(move.own_batch + 1)
        self._checkpoint.progress.record(move.own_batch, Outcome(), self._log.digest(move.own_batch))
        self._settle(move)

    def _repartition(self, count: int) -> None:
        """Divide Spark's store; this becomes a batch of its log, without readings."""
        manager = self._spark._jsparkSession.streamingCheckpointManager()
        try:
            manager.repartition(str(self._log.folder.absolute()), count, True)
        except Py4JJavaError as error:
            complaint = str(error.java_exception.getMessage()).splitlines()[0]
            raise RunError(f"Spark cannot divide the state in {str(self._log.folder)!r}: {complaint}") from None

    def _settle(self, move: Move) -> None:
        """From now on state is spread otherwise."""
        before = self.layout.folder
        following = replace(
            self._following(move.bucket_count),
            first_batch=move.own_batch + 1,
            retired=move.retired,
            group_limit=max(self._list_views(), default=-1) + 1,
        )
        self._checkpoint.keep_layout(SavedLayout(following))
        if before:
            shutil.rmtree(before.path, ignore_errors=True)

    def _write_states(self, following: Layout) -> tuple[tuple[int, int], ...]:
        """Spread what all buckets have, each view in a task of its own; give the addresses that Spark knows."""
        assert following.folder is not None
        shutil.rmtree(following.folder.path, ignore_errors=True)
        following.folder.path.mkdir()
        saved = self._read_state()
        # A view of which Spark has nothing yet may have files from the change before.
        views, before = self._list_views(), self.layout
        every = [(group, None, None, None) for group, view in views.items() if view.stateful]

        def work(group: pa.Table) -> pa.Table:
            return _redistribute_group(views, before, following, group)

        states = saved.unionByName(self._spark.createDataFrame(every, _STATE))
        states.groupBy("grp").applyInArrow(work, "grp INT, buckets INT").collect()
        return tuple((row.grp, row.address) for row in saved.select("grp", "address").distinct().collect())

    def _read_state(self) -> DataFrame:
        reader = self._spark.read.format("statestore").option("stateVarName", "pages")
        return reader.load(str(self._log.folder.absolute())).selectExpr(
            "key.grp AS grp", "key.bucket AS address", "user_map_key.page AS page", "user_map_value.blob AS blob"
        )


def redistribute_view(view: CutView, states: Sequence[StatePages], bucket_count: int) -> Sequence[StatePages] | None:
    """A view's states, of all its buckets, as those of other buckets; None if they cannot be."""
    spread = Spread(tuple(feed.keys for feed in view.feeds), bucket_count)
    return view.build_operate().redistribute(states, spread)


def _save_fresh(view: CutView) -> StatePages:
    return view.build_operate().snapshot()


def _redistribute_group(views: Mapping[int, CutView], before: Layout, following: Layout, saved: pa.Table) -> pa.Table:
    """Write the state that each bucket of a view begins with, from what all of them had."""
    group = saved.column("grp")[0].as_py()
    live = live_buckets(views[group], following.bucket_count)
    found = _spread_states(views[group], list(_collect_states(views, before, saved).values()), len(live))
    for bucket, pages in zip(live, found, strict=True):
        following.write_first_pages(group, bucket, pages)
    return pa.table({"grp": pa.array([group], pa.int32()), "buckets": pa.array([len(live)], pa.int32())})


def _spread_states(view: CutView, states: Sequence[dict[str, bytes]], bucket_count: int) -> Sequence[StatePages]:
    """The states of all buckets of a view, as those of so many; nothing where it has none yet."""
    if not states:
        return [{} for _ in range(bucket_count)]
    clock = _merge_clocks([json.loads(state.pop(CLOCK)) for state in states])
    found: Sequence[StatePages] | None = [{} for _ in range(bucket_count)]
    if clock["failure"] is None:
        found = redistribute_view(view, states, bucket_count) if view.is_spread else states
    assert found is not None, "refused before"
    return [{**pages, CLOCK: json.dumps(clock).encode()} for pages in found]


def _collect_states(views: Mapping[int, CutView], layout: Layout, saved: pa.Table) -> dict[int, dict[str, bytes]]:
    """The pages of each bucket of a view: from Spark, or from the files that it has not taken over yet."""
    group = saved.column("grp")[0].as_py()
    found: dict[int, dict[str, bytes]] = {}
    columns = (saved.column(name).to_pylist() for name in ("address", "page", "blob"))
    for address, page, blob in zip(*columns, strict=True):
        bucket = layout.bucket(group, address)
        if bucket is not None:
            found.setdefault(bucket, {})[page] = blob
    for bucket in live_buckets(views[group], layout.bucket_count):
        if bucket not in found and (pages := layout.read_first_pages(group, bucket)):
            found[bucket] = pages
    return dict(sorted(found.items()))


def _merge_clocks(clocks: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """How far the streams have come for all buckets: a view that had to stop in one of them stops."""
    latest: dict[str, dict[str, int]] = {"newest": {}, "heard": {}}
    for name, found in latest.items():
        for clock in clocks:
            seen = clock.get(name, {})
            assert isinstance(seen, dict)
            found |= {source: max(moment, found.get(source, moment)) for source, moment in seen.items()}
    failures = [clock["failure"] for clock in clocks if clock["failure"] is not None]
    return {**clocks[0], **latest, "failure": failures[0] if failures else None}
