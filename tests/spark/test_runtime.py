from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.errors import InputError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.memory import MemorySink

pytestmark = pytest.mark.spark

FILES, ROWS = 8, 40
SCRIPT = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
    WITH (connector='file', path='*.parquet');
CREATE MATERIALIZED VIEW mean WITH (late_to='too_late') AS SELECT segment, window_start, AVG(speed) AS speed
    FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW slow AS SELECT ts, segment, speed FROM road WHERE speed < 20;"""


@dataclass
class Road:
    """A folder of files, a checkpoint, and a sink that outlives runs."""

    folder: Path
    sink: MemorySink

    def run(self, script: str = SCRIPT, **how) -> Outcome:
        settings = Settings("spark", "local[2]", self.folder / "checkpoint", step_rows=ROWS)
        return opened(self.folder, script).run(self.sink, settings, **how)


def opened(folder: Path, script: str = SCRIPT) -> Database:
    database = Database(Catalog.in_memory(), folder)
    database.execute(script)
    return database


def rows(sink: MemorySink) -> dict[str, Counter[str]]:
    return {output: Counter(map(repr, sink.table(output).to_pylist())) for output in sink.outputs()}


def write_file(folder: Path, number: int) -> Path:
    """A minute of readings, one of them two minutes late."""
    start = datetime(2026, 1, 1) + timedelta(minutes=number)
    times = [start + timedelta(seconds=second) for second in range(ROWS)]
    times[ROWS // 2] -= timedelta(minutes=2)
    columns = {"ts": times, "segment": [row % 3 for row in range(ROWS)], "speed": [float(row) for row in range(ROWS)]}
    schema = pa.schema({"ts": pa.timestamp("us"), "segment": pa.int32(), "speed": pa.float64()})
    pq.write_table(pa.table(columns, schema), folder / f"{number}.parquet")
    return folder / f"{number}.parquet"


@pytest.fixture(scope="module")
def road(tmp_path_factory) -> Road:
    folder = tmp_path_factory.mktemp("road")
    for number in range(FILES):
        write_file(folder, number)
    return Road(folder, MemorySink())


@pytest.fixture(scope="module")
def undisturbed(road) -> tuple[Outcome, MemorySink]:
    sink = MemorySink()
    return opened(road.folder).run(sink, Settings("fjord", step_rows=ROWS)), sink


@pytest.fixture(scope="module")
def watched() -> list[Outcome]:
    """What the two runs below have told while they went on."""
    return []


@pytest.fixture(scope="module")
def stopped(road, watched) -> Outcome:
    """A run that is told to stop after its first batch."""
    return road.run(stopped=lambda: bool(watched), watch=watched.append)


@pytest.fixture(scope="module")
def resumed(road, stopped, watched) -> Outcome:
    return road.run(watch=watched.append)


def test_run_stops_midway_when_told(stopped):
    assert 1 <= stopped.batches < FILES


def test_stopped_run_goes_on_as_if_it_had_not_been(road, resumed, undisturbed):
    outcome, sink = undisturbed
    assert rows(road.sink) == rows(sink)
    assert resumed.tallies == outcome.tallies
    assert resumed.tallies["road"].late == FILES
    assert resumed.answers == outcome.answers


def test_share_of_the_input_goes_on_after_a_stop(resumed, watched):
    total = FILES * ROWS
    assert [outcome.share for outcome in watched] == pytest.approx([outcome.read / total for outcome in watched])
    assert watched[-1].share == 1.0
    assert resumed.share is None


def test_finished_checkpoint_has_nothing_to_add(road, resumed):
    before = rows(road.sink)
    outcome = road.run()
    assert outcome.earlier == outcome.tallies["road"].read
    assert replace(outcome, earlier=resumed.earlier) == resumed
    assert rows(road.sink) == before


def test_checkpoint_of_other_queries_is_refused(road, stopped):
    with pytest.raises(InputError, match="belongs to other queries: it was begun with"):
        road.run(SCRIPT.replace("speed < 20", "speed < 30"))


def damaged(path: Path) -> None:
    """Break the data of a file, and leave its footer as it was."""
    data = path.read_bytes()
    path.write_bytes(b"PAR1" + b"\xff" * 600 + data[604:])


@pytest.mark.parametrize("harm", [damaged, Path.unlink], ids=["damaged", "deleted"])
def test_file_that_breaks_after_it_was_opened_is_told_in_one_line(tmp_path, harm):
    write_file(tmp_path, 0)
    broken = write_file(tmp_path, 1)
    sink = MemorySink()
    sink.open = lambda *_, **__: harm(broken)
    with pytest.raises(InputError, match=rf"^cannot read {broken}: ") as raised:
        opened(tmp_path).run(sink, Settings("spark", "local[2]", step_rows=ROWS))
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_stages_share_one_daemon_of_python_workers(tmp_path):
    write_file(tmp_path, 0)
    Road(tmp_path, MemorySink()).run()
    context = SparkSession.active().sparkContext
    java = context._jvm.java.lang.ProcessHandle.current().pid()
    children = [child for task in Path(f"/proc/{java}/task").iterdir() for child in read(task / "children").split()]
    commands = [read(Path(f"/proc/{child}/cmdline")) for child in children]
    assert len([command for command in commands if "skerry.spark.worker_daemon" in command]) == 1


def read(file: Path) -> str:
    """What is said of a thread or process, if it is still there."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return file.read_text()
    return ""
