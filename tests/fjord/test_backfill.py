"""Views that begin with history answer as if they had been there from the start."""

import os
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from skerry.database import Settings, connect
from skerry.errors import InputError, OptionError
from skerry.fjord import checkpoint
from skerry.pipeline.backfill import Backfill
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from skerry.sinks.memory import MemorySink
from tests.changing_views import COLUMNS, ENDLESS, WINDOWED, final, net, readings, script_of
from tests.cli.commands import skerry
from tests.fjord.many_views import FEW_VIEWS, MANY_VIEWS, lay_out
from tests.fjord.test_changing_views import POOL, Crash, crash_and_go_on, parts, rows, statement

_BY_STEPS = {"growing", "perhaps_now", "bounded", "adapted", "many", "last"}
"""Views whose rows follow from the steps: they say what has changed, or give readings up, or stop."""
LAST = next(each for each in MANY_VIEWS.split(";") if "VIEW last " in each) + ";"
VIEWS = {**POOL, "last": LAST}


@pytest.fixture(scope="module", autouse=True)
def _no_disk():
    """Do not wait for the disk: no power is lost here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def begin_with(view: str, span: str = "all") -> str:
    """The same statements, their views beginning with history."""

    def change(found: re.Match[str]) -> str:
        return f"{found[1]} WITH (backfill='{span}'{', ' if found[2] else ')'}"

    return re.sub(r"(CREATE MATERIALIZED VIEW \w+)( WITH \()?", change, view)


def run(folder: Path, out: str, script: str, doings: Mapping[int, str], *, history: bool | None = True) -> Outcome:
    database = connect(folder)
    database.execute(script)

    def act(total: Outcome) -> None:
        if doing := doings.get(total.batches):
            database.execute(doing)

    return database.run(FileSink(folder / out, "csv"), Settings("fjord", step_rows=50, history=history), watch=act)


def check_pool(folder: Path, seed: int) -> None:
    """Views of every kind come at random batches; all have the answers of a run that had them from the start."""
    project, whole = lay_out(folder / "project", seed).folder, lay_out(folder / "whole", seed).folder
    dice = random.Random(seed)
    doings: dict[int, str] = {}
    for name in VIEWS:
        batch = dice.randrange(1, 12)
        doings[batch] = doings.get(batch, "") + begin_with(VIEWS[name])
    outcome = run(project, "out", FEW_VIEWS, doings)
    run(whole, "out", FEW_VIEWS + "".join(VIEWS.values()), {}, history=None)
    assert outcome.refused == {}
    assert outcome.came.keys() == VIEWS.keys()
    for name in VIEWS.keys() - _BY_STEPS:
        assert rows(parts(project / "out", name)) == rows(parts(whole / "out", name)), name
    for name in ("growing", "perhaps_now"):
        assert left(project / "out", name) == left(whole / "out", name), name
    for name in ("mean", "change", "by_snjoin"):
        assert rows(parts(project / "out", name)) == rows(parts(whole / "out", name)), name


def left(out: Path, name: str) -> Counter[tuple[str, ...]]:
    """The net of a view's changes."""
    found: Counter[tuple[str, ...]] = Counter()
    for (op, *row), count in rows(parts(out, name)).items():
        found[tuple(row)] += count if op == "+" else -count
    assert min(found.values(), default=0) >= 0
    return +found


def test_views_that_come_with_all_of_history_answer_as_if_they_had_been_there(tmp_path):
    check_pool(tmp_path, 1)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2, 12))
def test_views_of_every_kind_begin_with_history_at_random(tmp_path, seed):
    check_pool(tmp_path, seed)


_SOURCES = "".join(
    f"CREATE SOURCE {name} ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) "
    f"WITH (connector='file', path='{name}.csv', history='true');\n"
    for name in ("road", "rail")
)
_KINDS = "CREATE TABLE kinds (sensor VARCHAR, kind VARCHAR) WITH (connector='file', path='kinds.csv');\n"
_SEEN = "".join(f"CREATE MATERIALIZED VIEW seen_{name} AS SELECT sensor FROM {name};\n" for name in ("road", "rail"))


def write_input(folder: Path, **streams: list[tuple]) -> Path:
    for name, found in streams.items():
        lines = [",".join(part.split()[0] for part in COLUMNS.split(", "))]
        for sensor, second, *values in found:
            moment = f"2026-01-01 00:{second // 60:02}:{second % 60:02}"
            lines.append(",".join([sensor, moment, *("" if value is None else repr(value) for value in values)]))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (folder / "kinds.csv").write_text("sensor,kind\na,cam\nb,loop\nb,radar\n")
    return folder


def run_two(folder: Path, script: str, doing: str, batch: int) -> MemorySink:
    database, sink = connect(folder), MemorySink()
    database.execute(_SOURCES + _KINDS + _SEEN + script)
    done: set[int] = set()

    def act(total: Outcome) -> None:
        if total.batches >= batch and not done:
            done.add(total.batches)
            database.execute(doing)

    outcome = database.run(sink, Settings("fjord", step_rows=3), watch=act)
    assert (outcome.failures, outcome.refused) == ({}, {})
    return sink


def with_read(names: set[str], views: Mapping[str, str]) -> dict[str, str]:
    """Some views, and those that they read, in the order in which they are made."""
    found = set(names)
    for name in reversed(list(views)):
        if name in found:
            found |= views.keys() & set(re.findall(r"\w+", views[name]))
    return {name: select for name, select in views.items() if name in found}


def check_two(
    folder: Path, names: set[str], emit: str | None, batch: int, roads: list[tuple], rails: list[tuple]
) -> None:
    views = with_read(names, WINDOWED if emit is None else {**ENDLESS, **WINDOWED})
    folders = [folder / name for name in ("late", "early")]
    for each in folders:
        each.mkdir(parents=True)
        write_input(each, road=roads, rail=rails)
    script = script_of(views, emit)
    late, early = run_two(folders[0], "", begin_with(script), batch), run_two(folders[1], script, "", batch)
    for name in views.keys() & set(late.outputs()):
        compare = net if "_op" in early.table(name).column_names else final
        assert compare(late, name) == compare(early, name), name


SOME = st.sets(st.sampled_from(sorted(WINDOWED)), min_size=1, max_size=4)


def check_given(examples_: int):
    """Random readings, views and batches."""
    return examples(max_examples=examples_, deadline=None, suppress_health_check=list(HealthCheck))


@given(readings(), readings(), st.integers(1, 6), SOME, st.sampled_from((None, "changes")))
@check_given(6)
def test_two_streams_and_views_over_views_begin_with_history(tmp_path_factory, roads, rails, batch, names, emit):
    check_two(tmp_path_factory.mktemp("two"), names, emit, batch, roads, rails)


@pytest.mark.soak
@pytest.mark.timeout(600)
@given(
    readings(),
    readings(),
    st.integers(1, 6),
    st.sets(st.sampled_from(sorted({**ENDLESS, **WINDOWED})), min_size=1, max_size=6),
)
@check_given(60)
def test_views_that_change_begin_with_history_at_random(tmp_path_factory, roads, rails, batch, names):
    check_two(tmp_path_factory.mktemp("changes"), names, "changes", batch, roads, rails)


@pytest.fixture
def crashes_in_saving(monkeypatch) -> set[int]:
    """Steps of which the state is not saved, since the process ends just before; each once."""
    steps: set[int] = set()
    save = checkpoint.Checkpoint.save

    def crash_or_save(self, progress, changes):
        if progress.step in steps:
            steps.remove(progress.step)
            raise Crash
        save(self, progress, changes)

    monkeypatch.setattr(checkpoint.Checkpoint, "save", crash_or_save)
    monkeypatch.setattr(checkpoint, "_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "_LEAST_REST", 0)
    due = iter(range(10**9))
    monkeypatch.setattr(checkpoint.Checkpoint, "is_due", lambda self: next(due) % 3 == 2)
    return steps


BACKFILLED = {
    2: begin_with(POOL["slow"] + POOL["counts"]),
    4: begin_with(POOL["together"]) + "DROP MATERIALIZED VIEW mean",
    6: begin_with(POOL["by_mjoin"] + POOL["trips"]) + "DROP MATERIALIZED VIEW slow",
    8: begin_with(POOL["jams"] + POOL["next"]),
}


def test_history_is_taken_in_once_whenever_the_process_ends(tmp_path, crashes_in_saving):
    doings = {batch: statement(doing) for batch, doing in BACKFILLED.items()}
    undisturbed, broken = (lay_out(tmp_path / name).folder for name in ("undisturbed", "broken"))
    crash_and_go_on(undisturbed, doings, set(), FEW_VIEWS, history=True)
    crashes_in_saving |= {3, 5, 7, 8, 9}
    outcome = crash_and_go_on(broken, doings, {2, 4, 5, 7, 9}, FEW_VIEWS, history=True)
    assert not crashes_in_saving
    whole = lay_out(tmp_path / "whole").folder
    names = ("counts", "together", "by_mjoin", "trips", "jams", "next")
    run(whole, "out", FEW_VIEWS + "".join(POOL[name] for name in names), {}, history=None)
    for name in names:
        found = rows(parts(broken / "out", name))
        assert found == rows(parts(undisturbed / "out", name)) == rows(parts(whole / "out", name)), name
        assert outcome.figures[name]["readings_from_history"] > 0
    seen = connect(broken).sql("SELECT count(*) AS n FROM history.road").to_arrow().to_pylist()
    assert seen == [{"n": outcome.tallies["road"].accepted}]


ROAD = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, heat DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH (connector='file', path='road.csv'{more});"""
SEEN = "CREATE MATERIALIZED VIEW seen AS SELECT sensor, ts FROM road;"
MEAN = """CREATE MATERIALIZED VIEW mean WITH (backfill='{span}') AS SELECT window_start, COUNT(*) AS n
  FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY window_start;"""


def write_road(folder: Path, seconds: range, heat: str = "1.5") -> None:
    lines = [f"s{n % 3},2026-01-01 00:{n // 60:02}:{n % 60:02},{heat if n % 4 else '2'}" for n in seconds]
    (folder / "road.csv").write_text("\n".join(["sensor,ts,heat", *lines, ""]))


def go(folder: Path, script: str, doing: str = "", batch: int = 4, *, history: bool | None = True) -> Outcome:
    database = connect(folder)
    database.execute(script)

    def act(total: Outcome) -> None:
        if doing and total.batches == batch:
            database.execute(doing)

    settings = Settings("fjord", step_rows=10, history=history)
    return database.run(FileSink(folder / "out", "csv"), settings, watch=act)


def counts(folder: Path) -> list[int]:
    """What the view of means has counted, window by window."""
    found = sorted(rows(parts(folder / "out", "mean")).elements())
    return [int(count) for _, count in found]


def test_file_that_is_read_again_is_not_read_from_history_too(tmp_path):
    write_road(tmp_path, range(60))
    go(tmp_path, ROAD.format(more="") + SEEN)
    outcome = go(tmp_path, MEAN.format(span="all"))
    assert counts(tmp_path) == [10] * 6
    assert outcome.figures["mean"]["readings_from_history"] == 0
    go(tmp_path, "", "CREATE OR REPLACE" + MEAN.format(span="all").removeprefix("CREATE").replace("(*)", "(sensor)"))
    assert counts(tmp_path) == [10] * 6


def test_run_that_begins_goes_on_where_history_ends(tmp_path):
    write_road(tmp_path, range(45))
    go(tmp_path, ROAD.format(more="") + SEEN)
    write_road(tmp_path, range(45, 90))
    outcome = go(tmp_path, MEAN.format(span="all"))
    assert counts(tmp_path) == [10] * 9
    assert outcome.figures["mean"]["readings_from_history"] == 45


@pytest.mark.parametrize("span", ["all", "30s", "5s"])
def test_how_far_sources_are_by_their_history_is_known_before_it_is_read(tmp_path, monkeypatch, span):
    write_road(tmp_path, range(45))
    rail = ROAD.replace("road", "rail").format(more="")
    (tmp_path / "rail.csv").write_text("sensor,ts,heat\na,2026-01-01 00:00:03,1\nb,2026-01-01 00:00:20,1\n")
    go(tmp_path, ROAD.format(more="") + rail + SEEN + SEEN.replace("road", "rail").replace("seen", "other"))
    write_road(tmp_path, range(60, 90))
    (tmp_path / "rail.csv").write_text("sensor,ts,heat\na,2026-01-01 00:01:03,1\n")
    window = "ts, INTERVAL '1' SECOND"
    pairs = f"SELECT a.sensor FROM SLIDING(road, {window}) AS a JOIN SLIDING(rail, {window}) AS b"
    found: list[tuple[dict[str, int], dict[str, int]]] = []

    def compare(self):
        before, chunks = self.find_beginnings(), list(read(self))
        found.append((before, self.heard))
        return iter(chunks)

    read = Backfill.chunks
    monkeypatch.setattr(Backfill, "chunks", compare)
    go(tmp_path, f"CREATE MATERIALIZED VIEW pairs WITH (backfill='{span}') AS {pairs} ON a.heat = b.heat;")
    assert found
    assert all(before == heard for before, heard in found)
    assert bool(found[0][0].get("rail")) == (span != "5s")


def test_source_that_is_received_goes_on_behind_its_history(tmp_path, monkeypatch):
    monkeypatch.setattr("skerry.sources.file.connector.FileConnector.starts_over", False)
    write_road(tmp_path, range(45))
    go(tmp_path, ROAD.format(more="") + SEEN)
    write_road(tmp_path, range(30, 90))
    outcome = go(tmp_path, MEAN.format(span="all"))
    kept = connect(tmp_path).sql(
        "SELECT count(*) AS n FROM history.road GROUP BY time_bucket(INTERVAL '10 seconds', ts) ORDER BY 1"
    )
    assert sorted(counts(tmp_path)) == [row["n"] for row in kept.to_arrow().to_pylist()]
    assert outcome.tallies["road"].late == 9


def test_span_begins_with_a_whole_window(tmp_path):
    write_road(tmp_path, range(60))
    outcome = go(tmp_path, ROAD.format(more="") + SEEN, MEAN.format(span="17s"), 5)
    assert counts(tmp_path) == [10] * 3  # the newest reading was that of second 49, and 32 is in the window from 30 on
    assert outcome.figures["mean"]["readings_from_history"] == 20


def test_it_is_told_if_there_is_less_history_than_was_asked_for(tmp_path, caplog):
    write_road(tmp_path, range(60))
    outcome = go(tmp_path, ROAD.format(more="") + SEEN + MEAN.format(span="1 hour"))
    assert "view 'mean': there is nothing of source 'road' in history" in caplog.text
    assert counts(tmp_path) == [10] * 6
    assert not outcome.refused
    go(tmp_path, "DROP MATERIALIZED VIEW mean", MEAN.format(span="1 hour"))
    assert "the history of source 'road' begins at 2026-01-01 00:00:00; it was to be read from 2025-12-3" in caplog.text


@pytest.mark.parametrize(
    ("more", "history", "advice"),
    [
        ("", None, "with history='true' behind WITH of the source or with --history"),
        (", history='false'", True, "take history='false' out of its declaration"),
    ],
)
def test_stream_without_history_is_refused_with_what_to_do(tmp_path, more, history, advice):
    write_road(tmp_path, range(60))
    road = ROAD.format(more=more)
    with pytest.raises(InputError, match="this run keeps none of source 'road'") as found:
        go(tmp_path, road + MEAN.format(span="all"), history=history)
    assert advice in str(found.value)
    outcome = go(tmp_path, "DROP MATERIALIZED VIEW mean;" + SEEN, MEAN.format(span="all"), history=history)
    assert advice in outcome.refused["mean"]


def test_span_needs_an_event_time_and_all_does_not(tmp_path):
    (tmp_path / "plain.csv").write_text("\n".join(["sensor,n", *(f"s{n % 2},{n}" for n in range(60)), ""]))
    plain = "CREATE SOURCE plain (sensor VARCHAR, n INT) WITH (connector='file', path='plain.csv', history='true');"
    seen = "CREATE MATERIALIZED VIEW seen AS SELECT sensor FROM plain;"
    odd = "CREATE MATERIALIZED VIEW odd WITH (backfill='{}') AS SELECT n FROM plain WHERE n % 2 = 1;"
    outcome = go(tmp_path, plain + seen, odd.format("1 hour"))
    assert "source 'plain' has no event time" in outcome.refused["odd"]
    outcome = go(tmp_path, "DROP MATERIALIZED VIEW odd;", odd.format("all"))
    assert sorted(int(n) for (n,) in rows(parts(tmp_path / "out", "odd"))) == list(range(1, 60, 2))


def test_readings_whose_keys_are_not_numbers_are_told_and_not_joined(tmp_path):
    write_road(tmp_path, range(60), "nan")
    join = """CREATE MATERIALIZED VIEW pairs WITH (backfill='all') AS SELECT a.ts, b.ts AS later
      FROM SLIDING(road, ts, INTERVAL '8' SECOND) AS a JOIN SLIDING(road, ts, INTERVAL '8' SECOND) AS b
      ON a.heat = b.heat WHERE a.ts < b.ts;"""
    go(tmp_path, ROAD.format(more="") + SEEN, join)
    assert len(rows(parts(tmp_path / "out", "pairs"))) == 14 + 13
    assert sum(rows(parts(tmp_path / "out" / "dead_letters", "road")).values()) == 45


@pytest.mark.parametrize("more", ["", " WITH (backfill='all')"])
def test_facts_in_a_table_are_there_for_views_that_come_later(tmp_path, more):
    write_road(tmp_path, range(60))
    (tmp_path / "known.csv").write_text("id\ns1\n")
    (tmp_path / "near.dl").write_text(
        "base road(sensor: string, ts: time) time ts window 9 s slide 1 s.\nbase known(id: string).\n"
        "output near mode changes.\nnear(a) :- road(a, _), known(a).\n"
    )
    known = "CREATE TABLE known (id VARCHAR) WITH (connector='file', path='known.csv');"
    near = "CREATE MATERIALIZED VIEW {} WITH ({}rules='near.dl', output='near');"
    late = near.format("late", "backfill='all', " if more else "")
    outcome = go(tmp_path, ROAD.format(more="") + known + near.format("early", ""), late)
    assert outcome.refused == {}
    assert (
        rows(parts(tmp_path / "out", "late"))
        if not more
        else rows(parts(tmp_path / "out", "late")) == rows(parts(tmp_path / "out", "early"))
    )


def test_column_that_is_new_is_null_in_history(tmp_path):
    write_road(tmp_path, range(45))
    go(tmp_path, ROAD.format(more="") + SEEN)
    lines = [f"s{n % 3},2026-01-01 00:{n // 60:02}:{n % 60:02},1.5,7" for n in range(45, 90)]
    (tmp_path / "road.csv").write_text("\n".join(["sensor,ts,heat,lane", *lines, ""]))
    more = ROAD.format(more="").replace("heat DOUBLE", "heat DOUBLE, lane INT").replace("CREATE", "CREATE OR REPLACE")
    lane = "CREATE MATERIALIZED VIEW lanes WITH (backfill='all') AS SELECT lane FROM road;"
    go(tmp_path, more + lane)
    assert rows(parts(tmp_path / "out", "lanes")) == {("",): 45, ("7",): 45}


def test_explain_says_what_is_read(tmp_path):
    write_road(tmp_path, range(60))
    go(tmp_path, ROAD.format(more="") + SEEN)
    script = tmp_path / "script.sql"
    script.write_text(MEAN.format(span="17s"))
    found = skerry(tmp_path, "explain", "script.sql", "--project", ".")
    assert "view mean begins with history (backfill = '17s')" in found.stdout
    assert "road: 20 readings of 2 batches, from 2026-01-01 00:00:40 to 2026-01-01 00:00:59" in found.stdout


def test_network_refuses_it_in_a_sentence(tmp_path):
    write_road(tmp_path, range(60))
    database = connect(tmp_path)
    database.execute(ROAD.format(more="") + MEAN.format(span="all"))
    with pytest.raises(InputError, match="which a network of motes does not keep; use --runtime spark or fjord"):
        database.run(MemorySink(), Settings("network"))


def test_wrong_span_is_told(tmp_path):
    write_road(tmp_path, range(60))
    with pytest.raises(OptionError, match="backfill is 'soon'; known are spans such as '1 hour', 'all'"):
        connect(tmp_path).execute(ROAD.format(more="") + MEAN.format(span="soon"))
