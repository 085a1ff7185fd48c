import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.database import connect
from skerry.errors import InputError, SkerryError
from tests.cli.commands import SCRIPT, laid_out

MEAN = [
    "view mean",
    "-- operate: by no key, in one bucket; state: one row a slice and group",
    "Project",
    "Aggregate",
    "-- route: beside the source, partial aggregates before the shuffle",
    "Project",
    "Scan road (file: path = 'road.csv'; watermark ts - 5 SECOND)",
]
SEEN = ["view seen", "-- route: beside the source, no shuffle", "Project sensor", MEAN[-1]]


def explained(folder, script):
    return CliRunner().invoke(app, ["explain", str(laid_out(folder, script) / "script.sql")])


def test_explain_tells_what_runs_where(tmp_path):
    result = explained(tmp_path, SCRIPT)
    lines = [line.strip() for line in result.stdout.splitlines() if line]
    assert result.exit_code == 0
    assert all(line.startswith(start) for line, start in zip(lines, MEAN + SEEN, strict=True)), lines


def test_explain_needs_no_data(tmp_path):
    laid_out(tmp_path)
    (tmp_path / "road.csv").unlink()
    assert CliRunner().invoke(app, ["explain", str(tmp_path / "script.sql")]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("connector='file', path='x.csv', pth='x'", "unknown option 'pth' of connector 'file'"),
        ("connector='mqtt', url='mqtt://a'", "option topic of connector 'mqtt' is missing"),
        ("connector='mqtt', url='mqtt://a', topic='a/{b}'", "fills 'b', which is no column; there are a, ts"),
        ("connector='folder', path='in/*.txt'", "a folder is watched for files with a suffix"),
        ("connector='fax'", "source 's' has connector 'fax'; known are file, folder, mqtt, sim, spark"),
        ("connector='spark'", "source 's' needs spark_format"),
        ("connector='sim', sensors='many'", "option sensors"),
    ],
)
def test_explain_refuses_the_options_that_a_run_would_refuse(tmp_path, options, message):
    source = f"CREATE SOURCE s (a VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH ({options});"
    error = explained(tmp_path, source + "CREATE MATERIALIZED VIEW v AS SELECT * FROM s;").exception
    assert isinstance(error, SkerryError), error
    assert message in str(error)


def test_explain_without_a_view_is_told(tmp_path):
    error = explained(tmp_path, SCRIPT.partition(";")[0]).exception
    assert isinstance(error, InputError)
    assert str(error) == "the script has no view; add one with CREATE MATERIALIZED VIEW"


@pytest.mark.parametrize("option", ["emit='final'", "late_to='late'"])
def test_explain_tells_the_options_of_a_view(tmp_path, option):
    name, _, value = option.partition("=")
    result = explained(tmp_path, SCRIPT.replace("seen AS", f"seen WITH ({option}) AS"))
    assert f"view seen ({name} = {value})\n" in result.stdout


JOIN = """CREATE MATERIALIZED VIEW near AS SELECT a.sensor FROM SLIDING(road, ts, INTERVAL '1' MINUTE) AS a
JOIN LAST_ROWS(road, 9) AS b ON a.sensor = b.sensor WHERE a.speed < b.speed AND b.speed > 5;"""


def test_explain_tells_keys_windows_and_places_of_a_join(tmp_path):
    lines = [line.strip() for line in explained(tmp_path, SCRIPT.partition(";")[0] + ";" + JOIN).stdout.splitlines()]
    assert lines[1].startswith("-- operate: in one bucket, since LAST_ROWS needs one order of arrival")
    assert lines[3:5] == [
        "Select a.speed < b.speed",
        "Join (snjoin) a.sensor = b.sensor over a SLIDING 1 MINUTE, b LAST_ROWS 9",
    ]
    assert [line for line in lines if line.startswith("-- route")] == [
        "-- route a: beside the source, only the columns that are needed",
        "-- route b: beside the source, only the columns that are needed",
    ]


def test_explain_counts_subscriptions(tmp_path):
    rows = "('a', 'road', 'speed < 3'), ('b', 'road', 'TRUE')"
    inserted = f"INSERT INTO subscriptions (id, stream, predicate) VALUES {rows}"
    text = explained(tmp_path, f"{SCRIPT.partition(';')[0]}; {inserted}").stdout
    assert text == "subscriptions\n  road: 2, by one query index beside the source\n"


def test_explain_tells_which_views_share_a_join(tmp_path):
    view = """CREATE MATERIALIZED VIEW v{0} AS SELECT a.sensor FROM SLIDING(road, ts, INTERVAL '{0}' SECOND) AS a
    JOIN SLIDING(road, ts, INTERVAL '9' SECOND) AS b ON a.sensor = b.sensor;"""
    views = "".join(map(view.format, range(1, 9)))
    text = explained(tmp_path, SCRIPT.partition(";")[0] + ";" + JOIN + views).stdout
    assert text.count("; one join over a SLIDING 8 SECOND, b SLIDING 9 SECOND for this and 7 other views") == 8


SIM = """CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE, flow INT, WATERMARK FOR ts AS ts)
WITH (connector='sim', kind='traffic', sensors='32');
CREATE MATERIALIZED VIEW slow AS SELECT sensor, speed FROM traffic WHERE sensor LIKE 'i80-e-%' AND speed < 30;"""


def test_explain_tells_what_sensors_must_deliver(tmp_path):
    text = explained(tmp_path, SIM).stdout
    assert "sensors of traffic: 32, of which 16 are awake and 16 asleep\n" in text
    assert "    program: raw, for speed (view slow)\n" in text
    assert "    columns: sensor, ts, speed\n    range of speed: up to 30 (view slow)\n" in text


@pytest.mark.parametrize("project", [[], ["--project", "."]], ids=["the one that is here", "named"])
def test_explain_leaves_the_project_as_it_is(tmp_path, monkeypatch, project):
    monkeypatch.chdir(tmp_path)
    connect(tmp_path).execute(SIM)
    (tmp_path / "more.sql").write_text(
        "CREATE MATERIALIZED VIEW quick AS SELECT sensor FROM traffic WHERE speed > 90;"
        "INSERT INTO subscriptions (id, stream, predicate) VALUES ('q1', 'traffic', 'flow = 0');"
    )
    for _ in range(2):
        result = CliRunner().invoke(app, ["explain", "more.sql", *project])
        assert result.exit_code == 0, result.exception
        assert "view slow" in result.stdout
        assert "view quick" in result.stdout
    kept = connect(tmp_path).catalog
    assert [view.name for view in kept.views()] == ["slow"]
    assert kept.subscriptions.version == 0


def test_explain_makes_no_catalogue(tmp_path):
    laid_out(tmp_path)
    assert CliRunner().invoke(app, ["explain", str(tmp_path / "script.sql"), "--project", str(tmp_path)]).exit_code == 0
    assert not (tmp_path / "skerry.db").exists()


def test_explain_ends_with_what_is_shared_and_what_each_view_adds(tmp_path):
    made = "CREATE MATERIALIZED VIEW {} AS SELECT AVG({}speed) AS {} FROM TUMBLE(road, ts, INTERVAL '{}' SECOND){};"
    views = [
        made.format(*each) for each in (("a", "", "v", 10, ""), ("b", "", "v", 30, ""), ("c", "r.", "w", 30, " AS r"))
    ]
    result = explained(tmp_path, SCRIPT.partition(";")[0] + ";" + "".join(views))
    assert result.stdout.split("\n\n")[-1].splitlines() == [
        "shared",
        "  one store of slices over TUMBLE 10 SECOND, TUMBLE 30 SECOND for 2 views; state: one row per slice and group",
        "    a: adds no state; when a window closes, the merge of up to 1 slice per group; no fold of readings",
        "    b: adds rows of about 2 slices per group, for it is the longest; "
        "when a window closes, the merge of up to 3 slices per group; no fold of readings",
        "  b runs once for 2 equal views",
        "    c: adds the writing of its answers, and no state",
    ]
