from pathlib import Path

import pytest

from skerry.errors import CheckpointError, InputError, RunError
from skerry.spark.complaints import has_lost_a_worker, translate

KEPT = Path("/data/kept")
QUERY = (
    "[STREAM_FAILED] Query [id = 7, runId = 8] terminated with exception: {} SQLSTATE: XXKST\n=== Streaming Query ===\n"
)
PLAN = "Current State: ACTIVE\nThread State: RUNNABLE\n\nLogical Plan:\n+- LocalRelation <empty>\n"
TRACE = "\n\nJVM stacktrace:\norg.apache.spark.StreamingQueryException: {}\n\tat org.apache.spark.A(A.scala:1)\n"


def said(message: str, trace: str = "") -> str:
    return QUERY.format(message) + PLAN + TRACE.format(message) + trace


CASES = [
    (
        said("Checksum error: file:/data/kept/spark/offsets/3 at 512 exp: -18 got: -41"),
        CheckpointError("/data/kept/spark/offsets/3", "is damaged: its checksum does not match"),
    ),
    (
        said(
            "x", "Caused by: java.io.FileNotFoundException: File file:/data/kept/spark/a/3.changelog does not exist\n"
        ),
        CheckpointError("/data/kept/spark/a/3.changelog", "is missing"),
    ),
    (
        said("x", "Traceback (most recent call last):\nskerry.errors.SourceError: no file matches 'a*.csv'\n"),
        InputError("no file matches 'a*.csv'"),
    ),
    (said("x", "  File 'a.py', line 1\nskerry.errors.RunError: the disk is full\n"), RunError("the disk is full")),
    (
        said("Job aborted", "Caused by: java.lang.A$Exception: first\n\tat B\nCaused by: java.io.IOException: last\n"),
        RunError("last"),
    ),
    (
        "org.apache.spark.SparkException: Cannot call methods on a stopped SparkContext.\nThis stopped one was at:\n",
        RunError("Spark ended before its work was done: its process was told to end, or failed"),
    ),
    (said("x", "OSError: [Errno 28] No space left on device\n"), RunError("[Errno 28] No space left on device")),
    (QUERY.format("Broken pipe") + PLAN, RunError("Broken pipe")),
    ("", RunError("Spark gave no reason")),
]


@pytest.mark.parametrize(("text", "told"), CASES)
def test_complaint_is_told_in_a_line(text, told):
    found = translate(Exception(text), KEPT)
    assert (type(found), str(found)) == (type(told), str(told))


def test_file_outside_of_the_checkpoint_is_not_taken_for_one_of_it():
    found = translate(Exception(said("File file:/data/road.csv does not exist")), KEPT)
    assert str(found) == "File file:/data/road.csv does not exist"


LOST = ["Python worker exited unexpectedly (crashed)", "Python worker failed to connect back.", "Broken pipe"]


@pytest.mark.parametrize("message", LOST)
def test_lost_process_is_known_by_what_the_other_side_says(message):
    assert has_lost_a_worker(Exception(said(message)))


def test_lost_process_is_known_by_the_trace_if_nothing_is_said():
    assert has_lost_a_worker(Exception(said("", "Caused by: java.io.EOFException\n\tat java.base/java.io.A\n")))


@pytest.mark.parametrize("trace", ["skerry.errors.RunError: no\n", "Caused by: org.apache.A.PythonException: no\n"])
def test_worker_that_raised_is_not_a_lost_one(trace):
    assert not has_lost_a_worker(Exception(said("x", f"{trace}Caused by: java.io.IOException: Stream closed\n")))


def test_work_that_failed_is_not_taken_for_a_lost_process():
    assert not has_lost_a_worker(Exception(said("x", "ValueError: a step needs rows\n")))
