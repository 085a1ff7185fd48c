from threading import Thread

import pyarrow as pa
import pytest

from skerry.database.live_answers import LiveAnswers
from skerry.errors import RunError, WaitTimeout
from skerry.sinks.memory import MemorySink

SCHEMA = pa.schema({"a": pa.int64()})


def rows(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch([pa.array(numbers, pa.int64())], schema=SCHEMA)


def opened(keep_rows: int = 100, beside: MemorySink | None = None) -> LiveAnswers:
    answers = LiveAnswers(keep_rows, beside)
    answers.open({"v": SCHEMA, "w": SCHEMA}, resume=False)
    return answers


def numbers(table: pa.Table | list[pa.RecordBatch]) -> list[int]:
    table = table if isinstance(table, pa.Table) else pa.Table.from_batches(table, SCHEMA)
    return table["a"].to_pylist()


def test_answers_that_are_there_are_given_at_once():
    answers = opened()
    answers.write("v", 0, rows(1, 2))
    answers.write("w", 0, rows(9))
    answers.write("v", 1, rows(3))
    assert numbers(answers.wait("v", 3, 0)) == [1, 2, 3]


def test_who_waits_is_woken_by_the_row_that_was_missing():
    answers, found = opened(), []
    waiting = Thread(target=lambda: found.extend(numbers(answers.wait("v", 2, 60))))
    waiting.start()
    answers.write("v", 0, rows(1))
    answers.write("v", 1, rows(2))
    waiting.join()
    assert found == [1, 2]


def test_waiting_too_long_is_told_with_what_there_is():
    answers = opened()
    answers.write("v", 0, rows(1))
    with pytest.raises(WaitTimeout, match="'v' has 1 of the 2 rows that were waited for"):
        answers.wait("v", 2, 0.01)


def test_after_the_end_nobody_waits():
    answers = opened()
    answers.write("v", 0, rows(1))
    answers.end()
    assert numbers(answers.wait("v", 2, None)) == [1]
    assert answers.wait("w", 2, None).schema == SCHEMA
    assert numbers(list(answers.follow("v"))) == [1]
    assert list(answers.follow("w")) == []


def test_batch_that_is_written_again_is_given_once():
    answers = opened()
    for _ in range(2):
        answers.write("v", 0, rows(1))
        answers.write("v", 1, rows(2))
    answers.end()
    assert numbers(list(answers.follow("v"))) == [1, 2]


def test_who_follows_is_given_each_batch_once():
    answers = opened()
    batches = answers.follow("v")
    found = []
    for number in range(3):
        answers.write("v", number, rows(number))
        found.append(next(batches))
    answers.end()
    assert numbers([*found, *batches]) == [0, 1, 2]


def test_newest_answers_are_kept_in_whole_batches():
    answers = opened(keep_rows=3)
    for number in range(5):
        answers.write("v", number, rows(number, number))
    assert numbers(answers.wait("v", 1, 0)) == [3, 3, 4, 4]


def test_reader_that_falls_behind_is_told_what_it_missed():
    answers = opened(keep_rows=1)
    batches = answers.follow("v")
    answers.write("v", 0, rows(0))
    next(batches)
    for number in range(1, 4):
        answers.write("v", number, rows(number))
    with pytest.raises(RunError, match="2 rows of 'v' came and went before they were read"):
        next(batches)


def test_other_sink_is_given_everything():
    beside = MemorySink()
    answers = opened(keep_rows=1, beside=beside)
    for number in range(3):
        answers.write("v", number, rows(number))
    answers.close()
    assert numbers(beside.table("v")) == [0, 1, 2]
