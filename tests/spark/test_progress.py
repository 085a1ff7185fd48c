import json

import pytest

from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import Micros
from skerry.pipeline.outcome import Outcome, Tally
from skerry.spark import progress
from skerry.spark.progress import PROPERTY, Progress, batch_of_task, newest_before_task


def outcome(newest: int, accepted: int = 1) -> Outcome:
    return Outcome({"road": Tally(accepted, 1, 0)}, {"road": Micros(newest)}, {"slow": accepted}, batches=1)


def progress_in(folder) -> Progress:
    return Progress(SealedFolder(folder, "run"))


@pytest.fixture
def task(monkeypatch):
    """The properties of a Spark task that seems to run."""
    properties = {}

    class Context:
        @staticmethod
        def get():
            return Context

        getLocalProperty = properties.get

    monkeypatch.setattr(progress, "TaskContext", Context)
    return properties


def test_total_starts_with_nothing(tmp_path):
    assert progress_in(tmp_path).total == Outcome()


def test_total_adds_up_over_batches(tmp_path):
    record = progress_in(tmp_path)
    for batch in range(5):
        record.record(batch, outcome(10 * batch))
    assert record.total == Outcome({"road": Tally(5, 5, 0)}, {"road": 40}, {"slow": 5}, batches=5)


def test_batch_that_runs_again_counts_once(tmp_path):
    record = progress_in(tmp_path)
    for batch in (0, 1, 1):
        record.record(batch, outcome(10 * batch))
    assert record.total.tallies["road"] == Tally(2, 2, 0)
    assert record.total.batches == 2


def test_record_outlives_its_process(tmp_path):
    for batch in range(5):
        progress_in(tmp_path).record(batch, outcome(10 * batch))
    assert progress_in(tmp_path).total == Outcome({"road": Tally(5, 5, 0)}, {"road": 40}, {"slow": 5}, batches=5)


def test_batch_that_a_later_process_runs_again_counts_once(tmp_path):
    for batch in (0, 1, 2, 2):
        progress_in(tmp_path).record(batch, outcome(10 * batch))
    assert progress_in(tmp_path).total.batches == 3


def test_record_stays_small(tmp_path):
    record = progress_in(tmp_path)
    for batch in range(100):
        record.record(batch, outcome(batch))
    found = json.loads(SealedFolder(tmp_path, "run").read("progress.json"))
    assert [list(part) for part in found.values()] == [["97", "98", "99"], ["97", "98", "99"]]
    assert [place.name for place in tmp_path.iterdir()] == ["progress.json"]


def test_batch_that_runs_again_forgets_those_after_it(tmp_path):
    record = progress_in(tmp_path)
    for batch in (0, 1, 2, 1):
        record.record(batch, outcome(10 * batch))
    assert record.total == Outcome({"road": Tally(2, 2, 0)}, {"road": 10}, {"slow": 2}, batches=2)


def test_task_learns_the_newest_moments_of_the_batch_before_its_own(tmp_path, task):
    record = progress_in(tmp_path)
    for batch in range(3):
        record.record(batch, outcome(10 * batch))
    task |= {PROPERTY: record.as_property(), "streaming.sql.batchId": "2"}
    assert batch_of_task() == 2
    assert newest_before_task() == {"road": 10}


def test_task_of_the_first_batch_knows_nothing(tmp_path, task):
    task |= {PROPERTY: progress_in(tmp_path).as_property(), "streaming.sql.batchId": "0"}
    assert newest_before_task() == {}


def test_task_without_properties_is_of_the_first_batch(task):
    assert (batch_of_task(), newest_before_task()) == (0, {})


def test_batches_are_known_inside_tasks_alone(monkeypatch):
    with pytest.raises(AssertionError, match="runs inside a Spark task alone"):
        batch_of_task()
