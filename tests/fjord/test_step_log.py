import pytest

from skerry.errors import CheckpointError
from skerry.fjord.step_log import PlannedStep, StepLog


def step(number: int) -> PlannedStep:
    return PlannedStep({"step": number, "lanes": {"road": {"passed": number}}}, {"names": f"names-{number}.arrow"})


def written(folder, *numbers: int, after: int = 0) -> StepLog:
    log = StepLog(folder, "run")
    log.begin(after)
    for number in numbers:
        log.append(step(number))
    return log


def test_steps_are_read_as_they_were_written(tmp_path):
    written(tmp_path, 1, 2)
    assert StepLog(tmp_path, "run").read(0) == [step(1), step(2)]


def test_line_that_was_cut_short_is_dropped_with_the_next_one(tmp_path):
    written(tmp_path, 1, 2)
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    log = StepLog(tmp_path, "run")
    assert log.read(0) == [step(1)]
    log.append(step(2))
    assert StepLog(tmp_path, "run").read(0) == [step(1), step(2)]


def test_log_that_begins_before_state_is_saved_follows_on_the_one_before(tmp_path):
    written(tmp_path, 1, 2)
    written(tmp_path, 3, after=2)
    assert StepLog(tmp_path, "run").read(0) == [step(1), step(2), step(3)]
    assert StepLog(tmp_path, "run").read(2) == [step(3)]


def test_logs_are_cut_once_state_is_saved(tmp_path):
    written(tmp_path, 1, 2)
    log = written(tmp_path, 3, after=2)
    log.cut(2)
    assert log.list_starts() == [2]
    with pytest.raises(CheckpointError, match=r"000000000000.log' is missing"):
        log.read(0)


def test_step_that_is_missing_between_two_logs_is_told(tmp_path):
    written(tmp_path, 1)
    written(tmp_path, 3, after=2)
    with pytest.raises(CheckpointError, match="has step 3 where step 2 is to be"):
        StepLog(tmp_path, "run").read(0)


def test_log_of_another_run_is_told(tmp_path):
    written(tmp_path, 1)
    with pytest.raises(CheckpointError, match="is damaged, or of another run"):
        StepLog(tmp_path, "another").read(0)
