import dataclasses
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.fjord.runtime import FjordRuntime
from skerry.lang.sql import Session
from skerry.pipeline.outcome import Tally
from skerry.pipeline.pipeline import Pipeline
from skerry.sinks.memory import MemorySink
from skerry.sources.file import FileConnector
from skerry.sources.sim.traffic import TrafficConnector
from tests.fjord.given import (
    SCHEMA,
    Lanes,
    answered,
    batch,
    lanes_beyond_delay,
    lanes_within_delay,
    means,
    pipeline,
    rows,
    run,
    slows,
    step_sizes,
)

TWO_LANES: Lanes = [[[(0, 1, 8.0), (25, 1, 16.0)], [(60, 1, 24.0)]], [[(3, 2, -1.0)], [(70, 2, -2.0)]]]


def count(lanes: Lanes) -> int:
    return sum(len(unit) for lane in lanes for unit in lane)


def over_files(folder: Path, lanes: Lanes, step_rows: int, block_bytes: int) -> Pipeline:
    """The same views over a text file a lane, read in small blocks."""
    for place, lane in enumerate(lanes):
        readings = pa.Table.from_batches([batch(unit) for unit in lane], SCHEMA)
        pyarrow.csv.write_csv(readings, folder / f"{place}.csv")
    given_pipeline = pipeline([], step_rows)
    connector = FileConnector.open(given_pipeline.sources[0], folder)
    return dataclasses.replace(given_pipeline, connectors=(dataclasses.replace(connector, block_bytes=block_bytes),))


def live_road(speedup: str) -> Pipeline:
    """A view over simulated traffic without an end."""
    session = Session(Catalog.in_memory())
    session.execute(
        f"""CREATE SOURCE road (ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts)
            WITH (connector='sim', sensors='2', lanes='1', speedup='{speedup}');
            CREATE MATERIALIZED VIEW n AS SELECT COUNT(*) AS n FROM TUMBLE(road, ts, INTERVAL '10' SECOND)"""
    )
    [plan] = session.plans()
    return Pipeline((TrafficConnector.open(plan.sources[0]),), (cut_view(plan),))


@given(lanes=lanes_within_delay, step_rows=step_sizes)
def test_answers_depend_on_neither_steps_nor_lanes_nor_units_nor_order_within_the_delay(lanes, step_rows):
    _, sink = run(lanes, step_rows)
    assert rows(sink.table("mean")) == means(lanes)
    assert rows(sink.table("slow")) == slows(lanes)
    assert sink.table("too_late").num_rows == 0


@settings(max_examples=80)
@given(lanes=lanes_within_delay, step_rows=step_sizes, block_bytes=st.sampled_from([40, 150, 1 << 20]))
def test_answers_over_text_files_do_not_depend_on_blocks(lanes, step_rows, block_bytes):
    with tempfile.TemporaryDirectory() as folder:
        _, sink = answered(over_files(Path(folder), lanes, step_rows, block_bytes))
    assert rows(sink.table("mean")) == means(lanes)
    assert sink.table("too_late").num_rows == 0


@given(lanes=lanes_beyond_delay, step_rows=step_sizes)
def test_every_reading_is_accepted_or_late_and_never_both(lanes, step_rows):
    outcome, sink = run(lanes, step_rows)
    tally = outcome.tallies.get("road", Tally())
    assert tally.read == count(lanes)
    assert sum(sink.table("mean")["n"].to_pylist()) == tally.accepted
    assert sink.table("too_late").num_rows == tally.late


@given(lanes=lanes_beyond_delay, step_rows=step_sizes)
def test_each_step_tells_what_it_gave(lanes, step_rows):
    for outcome, answers in FjordRuntime(pipeline(lanes, step_rows), MemorySink()).steps():
        assert outcome.answers == {output: found.num_rows for output, found in answers.items()}
        assert outcome.batches == 1
        assert all(found.num_rows for found in answers.values())


def test_window_is_answered_as_soon_as_the_watermark_passes_its_end():
    steps = [
        answers
        for _, answers in FjordRuntime(
            pipeline([[[(0, 1, 8.0)], [(29, 1, 8.0)], [(30, 1, 8.0)]]], 1), MemorySink()
        ).steps()
    ]
    assert [answers["mean"].num_rows if "mean" in answers else 0 for answers in steps] == [0, 0, 3]


def test_run_hands_each_step_to_the_sink_under_its_number():
    sink = MemorySink()
    FjordRuntime(pipeline(TWO_LANES, 1), sink).run()
    assert [row["ts"].microsecond for row in sink.table("slow").to_pylist()] == [3, 70]


def test_watcher_sees_the_total_after_each_step():
    seen = []
    outcome = FjordRuntime(pipeline(TWO_LANES, 1), MemorySink()).run(watch=seen.append)
    assert [total.batches for total in seen] == list(range(1, len(seen) + 1))
    assert seen[-1] == outcome
    assert outcome.tallies == {"road": Tally(5, 0, 0)}
    assert outcome.newest == {"road": 70}


def test_steps_end_when_told_to_stop():
    given_run, told = FjordRuntime(pipeline(TWO_LANES, 1), MemorySink()), []
    for outcome, _ in given_run.steps(lambda: len(told) == 2):
        told.append(outcome)
    assert len(told) == 2


def test_run_that_is_stopped_closes_no_window_before_its_time():
    sink = MemorySink()
    FjordRuntime(pipeline([[[(0, 1, 8.0)], [(5, 1, 8.0)]]], 1), sink).run(stopped=iter([False, True]).__next__)
    assert sink.table("mean").num_rows == 0


def test_source_without_readings_gives_no_answer():
    outcome, sink = run([[]])
    assert outcome.answers == {}
    assert all(sink.table(output).num_rows == 0 for output in sink.outputs())


def test_dead_letters_are_counted_and_kept(tmp_path):
    (tmp_path / "0.csv").write_text("ts,segment,speed\n1970-01-01,1,8\nnever,1,8\n1970-01-01,1,fast\n")
    given_pipeline = pipeline([])
    connector = FileConnector.open(given_pipeline.sources[0], tmp_path)
    outcome, sink = answered(dataclasses.replace(given_pipeline, connectors=(connector,)))
    assert outcome.tallies == {"road": Tally(1, 0, 2)}
    assert sink.table("dead_letters/road")["reading"].to_pylist() == ["never,1,8", "1970-01-01,1,fast"]


def test_live_source_goes_on_until_told_to_stop():
    seen, sink = [], MemorySink()
    given_run = FjordRuntime(live_road("100000"), sink)
    outcome = given_run.run(stopped=lambda: sink.table("n").num_rows > 3 if seen else False, watch=seen.append)
    assert sink.table("n").num_rows > 3
    assert outcome.tallies["road"].read == sum(outcome.tallies["road"].__dict__.values())


def test_live_source_that_has_nothing_yet_can_be_stopped():
    waits = iter([False, False, True])
    outcome = FjordRuntime(live_road("0.001"), MemorySink()).run(stopped=waits.__next__)
    assert outcome.batches == 0
