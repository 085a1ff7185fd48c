"""``skerry rules``: check, run and why, as a user meets them."""

import re

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.errors import InputError, RuleLimit
from tests.cli.commands import skerry

PROGRAM = """base edge(x: int, y: int).
output path.
output lone mode changes.
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
lone(x) :- edge(x, _), NOT path(x, x).
"""
EDGES = "_ts,x,y\n1,1,2\n2,2,3\n3,3,1\n3,3,4\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "paths.dl").write_text(PROGRAM)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "edge.csv").write_text(EDGES)
    return tmp_path


@pytest.fixture
def invoked(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["rules", *arguments], catch_exceptions=False).stdout.splitlines()

    return invoke


@pytest.mark.parametrize("command", ["check", "run", "why"])
def test_help_has_an_example(command):
    assert f"Example: skerry rules {command}" in CliRunner().invoke(app, ["rules", command, "--help"]).stdout


def test_check_prints_classes(invoked):
    lines = invoked("check", "paths.dl")
    assert [line.split(" (")[0] for line in lines if line.startswith("stratum")] == [
        "stratum 0, class S",
        "stratum 1, class N",
    ]


@pytest.mark.parametrize("command", [["check"], ["run", "--facts", "facts", "--out", "out"]])
def test_statement_that_is_a_comment_here_is_pointed_out(folder, command):
    (folder / "lost.dl").write_text("#const n = 3.\n# show path\nnear(x) :- edge(x, n).\n")
    result = skerry(folder, "rules", command[0], "lost.dl", *command[1:])
    assert result.returncode == 0
    assert result.stderr.startswith(
        "warning: line 1: '#const n = 3.' is a comment; for a name of a value write: const A"
    )
    assert result.stderr.count("is a comment") == 1


def test_run_writes_every_output(invoked, folder):
    assert invoked("run", "paths.dl", "--facts", "facts", "--out", "answers") == [
        "path: 12 rows in answers/path.csv",
        "lone: 4 rows in answers/lone.csv",
    ]
    assert (folder / "answers" / "path.csv").read_text().splitlines()[:3] == ["x,y", "1,1", "1,2"]
    assert (folder / "answers" / "lone.csv").read_text().splitlines() == [
        "_ts,_op,x",
        "1,+,1",
        "2,+,2",
        "3,-,1",
        "3,-,2",
    ]


def test_query_writes_what_fits_it(invoked, folder):
    assert invoked("run", "paths.dl", "--facts", "facts", "--query", "path(3, x)") == ["path: 4 rows in out/path.csv"]
    assert (folder / "out" / "path.csv").read_text() == "x,y\n3,1\n3,2\n3,3\n3,4\n"


def test_why_prints_a_proof(invoked):
    lines = invoked("why", "paths.dl", "--facts", "facts", "path(2, 4)")
    assert lines == [
        "path(2, 4)  by rule 2: path(x, z) :- path(x, y), edge(y, z).",
        "  path(2, 3)  by rule 1: path(x, y) :- edge(x, y).",
        "    edge(2, 3)  a fact",
        "  edge(3, 4)  a fact",
    ]


@pytest.mark.parametrize("text", [PROGRAM, "path(x, y) :- edge(x, y)."])
def test_base_facts_can_be_asked_for(invoked, folder, text):
    (folder / "paths.dl").write_text(text)
    assert invoked("run", "paths.dl", "--facts", "facts", "--query", "edge(3, y)") == ["edge: 2 rows in out/edge.csv"]
    assert invoked("why", "paths.dl", "--facts", "facts", "edge(3, 4)") == ["edge(3, 4)  a fact"]


def test_why_names_what_blocks(invoked):
    assert invoked("why", "paths.dl", "--facts", "facts", "lone(1)")[-1] == "    blocked by path(1, 1)"


def test_built_ins_of_the_project_are_called(invoked, folder):
    (folder / "twice.py").write_text("def twice(x):\n    return 2 * x\n")
    (folder / "skerry.toml").write_text('[rules]\nbuiltins = ["twice"]\n')
    text = 'base edge(x: int, y: int). builtin function twice(int): int = "twice:twice". p(twice(x)) :- edge(x, _).'
    (folder / "doubled.dl").write_text(text)
    assert invoked("run", "doubled.dl", "--facts", "facts") == ["p: 3 rows in out/p.csv"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check", "nowhere.dl"], "there is no rule program 'nowhere.dl'"),
        (["check", "facts"], "cannot read the rule program 'facts'"),
        (["run", "paths.dl", "--facts", "."], "there are no facts of 'edge'"),
        (["run", "paths.dl", "--facts", "facts", "--runtime", "flink"], "unknown runtime 'flink'; known are"),
        (["run", "paths.dl", "--facts", "facts", "--out", "paths.dl"], "cannot write answers to 'paths.dl"),
        (["run", "paths.dl", "--facts", "facts", "--query", "path(1)"], "'path' has 2 arguments, got 1"),
        (
            ["why", "paths.dl", "--facts", "facts", "pth(1, 2)"],
            "there is no predicate 'pth'; the program has edge, lone",
        ),
    ],
)
def test_wrong_input_is_told(invoked, arguments, told):
    with pytest.raises(InputError, match=told):
        invoked(*arguments)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("p(x, y) :- edge(x).", 2, "error: E101 line 1, column 1, rule 1: head variable 'y'"),
        ("derived n(x: int) limit x <= 9223372036854775807. n(1). n(x + x) :- n(x).", 1, "error: E401 rule 2: "),
    ],
)
def test_code_is_told_in_one_line(folder, text, code, told):
    (folder / "poison.dl").write_text(text)
    done = skerry(folder, "rules", "run", "poison.dl", "--facts", "facts")
    assert (done.returncode, done.stdout) == (code, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(told)


@pytest.mark.spark
def test_run_on_spark_writes_what_one_process_writes(invoked, folder):
    program = PROGRAM.replace(" mode changes", "")
    (folder / "paths.dl").write_text(program)
    answers = []
    for runtime in ("fjord", "spark"):
        invoked("run", "paths.dl", "--facts", "facts", "--out", runtime, "--runtime", runtime, "--master", "local[2]")
        answers.append([(folder / runtime / name).read_text() for name in ("lone.csv", "path.csv")])
    assert answers[0] == answers[1]


def test_run_on_spark_says_why_it_runs_in_one_process(folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = ["rules", "run", "paths.dl", "--facts", "facts", "--out", "answers", "--runtime", "spark"]
    found = CliRunner().invoke(app, asked)
    assert "running in one process, since 'lone' is told tick by tick" in found.stderr
    assert "path: 12 rows in answers/path.csv" in found.stdout


def test_why_explains_a_view_as_of_a_moment(invoked, folder):
    (folder / "seen.csv").write_text("car,ts\nred,2026-01-01 00:00:00\nblue,2026-01-01 00:00:30\n")
    rules = "base seen(car: string, ts: time) time ts window 10 s. "
    rules += "here(car) :- seen(car, t), t + 1 s > t, t > 0."
    (folder / "here.dl").write_text(rules)
    columns = "car VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts"
    source = f"CREATE SOURCE seen ({columns}) WITH (connector='file', path='seen.csv')"
    view = "CREATE MATERIALIZED VIEW there WITH (rules='here.dl', output='here')"
    (folder / "cars.sql").write_text(f"{source}; {view};")
    asked = ["why", "cars.sql", "here('red')", "--view", "there"]
    assert invoked(*asked)[0] == "here('red') does not hold"
    proof = invoked(*asked, "--at", "2026-01-01 00:00:05")
    assert proof[0].startswith("here('red')  by rule 1")
    assert "  seen('red', '2026-01-01 00:00:00')  a fact" in proof
    assert "  '2026-01-01 00:00:00' > 0" in proof


LIMITED = PROGRAM.replace("output lone mode changes.\n", "output lone.\n")


def run_limited(folder, text="", project="", options=()):
    """Run the closure of four edges, whose twelve paths are more than ten, with limits at each home."""
    (folder / "paths.dl").write_text(LIMITED + text)
    (folder / "skerry.toml").write_text(f"[rules]\n{project}\n")
    asked = ["rules", "run", "paths.dl", "--facts", "facts", "--out", "answers", *options]
    return CliRunner().invoke(app, asked)


@pytest.mark.parametrize(
    ("homes", "told"),
    [
        ({"project": "max_tuples = 10"}, "'path' has more than 10 tuples"),
        ({"project": "max_tuples = 100", "text": "limit tuples 9."}, "'path' has more than 9 tuples"),
        ({"text": "limit tuples 100.", "options": ["--max-tuples", "8"]}, "'path' has more than 8 tuples"),
        ({"options": ["--max-seconds", "1e-9"]}, "a tick takes more than 1e-09 seconds"),
        ({"text": "limit seconds 1e-9."}, "a tick takes more than 1e-09 seconds"),
    ],
)
def test_limit_of_each_home_stops_a_program(folder, monkeypatch, homes, told):
    monkeypatch.chdir(folder)
    with pytest.raises(RuleLimit, match=told) as caught:
        raise run_limited(folder, **homes).exception
    for home in (r"--max-\w+ N", r"limit \w+ N\. in the program", r"max_\w+ = N under \[rules\] in skerry\.toml"):
        assert re.search(home, str(caught.value))


@pytest.mark.parametrize(
    "homes",
    [
        {"project": "max_tuples = 10", "text": "limit tuples 12."},
        {"text": "limit tuples 10.", "options": ["--max-tuples", "none"]},
        {"text": "limit tuples 10.", "options": ["--max-tuples", "0"]},
        {"text": "limit tuples none.", "project": "max_tuples = 10"},
    ],
)
def test_nearest_limit_counts(folder, monkeypatch, homes):
    monkeypatch.chdir(folder)
    assert "path: 12 rows" in run_limited(folder, **homes).stdout


def test_limit_that_is_reached_leaves_earlier_answers_alone(folder, monkeypatch):
    monkeypatch.chdir(folder)
    run_limited(folder)
    before = (folder / "answers" / "path.csv").read_bytes()
    (folder / "facts" / "edge.csv").write_text(EDGES + "4,4,5\n4,5,6\n")
    assert isinstance(run_limited(folder, text="limit tuples 13.").exception, RuleLimit)
    assert (folder / "answers" / "path.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("homes", "told"),
    [
        (
            {"options": ["--max-tuples", "many"]},
            "--max-tuples must be a whole number, or none for no limit; got 'many'",
        ),
        ({"options": ["--max-stages", "1.5"]}, "--max-stages must be a whole number"),
        ({"options": ["--max-seconds", "-1"]}, "--max-seconds must be a number of seconds, or none for no limit"),
        ({"text": "limit tuples some."}, "E001 line 7, column 14: limit tuples is a whole number, or none"),
        ({"text": "limit rows 5."}, "E003 line 7, column 7: unknown limit 'rows'; known: tuples, seconds, stages"),
        ({"text": "limit tuples 5. limit tuples 6."}, "E003 line 7, column 23: limit tuples is given twice"),
        ({"project": "max_tuples = 'many'"}, "skerry.toml': max_tuples under .rules. is a whole number"),
    ],
)
def test_wrong_limit_is_told(folder, monkeypatch, homes, told):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=told):
        raise run_limited(folder, **homes).exception


def test_check_prints_the_limits_that_are_set(invoked, folder):
    (folder / "paths.dl").write_text(PROGRAM + "limit tuples 5000000. limit seconds none.")
    assert invoked("check", "paths.dl")[-2:] == ["limit tuples 5000000", "limit seconds none"]


CARS = """CREATE SOURCE seen (car VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector='file', path='seen.csv');
CREATE MATERIALIZED VIEW there WITH (rules='here.dl'{options});
"""


@pytest.mark.parametrize(
    ("program", "options", "flags", "told"),
    [
        ("", "", ["--max-tuples", "1"], "'here' has more than 1 tuples"),
        ("", ", max_tuples='1'", [], "'here' has more than 1 tuples"),
        ("limit tuples 1.", "", [], "'here' has more than 1 tuples"),
        ("limit tuples 1.", ", max_tuples='none'", [], None),
        ("", ", max_tuples='1'", ["--max-tuples", "2"], None),
        ("", ", max_tuples='one'", [], "view 'there': option max_tuples must be a whole number, or none"),
    ],
)
def test_limits_of_a_view(folder, monkeypatch, program, options, flags, told):
    monkeypatch.chdir(folder)
    (folder / "seen.csv").write_text("car,ts\nred,2026-01-01 00:00:00\nblue,2026-01-01 00:00:01\n")
    base = "base seen(car: string, ts: time) time ts window 10 s. "
    (folder / "here.dl").write_text(f"{base} here(car) :- seen(car, _). {program}")
    (folder / "cars.sql").write_text(CARS.format(options=options))
    done = CliRunner().invoke(app, ["run", "cars.sql", "--runtime", "fjord", "--out", "answers", *flags])
    assert (told or "there") in done.stdout + str(done.exception)
    assert (done.exception is None) == (told is None)
