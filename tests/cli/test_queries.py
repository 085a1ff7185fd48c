import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import skerry
from skerry import cli
from skerry.database import Settings
from skerry.sinks.memory import MemorySink

SOURCE = "CREATE SOURCE road (speed DOUBLE, lane INT) WITH (connector='file', path='r.csv')"
VIEW = "CREATE MATERIALIZED VIEW slow AS SELECT speed FROM road WHERE speed < 30"
MANY = [{"id": f"q{n}", "stream": "road", "predicate": f"speed < {n}"} for n in range(250)]


@pytest.fixture
def project(tmp_path):
    database = skerry.connect(tmp_path)
    database.execute(f"{SOURCE}; {VIEW}")
    return tmp_path


@pytest.fixture
def queries(project, capsys):
    """A function that gives what the command prints, and sees to its exit code."""

    def run(*arguments, code=0):
        assert cli.run_command(["queries", *arguments, "--project", str(project)]) == code
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.err

    return run


def test_subscription_is_added_shown_and_removed(queries):
    queries("add", "q1", "road", "speed < 30", "--sink", "mine")
    assert queries("show", "q1") == "id: q1\nstream: road\npredicate: speed < 30\nsink: mine\n"
    assert queries("list") == "view slow: road\nq1: road WHERE speed < 30\n"
    queries("remove", "q1", "slow")
    assert queries("list") == "there are no standing queries\n"


@pytest.mark.parametrize("asked", [["add", "q1", "road", "speed < 30"], ["load", "subs.jsonl"], ["remove", "q1"]])
def test_subscriptions_in_a_folder_without_a_project_leave_no_catalogue(tmp_path, capsys, asked):
    file = tmp_path / "subs.jsonl"
    file.write_text('{"id": "q1", "stream": "road", "predicate": "speed < 3"}')
    arguments = [str(file) if each == "subs.jsonl" else each for each in asked]
    assert cli.run_command(["queries", *arguments, "--project", str(tmp_path)]) == 2
    assert "there" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["subs.jsonl"]


def test_view_is_shown_as_it_was_written(queries):
    assert queries("show", "slow") == f"{VIEW}\n"


def test_views_of_a_file_come_to_a_run_and_it_is_shown_since_when(queries, project):
    lines = [f"2026-01-01 00:00:{second:02},{second}" for second in range(60)]
    (project / "timed.csv").write_text("\n".join(["ts,speed", *lines]))
    columns = "(ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts)"
    timed = f"CREATE SOURCE timed {columns} WITH (connector='file', path='timed.csv')"
    skerry.connect(project).execute(f"DROP MATERIALIZED VIEW slow; {timed}; {VIEW.replace('road', 'timed')}")
    (project / "more.sql").write_text(
        "CREATE MATERIALIZED VIEW fast AS SELECT speed FROM timed WHERE speed > 50;"
        "CREATE MATERIALIZED VIEW wrong AS SELECT speed FROM road;"
    )

    def act(total):
        if total.batches == 3:
            queries("add", str(project / "more.sql"))
            queries("remove", "slow")

    sink = MemorySink()
    outcome = skerry.connect(project).run(sink, Settings("fjord", step_rows=10), watch=act)
    assert (outcome.came, outcome.went) == ({"fast": 3}, {"slow": 3})
    assert queries("show", "fast").splitlines()[1] == "answered by a run from its batch 3 on"
    assert "not answered by a run: " in queries("show", "wrong")
    assert sink.table("fast").num_rows == 9


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_many_are_loaded_from_a_file(queries, project, format_):
    path = project / f"many.{format_}"
    if format_ == "parquet":
        pq.write_table(pa.Table.from_pylist(MANY), path)
    else:
        path.write_text("\n".join(map(json.dumps, MANY)))
    assert queries("load", str(path)) == "250 subscriptions\n"
    assert queries("list", "--limit", "2").splitlines()[-1] == "and 248 more; --limit shows more"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "q1", "rode", "TRUE"], "for stream 'rode', which is not there; known are road"),
        (["add", "q1", "road", "sped < 3"], "unknown column 'sped'; road has speed, lane"),
        (["show", "nobody"], "there is no standing query 'nobody'"),
        (["remove", "nobody"], "there is no subscription 'nobody'"),
        (["load", "nothing.jsonl"], "there is no file 'nothing.jsonl' with subscriptions"),
    ],
)
def test_wrong_use_is_told_in_one_line(queries, arguments, message):
    printed = queries(*arguments, code=2)
    assert printed.startswith("error: ")
    assert message in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a", "stream": "road"}', "line 1: 'predicate' is missing; a subscription has id, stream, predicate"),
        ('{"id": "a", "stream": "road", "predicate": null}', "line 1: 'predicate' is missing"),
        ('{"id": "a", "stream": ', "line 1, column 23: not JSON"),
        (json.dumps(MANY[0]) + "\n" + json.dumps(MANY[0]), "there is a subscription 'q0' already"),
    ],
)
def test_wrong_file_is_told_and_leaves_nothing(queries, project, text, message):
    path = project / "wrong.jsonl"
    path.write_text(text)
    assert message in queries("load", str(path), code=2)
    assert queries("list") == "view slow: road\n"


def test_counters_are_shown_beside_a_query_and_listed_the_busiest_first(queries, project):
    queries("add", "q1", "road", "speed < 30")
    queries("add", "q2", "road", "speed < 50")
    assert queries("list", "--counters") == "no standing query of the index has been asked yet\n"
    (project / "r.csv").write_text("speed,lane\n20,1\n40,1\n")
    skerry.connect(project).run(MemorySink(), Settings("fjord"))
    assert queries("show", "q1").splitlines()[3:5] == ["matches: 1", "last match: none"]
    heading, *rows = [line.split() for line in queries("list", "--counters").splitlines()]
    assert heading == ["id", "stream", "matches", "last", "match", "cost", "share"]
    assert [row[:4] for row in rows] == [["q2", "road", "2", "none"], ["q1", "road", "1", "none"]]
    assert "1 more" in queries("list", "--counters", "--limit", "1")


def test_rules_are_added_shown_and_removed(queries, project):
    program = "fast(lane) :- road(speed, lane), speed > 80.\n"
    (project / "fast.dl").write_text(program)
    assert queries("add", str(project / "fast.dl")) == "view fast\n"
    assert queries("show", "fast").strip() == program.strip()
    queries("remove", "fast")
    assert "there is no standing query" in queries("show", "fast", code=2)


def test_wrong_rules_are_told_by_file_and_code(queries, project):
    (project / "fast.dl").write_text("fast(x) :- road(speed, lane).")
    printed = queries("add", str(project / "fast.dl"), code=2)
    assert "fast.dl: E101 line 1" in printed
    assert "there is no rule program" in queries("add", "nowhere.dl", code=2)
    assert "has an id, a stream and a predicate" in queries("add", "q9", "road", code=2)


def test_view_that_another_reads_is_removed_only_with_it(queries, project):
    skerry.connect(project).execute("CREATE MATERIALIZED VIEW slower AS SELECT speed FROM slow WHERE speed < 10")
    assert "'slow' is read by slower; drop these first" in queries("remove", "slow", code=2)
    queries("remove", "slow", "slower")


def test_who_changes_views_is_told_which_runs_take_that_up(project, capsys):
    (project / "fast.sql").write_text(VIEW.replace("slow", "fast"))
    (project / "far.dl").write_text("far(lane) :- road(speed, lane), speed > 80.\n")
    for arguments in (("add", str(project / "fast.sql")), ("add", str(project / "far.dl")), ("remove", "fast")):
        assert cli.run_command(["queries", *arguments, "--project", str(project)]) == 0
        assert "one in a network, or with --processes, keeps the views that it began with" in (capsys.readouterr().err)
    assert cli.run_command(["queries", "add", "q1", "road", "speed < 30", "--project", str(project)]) == 0
    assert capsys.readouterr().err == ""
