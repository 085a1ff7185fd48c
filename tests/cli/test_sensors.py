from typer.testing import CliRunner

from skerry import MemorySink, Settings, connect
from skerry.cli import app

SCRIPT = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP) WITH (connector='sim', sensors='4', duration='1s');
CREATE MATERIALIZED VIEW v AS SELECT sensor FROM road"""


def listed(*arguments):
    return CliRunner().invoke(app, ["sensors", "list", *arguments]).stdout.splitlines()


def test_sensors_of_a_source_that_was_run_are_listed(tmp_path):
    database = connect(tmp_path)
    database.execute(SCRIPT)
    database.run(MemorySink(), Settings("fjord"))
    found = listed("--project", str(tmp_path))
    assert len(found) == 4
    assert found[0].startswith("i80-")
    assert ": road, " in found[0]
    assert listed("--project", str(tmp_path), "--limit", "1")[1] == "and 3 more; --limit shows more"


def test_project_without_sensors_says_so(tmp_path):
    assert listed("--project", str(tmp_path))[0].startswith("no sensor is known yet")
