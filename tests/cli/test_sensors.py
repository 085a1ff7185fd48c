import json
import time

import pytest
from typer.testing import CliRunner

from skerry import MemorySink, Settings, connect
from skerry.catalog import SensorStatus
from skerry.cli import app
from skerry.errors import SkerryError
from skerry.model.time import seconds

SCRIPT = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP) WITH (connector='sim', sensors='4', duration='1s');
CREATE MATERIALIZED VIEW v AS SELECT sensor FROM road"""
FLEET = """
source: traffic
sensors:
- name: loop-7
  kind: loop
  lat: 37.87
  lon: -122.30
  tags: [i80, north]
  columns: [speed, flow]
  units: {speed: mph}
  sample_period: 500ms
  programs: [raw, counts]
  relations: {upstream_of: loop-8, pair_of: [loop-9]}
- {name: loop-8, kind: loop, latitude: 37.88, longitude: -122.30, tags: [i80]}
- {name: loop-9, kind: loop}
- {name: no, source: air, kind: vane}
"""


def asked(tmp_path, *arguments):
    result = CliRunner().invoke(app, ["sensors", *arguments, "--project", str(tmp_path)])
    if isinstance(result.exception, SkerryError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def imported(tmp_path, text=FLEET):
    (tmp_path / "fleet.yaml").write_text(text)
    return asked(tmp_path, "import", str(tmp_path / "fleet.yaml"))


def names(lines):
    return [line.partition(":")[0] for line in lines]


def test_sensors_of_a_source_that_was_run_are_listed(tmp_path):
    database = connect(tmp_path)
    database.execute(SCRIPT)
    database.run(MemorySink(), Settings("fjord"))
    found = asked(tmp_path, "list")
    assert len(found) == 4
    assert found[0].startswith("i80-")
    assert ": road, " in found[0]
    assert asked(tmp_path, "list", "--limit", "1")[1] == "and 3 more; --limit shows more"


def test_project_without_sensors_says_so(tmp_path):
    assert asked(tmp_path, "list")[0].startswith("no sensor is known yet")


def test_imported_sensors_are_there(tmp_path):
    assert imported(tmp_path)[0] == "4 sensors"
    assert names(asked(tmp_path, "list")) == ["loop-7", "loop-8", "loop-9", "no"]


def test_export_can_be_imported(tmp_path):
    imported(tmp_path)
    before = connect(tmp_path).catalog.sensors()
    (tmp_path / "other").mkdir()
    asked(tmp_path, "export", "--out", str(tmp_path / "other" / "fleet.yaml"))
    asked(tmp_path / "other", "import", str(tmp_path / "other" / "fleet.yaml"))
    assert connect(tmp_path / "other").catalog.sensors() == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tag", "i80"], ["loop-7", "loop-8"]),
        (["--tag", "i80", "--tag", "north"], ["loop-7"]),
        (["--kind", "vane"], ["no"]),
        (["--source", "air"], ["no"]),
        (["--near", "37.881,-122.3,1500"], ["loop-8", "loop-7"]),
        (["--box", "37.875,-123,38,-122"], ["loop-8"]),
        (["--seen-within", "1m"], ["loop-7"]),
        (["--silent-for", "5m"], ["loop-8", "loop-9", "no"]),
        (["LOOP"], ["loop-7", "loop-8", "loop-9"]),
        (["--tag", "nowhere"], ["no sensor fits"]),
    ],
)
def test_sensors_are_found(tmp_path, options, expected):
    imported(tmp_path)
    now = seconds(time.time())
    old = SensorStatus("loop-8", "traffic", now - seconds(3600))
    connect(tmp_path).catalog.put_statuses([SensorStatus("loop-7", "traffic", now, online=True), old])
    assert names(asked(tmp_path, "find", *options)) == expected


def test_found_sensors_are_told_to_machines(tmp_path):
    imported(tmp_path)
    (found,) = json.loads("\n".join(asked(tmp_path, "find", "--tag", "north", "--near", "37.87,-122.3,10", "--json")))
    assert (found["name"], found["sample_period"], found["distance_m"]) == ("loop-7", "500ms", 0.0)


def test_sensor_is_shown_with_its_status(tmp_path):
    imported(tmp_path)
    connect(tmp_path).catalog.put_statuses([SensorStatus("loop-7", "traffic", seconds(0), True, 0.5, 9)])
    shown = asked(tmp_path, "show", "loop-7")
    assert {"name: loop-7", "tags: i80, north", "online: yes", "battery: 0.5", "readings: 9"} <= set(shown)
    assert json.loads("\n".join(asked(tmp_path, "show", "loop-7", "--json")))["status"]["readings"] == 9


def test_pair_of_a_sensor_is_its_best_alternative(tmp_path):
    imported(tmp_path, FLEET.replace("  columns: [speed, flow]\n", ""))
    assert names(asked(tmp_path, "similar", "loop-7")) == ["loop-9", "loop-8"]


def test_imported_sensors_outlast_a_run_of_their_source(tmp_path):
    database = connect(tmp_path)
    database.execute(SCRIPT)
    imported(tmp_path, "sensors: [{name: mine, source: road, kind: loop}]")
    database.run(MemorySink(), Settings("fjord"))
    assert "mine" in names(asked(tmp_path, "list"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "loop-77"], "there is no sensor 'loop-77'; did you mean 'loop-7'?"),
        (["show", "loop-7", "--source", "air"], "source 'air' has no sensor 'loop-7'; traffic has"),
        (["find", "--near", "37,x,1"], "--near needs 3 numbers, such as 37.87,-122.3,500; got '37,x,1'"),
        (["find", "--near", "nan,0,1"], "--near needs 3 numbers"),
        (["find", "--near", "91,0,1"], "--near needs degrees and metres"),
        (["find", "--box", "38,-123,37,-122"], "--box begins in the south: 38 is north of 37"),
        (["find", "--seen-within", "soon"], "--seen-within needs a span of time, such as 30s, 5min or 2h; got 'soon'"),
    ],
)
def test_wrong_question_is_refused(tmp_path, arguments, message):
    imported(tmp_path)
    with pytest.raises(SkerryError, match=r".*") as error:
        asked(tmp_path, *arguments)
    assert message in str(error.value)


def test_sensor_of_several_sources_needs_its_source(tmp_path):
    imported(tmp_path, "sensors: [{name: a, source: x, kind: k}, {name: a, source: y, kind: k}]")
    with pytest.raises(SkerryError, match="several sources have a sensor 'a': x, y; say which with --source"):
        asked(tmp_path, "show", "a")
    assert asked(tmp_path, "show", "a", "--source", "y")[1] == "source: y"
