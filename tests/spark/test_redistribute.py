"""A run that goes on with another number of buckets gives what an undisturbed run gives."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.memory import MemorySink
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.redistribute import Redistribution
from tests.spark.test_recovery import RULES

pytestmark = pytest.mark.spark

FILES, ROWS = 7, 150
SOURCE = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH (connector='file', path='*.parquet');
"""
VIEWS = """
CREATE MATERIALIZED VIEW mean WITH (late_to='too_late') AS
SELECT segment, window_start, AVG(speed) AS speed, STDDEV(speed) AS spread, COUNT(DISTINCT sensor) AS sensors
FROM HOP(traffic, ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW visits AS
SELECT sensor, window_start, COUNT(*) AS n FROM SESSION_WINDOW(traffic, ts, INTERVAL '4' SECOND)
GROUP BY sensor, window_start;
CREATE MATERIALIZED VIEW alike AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '40' SECOND) AS a
JOIN SLIDING(traffic, ts, INTERVAL '20' SECOND) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
WHERE a.sensor <> b.sensor AND a.ts < b.ts;
CREATE MATERIALIZED VIEW followed AS
SELECT a.sensor, a.ts, b.sensor AS other, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '30' SECOND) AS a
LEFT JOIN SLIDING(traffic, ts, INTERVAL '30' SECOND) AS b
ON a.segment = b.segment AND floor(b.speed) = floor(a.speed) + 5;
CREATE MATERIALIZED VIEW together AS
SELECT key, sensor, ts, arity, members
FROM GATHER(traffic, key => floor(speed), across => sensor, within => INTERVAL '2' SECOND, min_arity => 3) AS g;
CREATE MATERIALIZED VIEW alone AS
SELECT a.sensor, a.ts, a.speed FROM SLIDING(traffic, ts, INTERVAL '30' SECOND) AS a
WHERE NOT EXISTS (SELECT 1 FROM SLIDING(traffic, ts, INTERVAL '50' SECOND) AS b
WHERE b.segment = a.segment AND floor(b.speed) = floor(a.speed) + 1);
CREATE MATERIALIZED VIEW bounded WITH (on_overload='shed', memory_rows='200', loss_to='bounded_loss') AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS a
JOIN SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
WHERE a.sensor <> b.sensor;
CREATE MATERIALIZED VIEW change AS
SELECT sensor, ts, speed - LAG(speed) OVER w AS change, SUM(speed) OVER w AS total,
  AVG(speed) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW) AS mean
FROM traffic WINDOW w AS (PARTITION BY sensor ORDER BY ts);
CREATE MATERIALIZED VIEW next AS
SELECT sensor, ts, LEAD(speed) OVER (PARTITION BY sensor ORDER BY ts) AS speed FROM traffic;
CREATE MATERIALIZED VIEW calmest AS
SELECT window_start, MAX(speed) AS speed FROM TUMBLE(mean, window_start, INTERVAL '2' MINUTE) GROUP BY window_start;
CREATE MATERIALIZED VIEW jams WITH (rules='jams.dl', output='stretch');
"""
MEAN = VIEWS[: VIEWS.index("CREATE MATERIALIZED VIEW visits")]


def write_files(folder: Path) -> None:
    """Readings of half a minute in each file, a little out of order, some late, some without a speed."""
    dice = np.random.default_rng(7)
    for number in range(FILES):
        moments = np.sort(dice.integers(0, 30_000_000, ROWS)) - dice.integers(0, 4_000_000, ROWS) * (
            dice.random(ROWS) < 0.2
        )
        speeds = dice.integers(40, 60, ROWS).astype(float)
        columns = {
            "sensor": pa.array([f"s{sensor}" for sensor in dice.integers(0, 8, ROWS)]),
            "ts": pa.array(moments + number * 30_000_000, pa.timestamp("us")),
            "segment": pa.array(dice.integers(0, 6, ROWS).astype(np.int32)),
            "speed": pa.array(speeds, mask=dice.random(ROWS) < 0.05),
        }
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")


def opened(folder: Path, views: str = VIEWS) -> Database:
    write_files(folder)
    (folder / "jams.dl").write_text(RULES)
    database = Database(Catalog.in_memory(), folder)
    database.execute(SOURCE + views)
    return database


def run(folder: Path, sink: MemorySink, buckets: int | None, batches: int | None = None, views: str = VIEWS) -> Outcome:
    """Go on with so many buckets, until so many batches are done in all; then one more is left half-way.

    In all, for the batch that the run before left half-way comes first, in the number of buckets that it had.
    """
    seen = [Outcome()]
    settings = Settings("spark", "local[2]", folder / "checkpoint", step_rows=ROWS, buckets=buckets)
    stopped = lambda: batches is not None and seen[-1].batches >= batches  # noqa: E731
    return opened(folder, views).run(sink, settings, stopped=stopped, watch=seen.append)


def rows(sink: MemorySink) -> dict[str, Counter[str]]:
    return {output: Counter(map(repr, sink.table(output).to_pylist())) for output in sink.outputs()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, Counter[str]]:
    """What a run gives that nothing happens to. On Spark, for what a view sheds is not the same in process."""
    sink = MemorySink()
    run(tmp_path_factory.mktemp("whole"), sink, 2)
    return rows(sink)


def test_every_kind_of_state_is_spread_over_more_buckets_and_over_one(tmp_path, undisturbed):
    sink = MemorySink()
    two = run(tmp_path, sink, 2, batches=2).batches
    three = run(tmp_path, sink, 3, batches=two + 1).batches
    one = run(tmp_path, sink, 1).batches
    assert 2 <= two < three < one == FILES
    assert rows(sink) == undisturbed


class BreakOff(Exception):
    """The end of a process, as far as a checkpoint is concerned."""


def break_off(*_: object) -> None:
    raise BreakOff


def read_generation(folder: Path) -> int:
    return json.loads((folder / "checkpoint" / "layout.json").read_text().splitlines()[0])["generation"]


def test_change_that_breaks_off_at_every_point_changes_nothing(tmp_path, monkeypatch, undisturbed):
    sink = MemorySink()
    for batches, buckets in ((1, 2), (2, None)):  # the checkpoint keeps the number
        run(tmp_path, sink, buckets, batches, views=MEAN)
    assert read_generation(tmp_path) == 0
    points = ((Checkpoint, "keep_layout", 3), (Redistribution, "_repartition", 3), (Redistribution, "_settle", None))
    for owner, where, buckets in points:
        monkeypatch.setattr(owner, where, break_off)
        with pytest.raises(BreakOff):
            run(tmp_path, sink, buckets, views=MEAN)
        monkeypatch.undo()
    run(tmp_path, sink, 1, batches=0, views=MEAN)  # the change to three is completed first
    run(tmp_path, sink, None, views=MEAN)
    assert read_generation(tmp_path) == 2
    assert {output: rows(sink)[output] for output in ("mean", "too_late")} == {
        output: undisturbed[output] for output in ("mean", "too_late")
    }


SPILLING = """
CREATE MATERIALIZED VIEW wide WITH (spill_to='spilled', memory_rows='100') AS
SELECT a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '40' SECOND) AS a
JOIN SLIDING(traffic, ts, INTERVAL '20' SECOND) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
"""


def test_state_that_cannot_be_spread_is_refused_with_the_number_that_goes_on(tmp_path):
    run(tmp_path, MemorySink(), 2, batches=1, views=SPILLING)
    with pytest.raises(InputError, match=r"view 'wide' cannot be spread over 3 buckets.* go on with --buckets 2"):
        run(tmp_path, MemorySink(), 3, views=SPILLING)
