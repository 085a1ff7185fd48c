"""The rule programs under examples/ give what stands beside them, on the engine and on the reference."""

import csv
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.facts import Outputs, read_facts
from skerry.deduce.project_settings import list_allowed_modules
from skerry.errors import RuleError
from skerry.lang.rules import read
from skerry.testing.reference_rules import Reference

RULES = Path(__file__).parents[1] / "examples" / "rules"
NAMES = sorted(folder.name for folder in (RULES / "facts").iterdir())
ON_DATA = {"vehicles"}
TRACE = Path(os.environ.get("SKERRY_DATA", "")) / "traj_zen_traffic" / "car_traffic.csv"
START, SPAN = 7 * 36_000 + 30 * 600, 200


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def run(program, facts, out):
    result = CliRunner().invoke(
        app, ["rules", "run", str(program), "--facts", str(facts), "--out", str(out), "--project", str(RULES)]
    )
    assert result.exit_code == 0, result.output


def test_every_example_is_tried():
    assert {path.stem for path in RULES.glob("*.dl")} == {*NAMES, *ON_DATA}


@pytest.mark.parametrize("name", NAMES)
def test_example_gives_what_stands_beside_it(name, tmp_path):
    run(RULES / f"{name}.dl", RULES / "facts" / name, tmp_path)
    assert texts(tmp_path) == texts(RULES / "expected" / name)


@pytest.mark.parametrize("name", NAMES)
def test_reference_gives_the_same(name, tmp_path):
    checked = check(read((RULES / f"{name}.dl").read_text()))
    facts = read_facts(RULES / "facts" / name, checked)
    outputs = Outputs(checked, facts.unit)
    with Builtins(checked.program.functions, list_allowed_modules(RULES), RULES) as builtins:
        reference = Reference(checked, builtins, facts.unit)
        for tick in facts.ticks:
            outputs.add(tick.now, reference.tick(tick.now, tick.inserts, tick.deletes))
    outputs.write(tmp_path)
    assert texts(tmp_path) == texts(RULES / "expected" / name)


def test_win_move_is_refused_on_a_cycle_of_moves(tmp_path):
    (tmp_path / "move.csv").write_text("x,y\na,b\nb,a\n")
    result = CliRunner().invoke(app, ["rules", "run", str(RULES / "win_move.dl"), "--facts", str(tmp_path)])
    assert isinstance(result.exception, RuleError)
    assert "E201 line 5, column 1, rule 1: win('b') needs NOT win('a'), which needs NOT win('b')" in str(
        result.exception
    )


def fixes():
    """One fix a second of the first seconds of the trace, and the vehicle that each is of."""
    with TRACE.open(newline="") as file:
        for row in csv.DictReader(file):
            hours, minutes, seconds = row["DateTime"].partition(" ")[2].split(":")
            tick = round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 10) - START
            if tick < SPAN and tick % 10 == 0:
                speed = round(float(row["velocity"]) / 3.6, 1)
                yield (float(row["kilopost"]), int(row["traffic_lane"]), speed, tick), row["traj_id"]


@pytest.mark.skipif(not TRACE.exists(), reason="SKERRY_DATA has no traj_zen_traffic")
def test_trajectories_of_real_vehicles_are_mostly_of_one_vehicle_each(tmp_path):
    vehicles = dict(fixes())
    with (tmp_path / "fix.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("post", "lane", "speed", "t"), *vehicles])
    run(RULES / "vehicles.dl", tmp_path, tmp_path / "out")
    with (tmp_path / "out" / "complete.csv").open(newline="") as file:
        paths = [json.loads(row["path"]) for row in csv.DictReader(file)]
    whole = [path for path in paths if len({vehicles[tuple(fix)] for fix in path}) == 1]
    assert len(paths) > 50
    assert len(whole) > 0.8 * len(paths)
