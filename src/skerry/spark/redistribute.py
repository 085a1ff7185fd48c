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
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from skerry.build.cut import CutView
from skerry.errors import InputError, RunError
from skerry.model.atomic_write import write_atomically
from skerry.operators.operator import StatePages
from skerry.operators.spread import Spread
from skerry.pipeline.pipeline import Pipeline
from skerry.spark.layout import Layout
from skerry.spark.progress import Progress
from skerry.spark.route import live_buckets
from skerry.spark.saved_pages import CLOCK, read_pages, write_pages

__all__ = ["Redistribution", "redistribute_view"]

_STATE = "grp INT, address INT, page STRING, blob BINARY"


@dataclass(frozen=True)
class _Move:
    """A change of layout that has begun: everything is written down, and Spark may have been asked already."""

    bucket_count: int
    last_batch: int
    """The last batch of the layout before."""
    retired: Sequence[tuple[int, int]]


class Redistribution:
    """The layout of a checkpoint, and its change to another."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, checkpoint: Path, bucket_count: int) -> None:
        self._spark, self._views, self._folder = spark, pipeline.views, checkpoint.absolute()
        self._path = self._folder / "layout.json"
        found = json.loads(self._path.read_text()) if self._path.exists() else {}
        retired = tuple((group, address) for group, address in found.get("retired", ()))
        generation = found.get("generation", 0)
        self.layout = Layout(
            found.get("bucket_count", bucket_count),
            generation,
            found.get("first_batch", 0),
            self._state_folder(generation) if generation else None,
            retired,
        )
        self._move = _Move(**found["move"]) if found.get("move") else None

    def check(self, wanted: int | None) -> None:
        """Refuse another number of buckets where some view's state cannot be spread anew."""
        if wanted in (None, self.layout.bucket_count) or self._last_batches() == (-1, -1):
            return
        for view in self._views:
            if view.stateful and view.is_spread and redistribute_view(view, [_save_fresh(view)], 2) is None:
                assert view.state is not None
                raise InputError(
                    f"the state of view {view.name!r} cannot be spread over {wanted} buckets ({view.state.describe()});"
                    f" go on with --buckets {self.layout.bucket_count}, or name another checkpoint"
                )

    def change(self, wanted: int | None, progress: Progress, finish_batch: Callable[[], None]) -> None:
        """Spread state over as many buckets as wanted.

        ``finish_batch`` carries a batch that was broken off to its end. A change that was broken off is done first,
        whatever is wanted now.
        """
        while self._move or wanted not in (None, self.layout.bucket_count):
            if self._move:
                self._complete(self._move, progress)
            elif wanted is None or not self._begin(wanted, finish_batch):
                return

    def _begin(self, wanted: int, finish_batch: Callable[[], None]) -> bool:
        """Write down the state of each bucket; False if the last batch was broken off again."""
        planned, done = self._last_batches()
        if planned > done:
            finish_batch()
            planned, done = self._last_batches()
        if planned > done:
            return False
        following = replace(self.layout, bucket_count=wanted)
        if done < 0 or not any(view.stateful for view in self._views):
            self._keep(following, None)
            return True
        generation = self.layout.generation + 1
        following = replace(following, generation=generation, folder=self._state_folder(generation))
        self._keep(self.layout, _Move(wanted, done, self._write_states(following)))
        return True

    def _complete(self, move: _Move, progress: Progress) -> None:
        """Let Spark divide its store, unless it has, and let the new layout hold."""
        if self._last_batches()[1] == move.last_batch:
            self._repartition(move.bucket_count)
        progress.record_nothing(move.last_batch + 1)
        self._settle(move)

    def _repartition(self, count: int) -> None:
        """Divide Spark's store; this becomes a batch of its log, without readings."""
        manager = self._spark._jsparkSession.streamingCheckpointManager()
        try:
            manager.repartition(str(self._folder / "spark"), count, True)
        except Py4JJavaError as error:
            complaint = str(error.java_exception.getMessage()).splitlines()[0]
            raise RunError(f"Spark cannot divide the state in {str(self._folder)!r}: {complaint}") from None

    def _settle(self, move: _Move) -> None:
        """From now on state is spread otherwise."""
        generation, before = self.layout.generation + 1, self.layout.folder
        retired = tuple((group, address) for group, address in move.retired)
        folder = self._state_folder(generation)
        self._keep(Layout(move.bucket_count, generation, move.last_batch + 2, folder, retired), None)
        if before:
            shutil.rmtree(before, ignore_errors=True)

    def _write_states(self, following: Layout) -> list[tuple[int, int]]:
        """Spread what all buckets have, each view in a task of its own; give the addresses that Spark knows."""
        assert following.folder is not None
        shutil.rmtree(following.folder, ignore_errors=True)
        following.folder.mkdir()
        saved = self._read_state()
        # A view of which Spark has nothing yet may have files from the change before.
        every = [(group, None, None, None) for group, view in enumerate(self._views) if view.stateful]
        views, before = self._views, self.layout

        def work(group: pa.Table) -> pa.Table:
            return _redistribute_group(views, before, following, group)

        states = saved.unionByName(self._spark.createDataFrame(every, _STATE))
        states.groupBy("grp").applyInArrow(work, "grp INT, buckets INT").collect()
        return [(row.grp, row.address) for row in saved.select("grp", "address").distinct().collect()]

    def _read_state(self) -> DataFrame:
        reader = self._spark.read.format("statestore").option("stateVarName", "pages")
        return reader.load(str(self._folder / "spark")).selectExpr(
            "key.grp AS grp", "key.bucket AS address", "user_map_key.page AS page", "user_map_value.blob AS blob"
        )

    def _last_batches(self) -> tuple[int, int]:
        """The last batch that Spark planned, and the last that it has done; -1 if there is none."""
        logs = [self._folder / "spark" / log for log in ("offsets", "commits")]
        planned, done = (
            max((int(entry.name) for entry in log.glob("*") if entry.name.isdecimal()), default=-1) for log in logs
        )
        return planned, done

    def _state_folder(self, generation: int) -> Path:
        return self._folder / f"buckets-{generation}"

    def _keep(self, layout: Layout, move: _Move | None) -> None:
        known = {name: value for name, value in asdict(layout).items() if name != "folder"}
        write_atomically(self._path, json.dumps({**known, "move": move and asdict(move)}).encode())
        self.layout, self._move = layout, move


def redistribute_view(view: CutView, states: Sequence[StatePages], bucket_count: int) -> Sequence[StatePages] | None:
    """A view's states, of all its buckets, as those of other buckets; None if they cannot be."""
    spread = Spread(tuple(feed.keys for feed in view.feeds), bucket_count)
    return view.build_operate().redistribute(states, spread)


def _save_fresh(view: CutView) -> StatePages:
    return view.build_operate().snapshot()


def _redistribute_group(views: Sequence[CutView], before: Layout, following: Layout, saved: pa.Table) -> pa.Table:
    """Write the state that each bucket of a view begins with, from what all of them had."""
    group = saved.column("grp")[0].as_py()
    view, states = views[group], list(_collect_states(views, before, saved).values())
    clocks = [json.loads(state.pop(CLOCK)) for state in states]
    live = live_buckets(view, following.bucket_count)
    if states:
        clock = _merge_clocks(clocks)
        found: Sequence[StatePages] | None = [{} for _ in live]
        if clock["failure"] is None:
            found = redistribute_view(view, states, len(live)) if view.is_spread else states
        assert found is not None, "refused before"
        for bucket, pages in zip(live, found, strict=True):
            path = following.state_file(group, bucket)
            assert path is not None
            write_pages(path, {**pages, CLOCK: json.dumps(clock).encode()})
    return pa.table({"grp": pa.array([group], pa.int32()), "buckets": pa.array([len(live)], pa.int32())})


def _collect_states(views: Sequence[CutView], layout: Layout, saved: pa.Table) -> dict[int, dict[str, bytes]]:
    """The pages of each bucket of a view: from Spark, or from the files that it has not taken over yet."""
    group = saved.column("grp")[0].as_py()
    found: dict[int, dict[str, bytes]] = {}
    columns = (saved.column(name).to_pylist() for name in ("address", "page", "blob"))
    for address, page, blob in zip(*columns, strict=True):
        bucket = layout.bucket(group, address)
        if bucket is not None:
            found.setdefault(bucket, {})[page] = blob
    for bucket in live_buckets(views[group], layout.bucket_count):
        path = layout.state_file(group, bucket)
        if bucket not in found and path and path.exists():
            found[bucket] = read_pages(path)
    return dict(sorted(found.items()))


def _merge_clocks(clocks: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """How far the streams have come for all buckets: a view that had to stop in one of them stops."""
    newest: dict[str, int] = {}
    for clock in clocks:
        seen = clock["newest"]
        assert isinstance(seen, dict)
        newest |= {source: max(moment, newest.get(source, moment)) for source, moment in seen.items()}
    failures = [clock["failure"] for clock in clocks if clock["failure"] is not None]
    return {**clocks[0], "newest": newest, "failure": failures[0] if failures else None}
