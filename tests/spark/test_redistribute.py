"""A run that goes on with another number of buckets gives what an undisturbed run gives."""

from collections import Counter
from pathlib import Path

import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.memory import MemorySink
from skerry.spark.redistribute import Redistribution
from tests.spark.test_recovery import RULES

pytestmark = pytest.mark.spark

SOURCE = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, flow INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH (connector='sim', kind='traffic', sensors='16', seed='5', duration='4min', disorder='4s');
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
FROM GATHER(traffic, key => floor(speed), across => sensor, within => INTERVAL '2' SECOND, min_arity => 4) AS g;
CREATE MATERIALIZED VIEW alone AS
SELECT a.sensor, a.ts, a.speed FROM SLIDING(traffic, ts, INTERVAL '30' SECOND) AS a
WHERE NOT EXISTS (SELECT 1 FROM SLIDING(traffic, ts, INTERVAL '50' SECOND) AS b
WHERE b.segment = a.segment AND floor(b.speed) = floor(a.speed) + 1);
CREATE MATERIALIZED VIEW bounded WITH (on_overload='shed', memory_rows='200', loss_to='bounded_loss') AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS a
JOIN SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
WHERE a.sensor <> b.sensor;
CREATE MATERIALIZED VIEW calmest AS
SELECT window_start, MAX(speed) AS speed FROM TUMBLE(mean, window_start, INTERVAL '2' MINUTE) GROUP BY window_start;
CREATE MATERIALIZED VIEW jams WITH (rules='jams.dl', output='stretch');
"""
MEAN = VIEWS[: VIEWS.index("CREATE MATERIALIZED VIEW visits")]
ROWS = 600


def opened(folder: Path, views: str = VIEWS) -> Database:
    (folder / "jams.dl").write_text(RULES)
    database = Database(Catalog.in_memory(), folder)
    database.execute(SOURCE + views)
    return database


def run(folder: Path, sink: MemorySink, buckets: int | None, batches: int | None = None, views: str = VIEWS) -> Outcome:
    """Go on with so many buckets, for so many batches; then one more is left half-way."""
    seen: list[Outcome] = []
    settings = Settings("spark", "local[2]", folder / "checkpoint", step_rows=ROWS, buckets=buckets)
    stopped = lambda: batches is not None and len(seen) >= batches  # noqa: E731
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
    for buckets, batches in ((2, 1), (3, 1), (1, None)):
        run(tmp_path, sink, buckets, batches)
    assert rows(sink) == undisturbed


def test_number_of_buckets_is_kept_with_the_checkpoint(tmp_path):
    for buckets in (3, None):
        run(tmp_path, MemorySink(), buckets, batches=1, views=MEAN)
    found = {path.name for path in (tmp_path / "checkpoint" / "spark" / "state" / "0").glob("[0-9]*")}
    assert found == {"0", "1", "2"}
    assert b'"generation": 0' in (tmp_path / "checkpoint" / "layout.json").read_bytes()


class BreakOff(Exception):
    """The end of a process, as far as a checkpoint is concerned."""


def break_off(*_: object) -> None:
    raise BreakOff


@pytest.mark.parametrize("where", ["_repartition", "_settle"])
def test_change_that_breaks_off_changes_nothing(tmp_path, monkeypatch, undisturbed, where):
    sink = MemorySink()
    run(tmp_path, sink, 2, batches=1, views=MEAN)
    monkeypatch.setattr(Redistribution, where, break_off)
    with pytest.raises(BreakOff):
        run(tmp_path, sink, 3, views=MEAN)
    monkeypatch.undo()
    run(tmp_path, sink, 1 if where == "_settle" else None, views=MEAN)
    assert rows(sink)["mean"] == undisturbed["mean"]
    assert rows(sink)["too_late"] == undisturbed["too_late"]


def test_first_batch_of_other_buckets_that_breaks_off_is_done_again(tmp_path, undisturbed):
    sink = MemorySink()
    for buckets in (2, 3, 3, None):
        run(tmp_path, sink, buckets, batches=0 if buckets == 3 else 1, views=MEAN)
    run(tmp_path, sink, None, views=MEAN)
    assert rows(sink)["mean"] == undisturbed["mean"]


SPILLING = """
CREATE MATERIALIZED VIEW wide WITH (spill_to='spilled', memory_rows='100') AS
SELECT a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '40' SECOND) AS a
JOIN SLIDING(traffic, ts, INTERVAL '20' SECOND) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed)
"""


def test_state_that_cannot_be_spread_is_refused_with_the_number_that_goes_on(tmp_path):
    run(tmp_path, MemorySink(), 2, batches=1, views=SPILLING)
    with pytest.raises(InputError, match=r"view 'wide' cannot be spread over 3 buckets.* go on with --buckets 2"):
        run(tmp_path, MemorySink(), 3, views=SPILLING)
