"""Views come and go while a run goes on: the others answer as if nothing had been, and what comes starts from there."""

import csv
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings, connect
from skerry.errors import CatalogError, InputError
from skerry.fjord import checkpoint
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from tests.fjord.many_views import FEW_VIEWS, MANY_VIEWS, lay_out

SETTINGS = Settings("fjord", step_rows=50)
EVERYTHING = "CREATE MATERIALIZED VIEW everything AS SELECT sensor, ts, segment, speed, flow FROM road;"
BASE = FEW_VIEWS + EVERYTHING
POOL = {
    statement.split("VIEW ")[1].split()[0]: statement + ";"
    for statement in MANY_VIEWS.removeprefix(FEW_VIEWS).split(";")
    if "VIEW " in statement and "VIEW last " not in statement and "FROM running" not in statement
}
POOL["counts"] = """CREATE MATERIALIZED VIEW counts AS SELECT flow, window_start, COUNT(*) AS n
  FROM TUMBLE(road, ts, INTERVAL '5' SECOND) GROUP BY flow, window_start;"""
_BY_ARRIVAL = {"bounded", "adapted", "many", "running", "growing", "perhaps_now"}
"""Views whose rows follow from the order in which readings come, and from the steps: they give readings up, or stop, or
say what has changed."""


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture(scope="module", autouse=True)
def _no_disk():
    """Do not wait for the disk: no power is lost here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@dataclass
class Course:
    """What is done to the views after which batch."""

    doings: dict[int, Callable[[Database], None]]
    batches: list[int] = field(default_factory=list)
    shares: list[float | None] = field(default_factory=list)

    def run(self, folder: Path, out: str, script: str = BASE) -> tuple[Outcome, Path]:
        """Run over the input of a folder, and give where the answers are."""
        database = Database(Catalog.in_memory(), folder)
        database.execute(script)

        def act(total: Outcome) -> None:
            self.shares.append(total.share)
            if doing := self.doings.get(total.batches):
                doing(database)

        return database.run(FileSink(folder / out, "csv"), SETTINGS, watch=act), folder / out


def statement(*statements: str) -> Callable[[Database], None]:
    return lambda database: database.execute(";".join(statements))


def parts(folder: Path, view: str) -> dict[int, bytes]:
    return {int(path.stem.split("-")[1]): path.read_bytes() for path in sorted((folder / view).glob("part-*"))}


def rows(found: Mapping[int, bytes]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row) for part in found.values() for row in list(csv.reader(part.decode().splitlines()))[1:])


def answers(out: Path) -> dict[str, dict[int, bytes]]:
    """The parts of all outputs but dead letters, which name the folder of the input."""
    return {path.name: parts(out, path.name) for path in sorted(out.iterdir()) if path.name != "dead_letters"}


@pytest.fixture(scope="module")
def input_(tmp_path_factory) -> Path:
    return lay_out(tmp_path_factory.mktemp("road")).folder


@pytest.fixture(scope="module")
def undisturbed(input_) -> dict[str, dict[int, bytes]]:
    return answers(Course({}).run(input_, "undisturbed")[1])


def twin(tmp_path: Path, readings: dict[int, bytes], *names: str) -> Path:
    """Answer views over the readings of some batches alone."""
    folder = lay_out(tmp_path).folder
    for path in (folder / "road").iterdir():
        path.unlink()
    lines = [line for part in readings.values() for line in part.decode().splitlines()[1:]]
    lines.sort(key=lambda line: line.split(",")[1])  # so none of them is late
    (folder / "road" / "all.csv").write_text("\n".join(["sensor,ts,segment,speed,flow", *lines, ""]))
    script = FEW_VIEWS + "".join(POOL[name] for name in names)
    return Course({}).run(folder, "twin", script)[1]


def check_twin(tmp_path: Path, out: Path, since: dict[str, int], gone: set[str]) -> None:
    """Views that came have answered what a twin answers to which the later readings alone were given."""
    readings = parts(out, "everything")
    for batch in set(since.values()):
        names = [name for name, first in since.items() if first == batch and name not in _BY_ARRIVAL]
        later = {number: part for number, part in readings.items() if number >= batch}
        expected = twin(tmp_path / str(batch), later, *names)
        for name in names:
            given, found = rows(parts(out, name)), rows(parts(expected, name))
            assert given <= found if name in gone else given == found, name


def check_random(input_: Path, undisturbed: dict[str, dict[int, bytes]], tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    since: dict[str, int] = {}
    gone: set[str] = set()

    def change(database: Database) -> None:
        batch = len(course.batches)
        course.batches.append(batch)
        for name in dice.sample(sorted(POOL), 5):
            if name not in since:
                database.execute(POOL[name])
                since[name] = batch
            elif name not in gone and dice.random() < 0.7:
                database.execute(f"DROP MATERIALIZED VIEW {name}")
                gone.add(name)

    course = Course({batch: change for batch in range(1, 12)})
    course.batches.append(0)
    outcome, out = course.run(input_, f"changing-{seed}")
    found = answers(out)
    assert {name: found[name] for name in undisturbed} == undisturbed
    assert outcome.came == since
    assert set(outcome.went) == gone
    assert outcome.refused == {}
    check_twin(tmp_path, out, since, gone)


def test_views_come_and_go_and_others_never_notice(input_, undisturbed, tmp_path):
    check_random(input_, undisturbed, tmp_path, 1)


SHORT = "CREATE MATERIALIZED VIEW {name} AS SELECT ts, speed FROM road WHERE speed < {most};"


def test_view_that_comes_anew_under_its_name_begins_anew(input_):
    again = statement("DROP MATERIALIZED VIEW slow", SHORT.format(name="slow", most=10))
    outcome, out = Course({2: statement(POOL["slow"]), 6: again}).run(input_, "anew")
    assert min(parts(out, "slow")) >= 6
    assert {len(row) for row in rows(parts(out, "slow"))} == {2}
    assert (outcome.came, outcome.went) == ({"slow": 6}, {"slow": 6})


def test_views_that_read_one_that_is_another_by_now_begin_anew_with_it(input_):
    chain = [
        SHORT.format(name="slow", most=40),
        "CREATE MATERIALIZED VIEW slower AS SELECT * FROM slow WHERE speed < 35",
    ]
    replaced = SHORT.format(name="slow", most=30).replace("CREATE", "CREATE OR REPLACE")
    outcome, out = Course({2: statement(*chain), 6: statement(replaced)}).run(input_, "replaced")
    assert outcome.came == {"slow": 6, "slower": 6}
    assert rows(parts(out, "slower")) == rows(parts(out, "slow"))


def many(*, most: range) -> str:
    """Aggregates that are answered together."""
    return "".join(
        f"""CREATE MATERIALIZED VIEW many{number} AS SELECT flow, window_start, COUNT(*) AS n
        FROM TUMBLE(road, ts, INTERVAL '5' SECOND) WHERE segment < 2 GROUP BY flow, window_start
        HAVING COUNT(*) > {number};"""
        for number in most
    )


def test_views_that_are_answered_together_leave_one_by_one(input_):
    script = BASE + many(most=range(10))
    expected = answers(Course({}).run(input_, "together", script)[1])
    leave = statement("DROP MATERIALIZED VIEW many0", "DROP MATERIALIZED VIEW many4")
    rest = statement(*(f"DROP MATERIALIZED VIEW many{number}" for number in (1, 2, 3, 5, 6, 7, 9)))
    come = statement(*many(most=range(20, 30)).split(";")[:-1])
    outcome, out = Course({4: leave, 6: come, 8: rest}).run(input_, "leaving", script)
    found = answers(out)
    assert found["many8"] == expected["many8"]
    assert found["mean"] == expected["mean"]
    assert found["many0"] == {number: part for number, part in expected["many0"].items() if number < 4}
    assert found["many9"] == {number: part for number, part in expected["many9"].items() if number < 8}
    assert len(outcome.came) == 10


EQUAL = """CREATE MATERIALIZED VIEW {name} AS SELECT flow AS {flow}, window_start AS {start}, COUNT(*) AS n
  FROM TUMBLE(road, ts, INTERVAL '5' SECOND) GROUP BY flow, window_start;"""
ALIKE = """CREATE MATERIALIZED VIEW alike AS SELECT flow, window_start, SUM(speed) AS speed
  FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY flow, window_start;"""


@pytest.mark.parametrize("more", ["", ALIKE])
def test_view_with_copies_leaves_and_they_go_on(input_, more):
    names = [("one", "a", "b"), ("two", "c", "d"), ("three", "e", "f")]
    script = BASE + "".join(EQUAL.format(name=name, flow=flow, start=start) for name, flow, start in names) + more
    shorter = [SHORT.format(name=name, most=30) for name in ("short", "shorter")]
    script += "".join(shorter)
    expected = answers(Course({}).run(input_, f"equal{bool(more)}", script)[1])
    leave = statement("DROP MATERIALIZED VIEW one", "DROP MATERIALIZED VIEW short")
    last = statement("DROP MATERIALIZED VIEW two")
    again = statement(EQUAL.format(name="one", flow="x", start="y"))
    _, out = Course({4: leave, 6: last, 7: again}).run(input_, f"copies{bool(more)}", script)
    found = answers(out)
    assert found["three"] == expected["three"]
    assert found["shorter"] == expected["shorter"]
    assert found["two"] == {number: part for number, part in expected["two"].items() if number < 6}
    assert found["short"] == {number: part for number, part in expected["short"].items() if number < 4}
    assert b'"x","y","n"' in found["one"][max(found["one"])]
    assert found.get("alike") == expected.get("alike")


def test_selections_become_many_and_few_again(input_):
    script = BASE + "".join(SHORT.format(name=f"s{number}", most=20 + number) for number in range(6))
    expected = answers(Course({}).run(input_, "few", script)[1])
    more = statement(*(SHORT.format(name=f"t{number}", most=20 + number) for number in range(6)))
    less = statement(*(f"DROP MATERIALIZED VIEW t{number}" for number in range(1, 6)))
    _, out = Course({3: more, 7: less}).run(input_, "many", script)
    found = answers(out)
    assert all(found[f"s{number}"] == expected[f"s{number}"] for number in range(6))
    assert found["t0"] == {number: part for number, part in expected["s0"].items() if number >= 3}
    assert found["t5"] == {number: part for number, part in expected["s5"].items() if 3 <= number < 7}


RAIN = """CREATE SOURCE rain (ts TIMESTAMP, segment INT, mm DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH (connector='file', path='{path}');
CREATE TABLE levels (segment INT, level VARCHAR) WITH (connector='file', path='{levels}');"""
WET = """CREATE MATERIALIZED VIEW wet AS SELECT r.ts, r.segment, w.mm, l.level
  FROM SLIDING(road, ts, INTERVAL '5' SECOND) AS r JOIN SLIDING(rain, ts, INTERVAL '5' SECOND) AS w
  ON r.segment = w.segment JOIN levels AS l ON l.segment = r.segment;"""


def test_view_brings_a_source_and_a_table_that_are_not_read_yet(input_):
    (input_ / "rain.csv").write_text(
        "\n".join(["ts,segment,mm", *(f"2026-01-01 00:00:{second:02},{second % 3},0.5" for second in range(60))])
    )
    (input_ / "levels.csv").write_text("segment,level\n0,low\n1,high\n2,low\n")
    brought = statement(RAIN.format(path="rain.csv", levels="levels.csv"), WET)
    course = Course({4: brought})
    outcome, out = course.run(input_, "brought")
    found = answers(out)
    assert outcome.refused == {}
    assert course.shares[3] == pytest.approx(4 / 12, abs=0.1)
    assert set(course.shares[4:]) == {None}
    assert outcome.tallies["rain"].read == 60
    assert sum(rows(found["wet"]).values()) > 20
    assert outcome.tallies["road"].read == 12 * 50


def test_view_that_cannot_be_answered_is_refused_and_the_run_goes_on(input_, undisturbed, caplog):
    wrong = statement(RAIN.format(path="nowhere.csv", levels="nowhere2.csv"), WET, POOL["slow"])
    outcome, out = Course({4: wrong}).run(input_, "wrong")
    found = answers(out)
    assert list(outcome.came) == ["slow"]
    assert "nowhere" in outcome.refused["wet"]
    assert "view 'wet' is not answered" in caplog.text
    assert {name: found[name] for name in undisturbed} == undisturbed


def test_source_that_is_another_by_now_is_not_read_twice(input_):
    other = BASE.split("CREATE TABLE")[0].replace("CREATE", "CREATE OR REPLACE").replace("'2' SECOND", "'3' SECOND")
    outcome, _ = Course({4: statement(other, POOL["slow"])}).run(input_, "other")
    assert "source 'road' is another by now" in outcome.refused["slow"]


def crash_and_go_on(
    project: Path,
    doings: Mapping[int, Callable[[Database], None]],
    crashes: set[int],
    script: str = BASE,
    *,
    history: bool | None = None,
) -> Outcome:
    """Run a project, act on it as another terminal does, and let the process end after some batches, each once."""
    crashes = set(crashes)
    other = connect(project)

    def act(total: Outcome) -> None:
        if total.batches not in done:
            done.add(total.batches)
            if doing := doings.get(total.batches):
                doing(other)
        if total.batches in crashes:
            crashes.remove(total.batches)
            raise Crash

    done: set[int] = set()
    settings = Settings("fjord", checkpoint=project / "kept", step_rows=50, history=history)
    while True:
        database = connect(project)
        if not database.has_begun(settings, script):
            database.execute(script)
        try:
            return database.run(FileSink(project / "out", "csv"), settings, watch=act, script=script)
        except Crash:
            continue


DOINGS: dict[int, Callable[[Database], None]] = {
    2: statement(POOL["slow"], POOL["counts"]),
    4: statement(POOL["together"], "DROP MATERIALIZED VIEW mean"),
    6: statement(POOL["by_amjoin"], "DROP MATERIALIZED VIEW slow"),
    8: statement(POOL["slow"], POOL["jams"]),
}


@pytest.mark.parametrize("saved", [1, 3])
def test_run_that_ends_around_changes_goes_on_with_the_right_views(tmp_path, monkeypatch, saved):
    monkeypatch.setattr(checkpoint, "_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "_LEAST_REST", 0)
    due = iter(range(10**9))
    monkeypatch.setattr(checkpoint.Checkpoint, "is_due", lambda self: next(due) % saved == saved - 1)
    undisturbed, broken = (lay_out(tmp_path / name).folder for name in ("undisturbed", "broken"))
    crash_and_go_on(undisturbed, DOINGS, set())
    outcome = crash_and_go_on(broken, DOINGS, {2, 3, 4, 6, 7, 8, 9})
    expected = answers(undisturbed / "out")
    assert {name: rows(part) if name == "by_amjoin" else part for name, part in answers(broken / "out").items()} == {
        name: rows(part) if name == "by_amjoin" else part for name, part in expected.items()
    }
    assert outcome.came == {"slow": 8, "counts": 2, "together": 4, "by_amjoin": 6, "jams": 8}
    assert outcome.went == {"mean": 4, "slow": 6}
    assert len(parts(broken / "out", "counts")) > 0


def test_change_made_while_nothing_runs_is_taken_up_and_another_script_is_refused(tmp_path):
    project = lay_out(tmp_path).folder
    settings = Settings("fjord", checkpoint=project / "kept", step_rows=50)
    database = connect(project)
    database.execute(BASE)
    done: list[int] = []
    stop = {"stopped": lambda: len(done) == 5, "watch": lambda total: done.append(total.batches)}
    database.run(FileSink(project / "out", "csv"), settings, script=BASE, **stop)
    connect(project).execute(POOL["slow"] + "DROP MATERIALIZED VIEW mean")
    again = connect(project)
    with pytest.raises(InputError, match="belongs to other queries"):
        again.has_begun(settings, BASE + POOL["counts"])
    outcome = again.run(FileSink(project / "out", "csv"), settings, script=BASE)
    assert (outcome.came, outcome.went) == ({"slow": 5}, {"mean": 5})
    assert again.catalog.view_log.news_of("slow").batch == 5


def test_sources_of_a_project_must_be_the_same_when_a_run_goes_on(tmp_path):
    project = lay_out(tmp_path).folder
    settings = Settings("fjord", checkpoint=project / "kept", step_rows=50)
    database = connect(project)
    database.execute(BASE)
    done: list[int] = []
    stop = {"stopped": lambda: len(done) == 5, "watch": lambda total: done.append(total.batches)}
    database.run(FileSink(project / "out", "csv"), settings, **stop)
    (project / "road" / "more.csv").write_text("sensor,ts,segment,speed,flow\n")
    with pytest.raises(InputError, match=r"begun with 'source road reads 4 files of .*', where now is .* 5 files"):
        connect(project).run(FileSink(project / "out", "csv"), settings)


def test_view_that_others_read_is_not_dropped(input_):
    database = Database(Catalog.in_memory(), input_)
    database.execute(BASE + POOL["calmest"])
    with pytest.raises(CatalogError, match="is read by calmest"):
        database.execute("DROP MATERIALIZED VIEW mean")


def change_one_by_one(count: int) -> Callable[[Database], None]:
    """At each batch joins and aggregates come one by one, each of its own kind, and most of those before go."""

    def change(database: Database) -> None:
        first = len(batches) * count
        batches.append(first)
        for number in range(first, first + count):
            kind = POOL["counts"] if number % 2 else POOL["by_mjoin"]
            name = kind.split("VIEW ")[1].split()[0]
            made = kind.replace(f"VIEW {name}", f"VIEW v{number}").replace("'5' SECOND", f"'{2 + number % 50}' SECOND")
            database.execute(made)
        database.remove([f"v{number}" for number in range(max(0, first - count), first)])

    batches: list[int] = []
    return change


def check_many(input_: Path, undisturbed: dict[str, dict[int, bytes]], out: str, count: int) -> None:
    outcome, folder = Course(dict.fromkeys(range(2, 12), change_one_by_one(count))).run(input_, out)
    found = {name: parts(folder, name) for name in undisturbed}
    assert found == undisturbed
    assert (len(outcome.came), len(outcome.went), outcome.refused) == (10 * count, 9 * count, {})
    assert sum(bool(parts(folder, name)) for name in outcome.came) > 7 * count


def test_many_views_come_and_go(input_, undisturbed):
    check_many(input_, undisturbed, "many-changes", 6)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_thousand_joins_and_aggregates_come_and_go(input_, undisturbed):
    check_many(input_, undisturbed, "thousand", 100)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2, 8))
def test_views_come_and_go_at_random(input_, undisturbed, tmp_path, seed):
    check_random(input_, undisturbed, tmp_path, seed)
