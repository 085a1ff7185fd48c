import json
from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row

from skerry.model.batch import unpack
from skerry.model.time import Micros
from skerry.operators.joins.shedding_join import SheddingJoin
from skerry.plan.sharing import Copy
from skerry.sinks.sink import PartWriter
from skerry.sources.source import Split
from skerry.spark import operate
from skerry.spark.envelope import DIRECT, SHARE, TALLY
from skerry.spark.operate import Operate
from skerry.spark.route import Router
from skerry.testing.laws import rows_of
from tests.fjord.given import MEAN, Lanes, lanes_beyond_delay, pipeline

CLOCKS = {("#",), ("clock",)}
"""The pages that say how far time has come: the stage's, and the operator's own."""
ONE_LANE: Lanes = [[[(0, 1, 8.0)], [(25, 1, 16.0)], [(60, 2, 24.0)]]]


class StatePages(dict):
    """Spark's map state, in memory; remembers what was written."""

    getValue, iterator, removeKey = dict.get, dict.items, dict.pop

    def updateValue(self, key, value):
        self[key] = value
        self.written.append(key)


class Stage:
    """The stateful stage over one bucket, in a worker that may lose what it keeps."""

    part_writer = None

    def __init__(self, lanes: Lanes, run: str = "run", view: str = MEAN):
        self.pipeline, self.pages, self.run = pipeline(lanes, 1, view), StatePages(), run
        self.lanes, self.last = lanes, max(map(len, lanes)) - 1

    def envelopes(self, batch: int) -> list[Row]:
        """What tasks send that take one unit of each lane."""
        before = [moment for lane in self.lanes for unit in lane[:batch] for moment, *_ in unit]
        found = []
        for task, lane in enumerate(self.lanes):
            router = Router(self.pipeline, 1, task, {"road": Micros(max(before))} if before else {}, ["road"])
            router.intake.read_split(Split("road", str(task), batch, min(batch + 1, len(lane))))
            found += [Row(**vars(each)) for each in router.envelopes(done=batch == self.last) if each.grp == 0]
        return found

    def work(self, batch: int, envelopes: list[Row] | None = None) -> list[Row]:
        self.pages.written = []
        with patch.object(operate, "batch_of_task", return_value=batch):
            operating = Operate(self.pipeline, self.run, self.part_writer)
            rows = self.envelopes(batch) if envelopes is None else envelopes
            return list(operating.work_on((0, 0), iter(rows), self.pages))

    def answers(self, batch: int) -> Counter:
        return sum((rows_of(unpack(row.blob)) for row in self.work(batch)), Counter())


@pytest.fixture(autouse=True)
def _fresh_worker():
    operate._kept.clear()


def whole(lanes: Lanes) -> Counter:
    """All answers of a worker that nothing happens to."""
    operate._kept.clear()
    stage = Stage(lanes)
    return sum((stage.answers(batch) for batch in range(stage.last + 1)), Counter())


@given(lanes=lanes_beyond_delay, lost=st.sets(st.integers(0, 3)))
def test_worker_that_is_lost_changes_nothing(lanes, lost):
    expected, stage, found = whole(lanes), Stage(lanes, "other"), Counter()
    for batch in range(stage.last + 1):
        if batch in lost:
            operate._kept.clear()
        found += stage.answers(batch)
    assert found == expected


@given(lanes=lanes_beyond_delay, again=st.integers(0, 3))
def test_batch_that_runs_again_on_the_state_before_it_changes_nothing(lanes, again):
    expected, stage, found = whole(lanes), Stage(lanes, "other"), Counter()
    for batch in range(stage.last + 1):
        before = StatePages(stage.pages)
        if batch == again:
            stage.work(batch)
            stage.pages = before
        found += stage.answers(batch)
    assert found == expected


@given(lanes=lanes_beyond_delay)
def test_order_in_which_envelopes_come_does_not_matter(lanes):
    stage, other = Stage(lanes), Stage(lanes, "other")
    for batch in range(stage.last + 1):
        assert stage.work(batch) == other.work(batch, stage.envelopes(batch)[::-1])


@given(lanes=lanes_beyond_delay)
def test_nothing_but_clocks_is_left_at_the_end(lanes):
    stage = Stage(lanes)
    for batch in range(stage.last + 1):
        stage.work(batch)
    assert set(stage.pages) == CLOCKS


def test_tick_alone_closes_a_window():
    stage = Stage(ONE_LANE)
    assert stage.work(0) == []
    [tick] = [Row(**{**row.asDict(), "blob": None}) for row in stage.envelopes(1)]
    [answer] = stage.work(1, [Row(**{**tick.asDict(), "newest": 30})])
    assert (answer.grp, answer.bucket, answer.name) == (0, 0, "mean")
    assert unpack(answer.blob)["n"].to_pylist() == [1]


def test_tick_writes_clocks_alone():
    stage = Stage(ONE_LANE)
    stage.work(0)
    [tick] = [Row(**{**row.asDict(), "blob": None}) for row in stage.envelopes(0)]
    stage.work(1, [tick])
    assert set(stage.pages.written) == CLOCKS


def test_slowest_task_does_not_hold_time_back():
    stage = Stage(ONE_LANE)
    [row] = stage.envelopes(0)
    ahead = Row(**{**row.asDict(), "task": 1, "newest": 40, "blob": None})
    assert sum(unpack(answer.blob).num_rows for answer in stage.work(0, [ahead, row])) == 1


def test_operator_of_a_task_that_fails_is_not_used_again():
    stage = Stage(ONE_LANE)
    stage.work(0)
    broken = Row(**{**stage.envelopes(1)[0].asDict(), "blob": b"broken"})
    with pytest.raises(pa.ArrowInvalid):
        stage.work(1, [broken])
    assert operate._kept == {}
    assert stage.answers(1) + stage.answers(2) == whole(ONE_LANE)


def test_operator_is_kept_while_the_state_is_as_it_left_it():
    stage = Stage(ONE_LANE)
    stage.work(0)
    [kept] = operate._kept.values()
    stage.work(1)
    assert list(operate._kept.values()) == [kept]


def test_operator_of_another_run_is_not_used():
    Stage(ONE_LANE, "first").work(0)
    assert Stage(ONE_LANE, "second").work(1) == []


def test_direct_envelopes_pass_as_they_are():
    rows = [Row(grp=DIRECT, bucket=task, task=task, name="slow", newest=0, blob=b"x") for task in (2, 1)]
    assert list(Operate(pipeline([], 1, MEAN), "run").work_on((DIRECT, 1), iter(rows), None)) == rows


class KeptParts(PartWriter):
    def __init__(self):
        self.rows = {}

    def write_part(self, output, number, task, rows):
        self.rows[output, number, task] = rows


def test_many_answers_are_written_as_parts_and_their_number_is_sent(monkeypatch):
    monkeypatch.setattr(operate, "PART_BYTES", 0)
    stage = Stage(ONE_LANE)
    stage.part_writer = KeptParts()
    [answer] = [row for batch in range(3) for row in stage.work(batch)]
    assert (answer.blob, answer.row_count, answer.task) == (None, 3, 0)
    assert stage.part_writer.rows["mean", 2, 0]["n"].to_pylist() == [1, 1, 1]


def test_copies_of_many_answers_are_written_as_parts_too(monkeypatch):
    monkeypatch.setattr(operate, "PART_BYTES", 0)
    stage = Stage(ONE_LANE)
    stage.part_writer = KeptParts()
    stage.pipeline = replace(stage.pipeline, copies=(Copy("mean_too", "mean", (("count", "n"),)),))
    sent = [row.name for batch in range(3) for row in stage.work(batch)]
    assert sent == ["mean", "mean_too"]
    assert stage.part_writer.rows["mean_too", 2, 0].to_pydict() == {"count": [1, 1, 1]}


SHED = """CREATE MATERIALIZED VIEW pairs
WITH (on_overload='shed', shed_policy='oldest', memory_rows='1', loss_to='gone')
AS SELECT a.speed FROM SLIDING(road, ts, INTERVAL '1' SECOND) AS a
JOIN SLIDING(road, ts, INTERVAL '1' SECOND) AS b USING (segment)"""
CROWD: Lanes = [[[(0, 1, 8.0), (1, 2, 8.0), (2, 3, 8.0)], [(3_000_000, 1, 16.0)]]]


def test_losses_are_sent_once_though_the_worker_is_lost():
    stage, sent = Stage(CROWD, view=SHED), []
    for batch in range(stage.last + 1):
        operate._kept.clear()
        sent += [unpack(row.blob) for row in stage.work(batch) if row.name == "gone"]
    assert sum(row["shed"] for batch in sent for row in batch.to_pylist() if row["stream"] is None) == 4


def test_figures_are_told_once_though_the_worker_is_lost():
    stage, told = Stage(CROWD, view=SHED), Counter()
    for batch in range(stage.last + 1):
        operate._kept.clear()
        for row in stage.work(batch):
            told += json.loads(row.blob)["figures"]["pairs"] if row.name == TALLY else {}
    assert (told["received"], told["shed"], told["expired"]) == (8, 4, 4)


def test_share_that_a_view_may_take_in_reaches_its_operator():
    stage = Stage(CROWD, view=SHED)
    share = Row(grp=0, bucket=0, task=0, name=SHARE, newest=None, row_count=None, share=0.25, blob=None)
    with patch.object(SheddingJoin, "take_in") as taken:
        stage.work(0, [*stage.envelopes(0), share])
    taken.assert_called_once_with(0.25)
