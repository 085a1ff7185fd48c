import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import skerry
from skerry.database import Database, RunningPipeline, Settings, connect
from skerry.errors import InputError, OptionError, RunError, SourceError, WaitTimeout
from skerry.sinks.files import FileSink
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink

LIVE = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts)
    WITH (connector='sim', kind='traffic', sensors='8', speedup='50');
    CREATE MATERIALIZED VIEW mean AS SELECT segment, AVG(speed) AS speed, COUNT(*) AS n
    FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY segment, window_start;
    CREATE MATERIALIZED VIEW slow AS SELECT ts, speed FROM road WHERE speed < 60;"""
BOUNDED = LIVE.replace("speedup='50'", "duration='1min'")
PATIENCE_S = 250
"""Longer than anything here takes on any machine: who waits for ever is found out."""


def opened(script: str = LIVE, project: Path | None = None) -> Database:
    database = connect(project)
    database.execute(script)
    return database


class Broken(MemorySink):
    """Fails with the first answers."""

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts=()) -> None:
        raise RunError("the disk is full")


def wait_for_failure(pipeline: RunningPipeline) -> None:
    with suppress(RunError):
        pipeline.wait(PATIENCE_S)


def test_pipeline_runs_until_its_block_ends():
    database = opened()
    with database.start() as pipeline:
        found = pipeline.view("mean").wait(rows=10, timeout=PATIENCE_S)
        assert pipeline.is_running
        assert database.running is pipeline
    assert found.num_rows >= 10
    assert found.schema.names == ["segment", "speed", "n"]
    assert not pipeline.is_running
    assert database.running is None
    assert pipeline.outcome.tallies["road"].read > 0


@pytest.mark.spark
def test_pipeline_runs_on_spark():
    database = opened("".join(LIVE.partition("CREATE MATERIALIZED VIEW slow")[:1]))
    with database.start(Settings("spark", "local[2]")) as pipeline:
        assert next(database.view("mean").stream()).schema.names == ["segment", "speed", "n"]
        assert pipeline.view("mean").wait(timeout=PATIENCE_S).num_rows
    assert not pipeline.is_running


@pytest.mark.spark
def test_other_master_is_refused_in_another_thread_too():
    from skerry.spark.session import session

    session("local[2]")
    with pytest.raises(RunError, match="this process runs Spark on"):
        opened(BOUNDED).start(Settings("spark", "local[1]"))


def test_bounded_input_ends_the_run():
    database, alone = opened(BOUNDED), MemorySink()
    expected = database.run(alone, Settings("fjord"))
    with database.start() as pipeline:
        outcome = pipeline.wait(PATIENCE_S)
        assert pipeline.view("mean").wait(rows=10**9) == alone.table("mean")
    assert outcome.tallies == expected.tallies
    assert outcome.answers == expected.answers


def test_view_streams_what_the_running_pipeline_answers():
    database = opened()
    with database.start() as pipeline:
        batches = database.view("mean").stream()
        found = [next(batches), next(batches)]
    rest = list(batches)  # the pipeline has ended, and so does the stream
    total = sum(batch.num_rows for batch in [*found, *rest])
    assert total == pipeline.view("mean").wait().num_rows == pipeline.outcome.answers["mean"]


def test_view_that_was_made_later_streams_by_itself():
    database = opened()
    with database.start():
        database.execute("CREATE MATERIALIZED VIEW fast AS SELECT ts, speed FROM road WHERE speed > 60")
        assert next(database.view("fast").stream()).num_rows


def test_waiting_too_long_is_told():
    with opened().start() as pipeline:
        with pytest.raises(WaitTimeout, match="of the 1000000000 rows that were waited for"):
            pipeline.view("mean").wait(rows=10**9, timeout=0.01)
        with pytest.raises(WaitTimeout, match="the pipeline still runs, after"):
            pipeline.wait(0.01)


def test_error_of_the_run_is_raised_where_the_block_ends():
    with pytest.raises(RunError, match="the disk is full"), opened().start(sink=Broken()) as pipeline:
        wait_for_failure(pipeline)


@pytest.mark.parametrize("ask", [lambda view: view.wait(timeout=PATIENCE_S), lambda view: list(view.stream())])
def test_error_of_the_run_is_raised_to_those_who_wait(ask):
    pipeline = opened().start(sink=Broken())
    with pytest.raises(RunError, match="the disk is full"):
        ask(pipeline.view("mean"))
    with pytest.raises(RunError, match="the disk is full"):
        pipeline.wait(PATIENCE_S)


def test_error_of_the_block_goes_before_that_of_the_run(caplog):
    def fail() -> None:
        with opened().start(sink=Broken()) as pipeline:
            wait_for_failure(pipeline)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "the pipeline failed too: the disk is full" in caplog.text


def test_wrong_input_is_told_before_anything_runs(tmp_path):
    database = connect(tmp_path)
    with pytest.raises(InputError, match="there is no view to run"):
        database.start()
    database.execute("CREATE SOURCE gone (a INT) WITH (connector='file', path='gone.csv')")
    database.execute("CREATE MATERIALIZED VIEW v AS SELECT a FROM gone")
    with pytest.raises(SourceError, match=r"no file matches 'gone.csv'"):
        database.start()
    assert database.running is None


def test_second_pipeline_is_refused_while_the_first_runs():
    database = opened()
    with database.start(), pytest.raises(RunError, match="runs already; stop it first"):
        database.start()
    with database.start() as again:
        assert again.is_running


def test_unknown_view_is_told():
    with opened().start() as pipeline, pytest.raises(skerry.CatalogError, match="there is no view 'fast'"):
        pipeline.view("fast")


def test_keeping_no_rows_is_refused():
    with pytest.raises(OptionError, match="keep_rows must be 1 or more, got 0"):
        opened().start(keep_rows=0)


def test_sink_is_given_all_answers(tmp_path):
    sink: Sink = FileSink(tmp_path / "out", "jsonl")
    with opened(BOUNDED).start(sink=sink, keep_rows=1) as pipeline:
        answers = pipeline.wait(PATIENCE_S).answers
    written = [line for part in (tmp_path / "out" / "slow").iterdir() for line in part.read_text().splitlines()]
    assert len(written) == answers["slow"] > 0


def test_run_that_goes_on_writes_nothing_twice(tmp_path):
    (tmp_path / "project").mkdir()
    database = opened(BOUNDED, tmp_path / "project")
    settings = Settings("fjord", checkpoint=tmp_path / "checkpoint", step_rows=50)
    for _ in range(2):
        with database.start(settings, sink=FileSink(tmp_path / "out", "jsonl")) as pipeline:
            outcome = pipeline.wait(PATIENCE_S)
    written = [line for part in (tmp_path / "out" / "slow").iterdir() for line in part.read_text().splitlines()]
    assert len(written) == outcome.answers["slow"] > 0
    database.catalog.close()


def test_catalogue_of_a_project_can_be_used_while_it_runs(tmp_path):
    database = opened(LIVE, tmp_path)
    with database.start() as pipeline:
        for number in range(20):
            database.execute(f"CREATE MATERIALIZED VIEW v{number} AS SELECT speed FROM road")
        pipeline.view("mean").wait(timeout=PATIENCE_S)
    assert len(database.plans()) == 22
    database.catalog.close()


def test_program_that_forgets_to_stop_ends_all_the_same():
    program = f"""
import skerry
database = skerry.connect()
database.execute({LIVE!r})
print(database.start().view("slow").wait(timeout={PATIENCE_S}).num_rows > 0)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("True\n", "", 0)
