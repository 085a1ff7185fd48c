import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.errors import InputError
from skerry.network.topology.grid import make_grid
from skerry.network.trace import read_trace
from skerry.rivals.network.found_paths import list_last_steps
from tests.cli.commands import skerry

PATHS = """const A = 4.
base G(x: node, y: node) link.
derived H(x: node, y: node, d: int) host y stage d limit d <= 8.
H(A, A, 0).
H(A, x, 1) :- G(A, x).
H'(y, d+1) :- H(_, y, d'), (d+1) > d', H(_, x, d), G(x, y).
H(x, y, d+1) :- G(x, y), H(_, x, d), NOT H'(y, d+1).
output H.
"""
KINDS = ["total", "storage", "join", "result", "retry", "control"]


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paths.dl").write_text(PATHS)
    return tmp_path


def simulate(*options: str) -> str:
    result = CliRunner().invoke(app, ["simulate", "paths.dl", "--topology", "grid:3x3", *options])
    if result.exception:
        raise result.exception
    return result.stdout


def test_json_is_as_promised(paths):
    simulate("--strategy", "broadcast", "--seed", "5", "--runs", "2", "--json", "out.json")
    written = json.loads((paths / "out.json").read_text())
    assert written["strategy"] == "broadcast"
    assert [run["seed"] for run in written["runs"]] == [5, 6]
    for run in written["runs"]:
        assert list(run) == ["seed", "answers", "messages", "bytes", "energy_mj", "missed", "wrong"]
        assert list(run["messages"]) == KINDS
        assert run["messages"]["total"] == sum(run["messages"][kind] for kind in KINDS[1:]) > 0
        assert (run["missed"], run["wrong"]) == (0, 0)
        assert {tuple(row) for row in run["answers"]["H"]} == list_last_steps(make_grid(3, 3), 4)


def test_what_is_lost_is_counted_in_tuples(paths):
    simulate("--loss", "1", "--json", "out.json")
    (run,) = json.loads((paths / "out.json").read_text())["runs"]
    assert len(run["answers"]["H"]) == 5  # the root, and the neighbours that know their link to it
    assert (run["missed"], run["wrong"]) == (8, 0)


def test_one_seed_gives_one_run(paths):
    assert simulate("--loss", "0.3", "--seed", "7") == simulate("--loss", "0.3", "--seed", "7")


def test_trace_picture_and_film_show_the_first_run(paths):
    views = ["--trace", "run.jsonl", "--picture", "run.svg", "--animate", "run.html"]
    printed = simulate("--runs", "2", "--json", "out.json", *views)
    first = json.loads((paths / "out.json").read_text())["runs"][0]
    assert len(list(read_trace(paths / "run.jsonl"))) == first["messages"]["total"]
    assert "an answer names it" in (paths / "run.svg").read_text()
    ElementTree.parse(paths / "run.svg")
    assert "<canvas>" in (paths / "run.html").read_text()
    assert printed.count("the first run is in") == 3


def test_table_has_a_line_per_run_and_many_runs_are_summed_up(paths):
    few, many = (simulate("--strategy", "broadcast", "--runs", runs).splitlines()[3:] for runs in ("2", "11"))
    assert [line.split()[0] for line in few[:5]] == ["0", "1", "mean", "least", "most"]
    assert [line.split()[0] for line in many[:3]] == ["mean", "least", "most"]


def test_strategy_is_chosen_by_messages_if_none_is_given(paths):
    printed = simulate("--json", "out.json")
    chosen = json.loads((paths / "out.json").read_text())["strategy"]
    assert f"(9 motes): {chosen}, stage order" in printed
    assert "chosen by messages expected, from a rehearsal: broadcast" in printed


def test_where_one_way_needs_no_message_the_others_are_not_tried(paths):
    (paths / "paths.dl").write_text("base G(x: node, y: node) link. busy(x, count<*>) :- G(x, y).")
    assert "rehearsal: broadcast 0, local not tried, perpendicular not tried" in simulate()


@pytest.mark.parametrize("strategy", ["broadcast", "local", "perpendicular"])
def test_every_strategy_finds_everything_without_loss(paths, strategy):
    assert simulate("--strategy", strategy).splitlines()[3].split()[-2:] == ["0", "0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strategy", "gossip"], "unknown strategy 'gossip'; known are auto, broadcast, local, perpendicular"),
        (["--order", "chaos"], "unknown order 'chaos'; known are stage, arrival"),
        (["--topology", "ring:5"], "unknown topology 'ring:5'; known: "),
        (["--topology", "file:none.csv"], "none.csv"),
        (["--loss", "1.5"], "from 0 to 1; got 1.5"),
        (["--runs", "0"], "at least one run; got 0"),
        (["--json", "none/out.json"], "cannot write the JSON file 'none/out.json': No such file or directory"),
        (["--facts", "none"], "none"),
    ],
)
def test_wrong_options_are_named(paths, options, message):
    with pytest.raises(InputError) as caught:
        simulate(*options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_program_that_motes_cannot_keep_true_is_refused_in_one_line(paths):
    (paths / "paths.dl").write_text("base r(x: node) window 5 rows.\nseen(x) :- r(x).\noutput seen.\n")
    (paths / "r.csv").write_text("x\n1\n")
    process = skerry(paths, "simulate", "paths.dl", "--facts", ".")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("error: E503 line 1, ")
    assert process.stderr.count("\n") == 1


def test_missing_program_is_named():
    with pytest.raises(InputError, match=r"there is no rule program 'none.dl'"):
        raise CliRunner().invoke(app, ["simulate", "none.dl"]).exception


def test_links_change_as_a_file_says(paths):
    (paths / "changes.csv").write_text("time,from,to,op\n1,4,5,-\n2,8,,-\n")
    simulate("--changes", "changes.csv", "--runs", "2", "--json", "out.json")
    left = make_grid(3, 3).cut(4, 5).cut(5, 8).cut(7, 8)
    for run in json.loads((paths / "out.json").read_text())["runs"]:
        assert {tuple(row) for row in run["answers"]["H"]} == list_last_steps(left, 4)
        assert (run["missed"], run["wrong"]) == (0, 0)


def test_losses_of_links_and_motes_that_cannot_reach_each_other_are_named(paths):
    (paths / "links.csv").write_text("from,to,loss\n0,1,0.1\n1,0,1\n2,3,\n3,4,\n")
    result = CliRunner().invoke(app, ["simulate", "paths.dl", "--topology", "file:links.csv", "--strategy", "local"])
    assert "local, stage order, loss 0 to 1" in result.stdout
    assert "warning: not all motes can reach each other" in result.stderr
