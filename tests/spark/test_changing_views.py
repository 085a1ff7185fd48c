"""Views come and go while a run on Spark goes on: what they answer is what they answer in process."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings, connect
from skerry.database.running_pipeline import RunningPipeline
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from tests.fjord.many_views import lay_out
from tests.fjord.test_changing_views import (
    BASE,
    EQUAL,
    POOL,
    RAIN,
    SHORT,
    WET,
    answers,
    many,
    parts,
    rows,
    statement,
)

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

Doing = Callable[[Database], None]
STATELESS = BASE.split("CREATE MATERIALIZED VIEW")[0] + "CREATE MATERIALIZED VIEW" + BASE.rpartition("VIEW")[2]
"""The source, and the view that keeps all of its readings."""
_BY_BUCKETS = {"many"}
"""Stops where a bucket has too many combinations, or in process where all of them have."""


def run(folder: Path, settings: Settings, doings: Mapping[int, Doing], script: str = BASE) -> Outcome:
    """Run a project, and act on it after some batches."""
    database = connect(folder)
    database.execute(script)

    def act(total: Outcome) -> None:
        if doing := doings.get(total.batches):
            doing(connect(folder))

    return database.run(FileSink(folder / "out", "csv"), settings, watch=act)


def run_on(runtime: str, folder: Path, doings: Mapping[int, Doing], script: str = BASE) -> tuple[Outcome, Path]:
    project = lay_out(folder / runtime / "road").folder
    settings = Settings("fjord", step_rows=50) if runtime == "fjord" else Settings("spark", "local[2]", step_rows=50)
    return run(project, settings, doings, script), project / "out"


def check_both(folder: Path, doings: Mapping[int, Doing], script: str = BASE) -> tuple[Outcome, Path]:
    """Run on both runtimes: the same views come and go with the same batches, and answer the same."""
    expected, expected_out = run_on("fjord", folder, doings, script)
    outcome, out = run_on("spark", folder, doings, script)
    assert (outcome.came, outcome.went, outcome.refused) == (expected.came, expected.went, expected.refused)
    found, wanted = answers(out), answers(expected_out)
    assert found.keys() == wanted.keys()
    for name in found.keys() - _BY_BUCKETS:
        assert rows(found[name]) == rows(wanted[name]), name
    for name in found.keys() - _BY_BUCKETS - {"spilled"}:  # when it reads what it has put off depends on its buckets
        assert by_batch(found[name]) == by_batch(wanted[name]), name
    return outcome, out


def by_batch(found: Mapping[int, bytes]) -> dict[int, Counter[tuple[str, ...]]]:
    return {batch: rows({batch: part}) for batch, part in found.items() if rows({batch: part})}


def test_selection_and_state_come_to_a_run_without_state(tmp_path):
    come = statement(POOL["slow"], POOL["counts"], POOL["by_mjoin"])
    outcome, out = check_both(tmp_path, {3: come, 8: statement("DROP MATERIALIZED VIEW slow")}, STATELESS)
    assert (outcome.came, outcome.went) == ({"slow": 3, "counts": 3, "by_mjoin": 3}, {"slow": 8})
    assert set(parts(out, "slow")) <= set(range(3, 8))


def test_facts_that_were_read_before_are_known_to_rules_that_come(tmp_path):
    rules = (
        "base road(sensor: string, ts: time) time ts window 9 s slide 1 s.\nbase known(id: string).\n"
        "output near mode changes.\nnear(a) :- road(a, _), known(a).\n"
    )
    for runtime in ("fjord", "spark"):
        (tmp_path / runtime / "road").mkdir(parents=True)
        (tmp_path / runtime / "road" / "known.csv").write_text("id\ns1\ns4\n")
        (tmp_path / runtime / "road" / "near.dl").write_text(rules)
    known = "CREATE TABLE known (id VARCHAR) WITH (connector='file', path='known.csv');"
    near = "CREATE MATERIALIZED VIEW {} WITH (rules='near.dl', output='near');"
    doings = {5: statement(near.format("late"))}
    _, out = check_both(tmp_path, doings, STATELESS + known + near.format("early"))
    assert sum(rows(parts(out, "late")).values()) == 4


def test_views_of_every_kind_come_and_go_and_others_never_notice(tmp_path):
    undisturbed = run_on("spark", tmp_path / "undisturbed", {}, BASE + many(most=range(6)))[1]
    goes = [name for name in POOL if name not in ("spilled", "trips", "calmest", "jams", "slow")]
    doings = {
        2: statement(*POOL.values()),
        5: statement(
            "DROP MATERIALIZED VIEW many0", "DROP MATERIALIZED VIEW many3", *many(most=range(20, 24)).split(";")[:-1]
        ),
        6: lambda database: database.remove(goes),
        8: statement(POOL["slow"].replace("CREATE", "CREATE OR REPLACE").replace("40", "30"), POOL["counts"]),
        9: statement(*(f"DROP MATERIALIZED VIEW many{number}" for number in (1, 2, 4))),
    }
    outcome, out = check_both(tmp_path, doings, BASE + many(most=range(6)))
    assert (outcome.came["trips"], outcome.came["slow"], outcome.went["perhaps"]) == (2, 8, 6)
    found, before = answers(out), answers(undisturbed)
    left = {"many0": 5, "many3": 5, "many1": 9, "many2": 9, "many4": 9}
    for name, expected in before.items():
        seen = {batch: part for batch, part in expected.items() if batch < left.get(name, 100)}
        assert {batch: part for batch, part in found[name].items() if by_batch({batch: part})} == seen, name


def check_many(folder: Path, count: int) -> None:
    """At each of ten batches so many joins and aggregates come, and those before them go."""
    outcome, out = check_both(folder, many_doings(count))
    assert (len(outcome.came), len(outcome.went)) == (10 * count, 9 * count)
    assert sum(bool(parts(out, name)) for name in outcome.came) > 7 * count


def many_doings(count: int) -> dict[int, Doing]:
    return {batch: change_one_by_one(batch - 2, count) for batch in range(2, 12)}


def change_one_by_one(turn: int, count: int) -> Doing:
    def change(database: Database) -> None:
        for number in range(turn * count, (turn + 1) * count):
            kind = POOL["counts"] if number % 2 else POOL["by_mjoin"]
            name = kind.split("VIEW ")[1].split()[0]
            made = kind.replace(f"VIEW {name}", f"VIEW v{number}")
            database.execute(made.replace("'5' SECOND", f"'{2 + number % 50}' SECOND"))
        database.remove([f"v{number}" for number in range(max(0, (turn - 1) * count), turn * count)])

    return change


def test_many_views_come_and_go(tmp_path):
    check_many(tmp_path, 6)


@pytest.mark.soak
@pytest.mark.timeout(840)  # no longer than a slice of the long tests
def test_thousand_joins_and_aggregates_come_and_go(tmp_path):
    check_many(tmp_path, 100)


def test_copies_selections_and_sources_come_and_go(tmp_path):
    names = [("one", "a", "b"), ("two", "c", "d"), ("three", "e", "f")]
    equal = [EQUAL.format(name=name, flow=flow, start=start) for name, flow, start in names]
    selections = [SHORT.format(name=f"s{number}", most=20 + number) for number in range(12)]
    for runtime in ("fjord", "spark"):
        write_rain(tmp_path / runtime / "road")
    doings = {
        2: statement(*equal, *selections[6:]),
        4: statement(RAIN.format(path="rain.csv", levels="levels.csv"), WET),
        5: statement("DROP MATERIALIZED VIEW one", "DROP MATERIALIZED VIEW s0", "DROP MATERIALIZED VIEW named"),
        7: statement("DROP MATERIALIZED VIEW two", *(f"DROP MATERIALIZED VIEW s{number}" for number in range(7, 12))),
        8: statement(equal[0], "DROP MATERIALIZED VIEW wet"),
    }
    outcome, out = check_both(tmp_path, doings, BASE + "".join(selections[:6]))
    assert outcome.tallies["rain"].read == 60
    assert sum(rows(parts(out, "wet")).values()) > 20


def write_rain(folder: Path) -> None:
    folder.mkdir(parents=True)
    lines = (f"2026-01-01 00:00:{second:02},{second % 3},0.5" for second in range(60))
    (folder / "rain.csv").write_text("\n".join(["ts,segment,mm", *lines, ""]))
    (folder / "levels.csv").write_text("segment,level\n0,low\n1,high\n2,low\n")


_SIM = """CREATE SOURCE {name} (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH (connector='sim', kind='traffic', sensors='8'{more});"""


def test_what_must_be_there_from_the_start_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "spark" / "road").mkdir(parents=True)
    other = (
        """CREATE SOURCE other (speed DOUBLE) WITH (connector='spark', spark_format='csv', "spark.path"='{path}');"""
    )
    sources = other.format(path=tmp_path / "other") + _SIM.format(name="endless", more=", rate='100'")
    views = [
        "CREATE MATERIALIZED VIEW a AS SELECT speed FROM other",
        "CREATE MATERIALIZED VIEW b AS SELECT speed FROM endless",
        "CREATE MATERIALIZED VIEW c WITH (sink='spark', spark_format='orc', 'spark.path'='c') AS SELECT ts FROM road",
        "CREATE MATERIALIZED VIEW d WITH (backfill='all') AS SELECT ts FROM road",
    ]
    doings = {2: statement(*sources.split(";")[:-1], *views), 4: statement(POOL["slow"])}
    outcome, _ = run_on("spark", tmp_path, doings, STATELESS)
    assert outcome.came == {"slow": 4}
    assert "only from the start of a run; start another run" in outcome.refused["a"]
    assert "source 'endless' has no end" in outcome.refused["b"]
    assert "made ready when a run begins; start the run again" in outcome.refused["c"]
    assert "this run keeps none of source 'road'" in outcome.refused["d"]


def test_view_comes_to_a_live_run_that_a_program_has_started(tmp_path):
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(
        _SIM.format(name="sim", more=", rate='50'") + "CREATE MATERIALIZED VIEW all_of AS SELECT ts FROM sim;"
    )
    mean = (
        "CREATE MATERIALIZED VIEW mean AS SELECT window_start, COUNT(*) AS n FROM TUMBLE(sim, ts, INTERVAL '1' SECOND)"
    )
    with database.start(Settings("spark", "local[2]")) as pipeline:
        pipeline.view("all_of").wait(rows=1, timeout=120)
        database.execute(f"{mean} GROUP BY window_start")
        found = pipeline.view("mean").wait(rows=2, timeout=120)
        database.execute("DROP MATERIALIZED VIEW mean")
    assert all(count > 0 for count in found["n"].to_pylist())
    assert "mean" in pipeline.outcome.came


def test_view_comes_while_nothing_is_read(tmp_path):
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute("CREATE SOURCE s (a INT) WITH (connector='folder', path='*.csv', settle='0s');")
    database.execute("CREATE MATERIALIZED VIEW all_of AS SELECT a FROM s")
    (tmp_path / "1.csv").write_text("a\n1\n")
    with database.start(Settings("spark", "local[2]")) as pipeline:
        pipeline.view("all_of").wait(rows=1, timeout=120)
        database.execute("CREATE MATERIALIZED VIEW more AS SELECT a + 1 AS a FROM s")
        _wait_for(pipeline, "more")
        (tmp_path / "2.csv").write_text("a\n2\n")
        assert pipeline.view("more").wait(rows=1, timeout=120).to_pylist() == [{"a": 3}]
        brought = "CREATE SOURCE t (b INT) WITH (connector='folder', path='other/*.csv', settle='0s')"
        database.execute(f"{brought}; CREATE MATERIALIZED VIEW brought AS SELECT b FROM t")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "1.csv").write_text("b\n7\n")
        _wait_for(pipeline, "brought")
        assert pipeline.view("brought").wait(rows=1, timeout=120).to_pylist() == [{"b": 7}]


def _wait_for(pipeline: RunningPipeline, view: str) -> None:
    deadline = time.monotonic() + 60
    while view not in pipeline.outcome.came and time.monotonic() < deadline:
        time.sleep(0.1)


def test_view_comes_to_a_source_that_spark_reads(tmp_path):
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(
        "CREATE SOURCE ticks (timestamp TIMESTAMP, value BIGINT, WATERMARK FOR timestamp AS timestamp) "
        "WITH (connector='spark', spark_format='rate', 'spark.rowsPerSecond'='10');"
        "CREATE MATERIALIZED VIEW all_of AS SELECT value FROM ticks"
    )
    with database.start(Settings("spark", "local[2]")) as pipeline:
        pipeline.view("all_of").wait(rows=1, timeout=120)
        database.execute(
            "CREATE MATERIALIZED VIEW mean AS SELECT window_start, COUNT(*) AS n, MIN(value) AS least "
            "FROM TUMBLE(ticks, timestamp, INTERVAL '1' SECOND) GROUP BY window_start"
        )
        found = pipeline.view("mean").wait(rows=3, timeout=120).sort_by("window_start").to_pylist()
    assert [row["n"] for row in found[1:-1]] == [10] * len(found[1:-1])


def test_source_without_an_end_comes_to_a_run_of_sources_that_spark_reads(tmp_path):
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(
        "CREATE SOURCE ticks (timestamp TIMESTAMP, value BIGINT) WITH (connector='spark', spark_format='rate');"
        "CREATE MATERIALIZED VIEW all_of AS SELECT value FROM ticks"
    )
    with database.start(Settings("spark", "local[2]")) as pipeline:
        pipeline.view("all_of").wait(rows=1, timeout=120)
        all_of = "CREATE MATERIALIZED VIEW more AS SELECT speed FROM sim"
        database.execute(_SIM.format(name="sim", more=", rate='50'") + all_of)
        _wait_for(pipeline, "more")
        assert pipeline.view("more").wait(rows=1, timeout=120).num_rows > 0
