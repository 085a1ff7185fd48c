"""Schedulers choose whose answers come first, never what they are."""

import pytest
from hypothesis import given, settings

import skerry
from skerry.errors import OptionError
from skerry.fjord.runtime import FjordRuntime
from skerry.fjord.scheduler import SCHEDULERS
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.memory import MemorySink
from tests.fjord.given import lanes_beyond_delay, pipeline, rows, step_sizes

COUNT = "SELECT window_start, COUNT(*) AS n FROM TUMBLE(road, ts, INTERVAL '10' MICROSECOND) GROUP BY window_start"
VIEWS = [f"CREATE MATERIALIZED VIEW v{n} WITH (priority='{n}') AS {COUNT}" for n in (1, 5, 3)]
READINGS = [[[(moment, 0, 1.0)] for moment in range(100, 160, 5)]]


class Order(MemorySink):
    """Notes in which order outputs come."""

    def __init__(self):
        super().__init__()
        self.came = []

    def write(self, output, number, rows, parts=()):
        self.came.append(output)
        super().write(output, number, rows, parts)


def run(given_pipeline, scheduler):
    sink = Order()
    FjordRuntime(given_pipeline, sink, RunOptions(scheduler=scheduler)).run()
    return sink


@settings(max_examples=15)
@given(lanes=lanes_beyond_delay, step_rows=step_sizes)
def test_answers_are_the_same_under_every_scheduler(lanes, step_rows):
    found = [run(pipeline(lanes, step_rows), name) for name in SCHEDULERS]
    for output in ("mean", "slow", "too_late"):
        assert len({frozenset(rows(sink.table(output)).items()) for sink in found}) == 1


def test_answers_of_the_view_that_matters_most_come_first():
    assert run(pipeline(READINGS, 1_000, *VIEWS), None).came == ["v5", "v3", "v1"]


def test_round_robin_does_not_ask_who_matters():
    assert run(pipeline(READINGS, 1_000, *VIEWS), "round-robin").came == ["v1", "v5", "v3"]


def test_unknown_scheduler_is_refused_with_those_that_are_known():
    with pytest.raises(OptionError, match="'lottery'; known are round-robin, tickets, frequencies"):
        skerry.Settings("fjord", scheduler="lottery")
    with pytest.raises(OptionError, match="the spark runtime has no scheduler"):
        skerry.Settings("spark", scheduler="tickets")


@pytest.mark.parametrize("priority", ["0", "101", "much", "1.5"])
def test_priority_is_a_whole_number(priority):
    with pytest.raises(OptionError, match=r"priority is '.*'; known are whole numbers from 1 to 100"):
        pipeline([[]], 10, f"CREATE MATERIALIZED VIEW v WITH (priority='{priority}') AS {COUNT}")
