from pathlib import Path

import pyarrow as pa
import pytest

import skerry
from skerry.catalog import Catalog, Subscription
from skerry.database import RUNTIMES, Database, Settings, connect
from skerry.errors import CatalogError, InputError, OptionError, SkerryError, SourceError, UnknownColumn
from skerry.sinks.memory import MemorySink

ROAD = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts)
    WITH (connector='file', path='road.csv');"""
MEAN = """CREATE MATERIALIZED VIEW mean AS SELECT segment, AVG(speed) AS speed
    FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY segment, window_start;"""
SLOW = "CREATE MATERIALIZED VIEW slow AS SELECT ts, speed FROM road WHERE speed < 30;"
SIM = """CREATE SOURCE sim (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (connector='sim', sensors='4', duration='1min');
    CREATE MATERIALIZED VIEW names AS SELECT sensor FROM sim;"""
FJORD = Settings("fjord")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lines = [f"2026-01-01 00:00:{second:02d},{second % 2},{20 + second}" for second in range(25)]
    (tmp_path / "road.csv").write_text("\n".join(["ts,segment,speed", *lines]))
    return tmp_path


def opened(project: Path, *statements: str) -> Database:
    database = Database(Catalog.in_memory(), project)
    database.execute("".join(statements))
    return database


def answers(database: Database, settings: Settings = FJORD) -> MemorySink:
    sink = MemorySink()
    database.run(sink, settings)
    return sink


def late_to(name: str, statement: str) -> str:
    return statement.replace(" AS SELECT", f" WITH (late_to='{name}') AS SELECT", 1)


def test_project_remembers_its_catalogue(project):
    first = skerry.connect(project)
    first.execute(ROAD + SLOW)
    first.catalog.close()
    again = skerry.connect(str(project))
    assert [plan.name for plan in again.plans()] == ["slow"]
    assert (project / "skerry.db").is_file()
    again.catalog.close()


def test_view_spills_to_a_folder_of_the_project(project):
    database = opened(project, ROAD)
    database.execute("""CREATE MATERIALIZED VIEW pairs WITH (spill_to='deep/down', memory_rows='2') AS
        SELECT x.speed FROM SLIDING(road, ts, INTERVAL '9' SECOND) AS x
        JOIN SLIDING(road, ts, INTERVAL '9' SECOND) AS y ON x.segment = y.segment;""")
    (view,) = database.pipeline(database.plans(), FJORD).views
    assert view.state.overload.folder == str(project.resolve() / "deep" / "down")
    assert answers(database).table("pairs").num_rows == 25 + 2 * (23 + 21 + 19 + 17)
    assert list((project / "deep" / "down").iterdir()) == []


def test_relative_paths_start_at_the_project(project, monkeypatch):
    monkeypatch.chdir("/")
    database = skerry.connect(project)
    database.execute(ROAD + SLOW)
    assert answers(database).table("slow").num_rows == 10
    database.catalog.close()


def test_catalogue_without_a_project_is_gone_with_it():
    skerry.connect().execute(ROAD)
    assert skerry.connect().catalog.names() == []


def test_project_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CatalogError, match=r"there is no project folder '.*/nowhere'"):
        skerry.connect(tmp_path / "nowhere")


def test_view_streams_arrow_batches(project):
    batches = list(opened(project, ROAD, SLOW).view("slow").stream())
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    assert [row["speed"] for batch in batches for row in batch.to_pylist()] == [float(n) for n in range(20, 30)]


@pytest.mark.parametrize("step_rows", [1, 7, 100_000])
def test_view_streams_the_same_whatever_the_step(project, step_rows):
    batches = opened(project, ROAD, MEAN).view("mean").stream(step_rows=step_rows)
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert sorted(rows) == [(0, 24.0), (0, 34.0), (0, 42.0), (1, 25.0), (1, 35.0), (1, 42.0)]


def test_view_streams_alone(project):
    other = "CREATE SOURCE gone (a INT) WITH (connector='file', path='gone.csv');"
    database = opened(project, ROAD, SLOW, other, "CREATE MATERIALIZED VIEW v AS SELECT a FROM gone;")
    assert sum(batch.num_rows for batch in database.view("slow").stream()) == 10


def test_view_of_a_live_source_can_be_left(project):
    live = SIM.replace("duration='1min'", "speedup='100000'")
    batches = opened(project, live).view("names").stream()
    assert next(batches).num_rows > 0
    batches.close()


def test_unknown_view_is_told_with_those_there_are(project):
    with pytest.raises(CatalogError, match=r"there is no view 'fast'; known are mean, slow"):
        opened(project, ROAD, MEAN, SLOW).view("fast")


def test_statement_that_means_nothing_changes_nothing(project):
    database = opened(project)
    with pytest.raises(UnknownColumn):
        database.execute(ROAD + "CREATE MATERIALIZED VIEW v AS SELECT nothing FROM road")
    assert database.catalog.names() == []


def test_running_without_a_view_is_told(project):
    with pytest.raises(InputError, match="there is no view to run; add one with CREATE MATERIALIZED VIEW"):
        answers(opened(project, ROAD))


def test_all_views_run_together(project):
    sink = answers(opened(project, ROAD, MEAN, SLOW))
    assert {output: sink.table(output).num_rows for output in sink.outputs()} == {
        "mean": 6,
        "slow": 10,
        "dead_letters/road": 0,
    }


def test_source_that_no_view_reads_is_not_opened(project):
    other = "CREATE SOURCE gone (a INT) WITH (connector='file', path='gone.csv');"
    assert answers(opened(project, ROAD, other, SLOW)).table("slow").num_rows == 10


def test_unknown_runtime_is_told():
    with pytest.raises(OptionError, match="unknown runtime 'flink'; known are spark, fjord"):
        Settings("flink")


def test_runtimes_are_these():
    assert RUNTIMES == ("spark", "fjord", "network")


@pytest.mark.parametrize("step_rows", [0, -1])
def test_step_without_rows_is_refused(step_rows):
    with pytest.raises(OptionError, match=f"a step needs at least one row, got {step_rows}"):
        Settings("fjord", step_rows=step_rows)


def test_two_views_may_share_the_place_of_late_readings(project):
    with (project / "road.csv").open("a") as file:
        file.write("\n2025-01-01 00:00:00,0,1")
    sink = answers(opened(project, ROAD, late_to("late", MEAN), late_to("late", SLOW)))
    assert sink.table("late")["speed"].to_pylist() == [1.0]


def test_late_readings_cannot_go_to_a_view(project):
    with pytest.raises(InputError, match="'slow' sends late readings to 'mean', which is a view itself"):
        answers(opened(project, ROAD, MEAN, late_to("mean", SLOW)))


def test_late_readings_of_two_sources_cannot_meet(project):
    database = opened(project, ROAD, late_to("late", SLOW), late_to("late", SIM))
    with pytest.raises(InputError, match="'names' sends late readings to 'late', which is for late readings of 'road'"):
        answers(database)


def test_sensors_of_a_source_are_in_the_catalogue_once_it_runs(project):
    database = opened(project, SIM)
    assert database.catalog.sensors() == []
    sink = answers(database)
    assert {sensor.source for sensor in database.catalog.sensors()} == {"sim"}
    assert {sensor.name for sensor in database.catalog.sensors()} == set(sink.table("names")["sensor"].to_pylist())


def test_unknown_connector_is_told(project):
    database = opened(project, ROAD.replace("'file'", "'fax'"), SLOW)
    with pytest.raises(
        OptionError, match="source 'road' has connector 'fax'; known are file, folder, mqtt, sim, spark"
    ):
        answers(database)


def test_spark_source_is_not_for_fjord(project):
    database = opened(project, "CREATE SOURCE k (a INT) WITH (connector='spark', spark_format='rate');")
    database.execute("CREATE MATERIALIZED VIEW v AS SELECT a FROM k")
    with pytest.raises(OptionError, match="source 'k' is read by Spark itself; run it with --runtime spark"):
        answers(database)


def test_missing_file_is_told_before_anything_is_written(project):
    (project / "road.csv").unlink()
    sink = MemorySink()
    with pytest.raises(SourceError, match=r"no file matches 'road.csv'"):
        opened(project, ROAD, SLOW).run(sink, FJORD)
    assert sink.outputs() == []


def test_every_error_can_be_caught_by_its_public_name():
    with pytest.raises(SkerryError):
        skerry.connect().execute("SELECT speed FROM nowhere")


def test_project_reads_what_views_and_subscriptions_need_and_no_more(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n2\n")
    database = connect(tmp_path)
    for name in ("a", "b", "missing"):
        database.execute(f"CREATE SOURCE {name} (x INT) WITH (connector='file', path='{name}.csv')")
    with pytest.raises(InputError, match="there is no view to run"):
        database.run(MemorySink(), Settings("fjord"))
    database.execute("CREATE MATERIALIZED VIEW v AS SELECT x FROM a WHERE x > 1")
    database.subscribe([Subscription("q", "b", "x < 2")])
    sink = MemorySink()
    outcome = database.run(sink, Settings("fjord"))
    assert sorted(outcome.tallies) == ["a", "b"]
    assert sink.table("subscriptions/b").to_pylist() == [{"id": "q", "x": 1}]
    database.unsubscribe(["q"])
    assert sorted(database.run(MemorySink(), Settings("fjord")).tallies) == ["a"]
