import pyarrow as pa
import pytest
from typer.testing import CliRunner

from skerry.cli import app, verify
from skerry.errors import InputError, RunError
from tests.cli.commands import DATA, LIVE, SCRIPT, laid_out

UNUSUAL = DATA + "d,2026-01-01 00:00:12,nan\nlate,2026-01-01 00:00:01,1\ngarbled\n"
SPARK = """CREATE SOURCE ticks (value BIGINT) WITH (connector='spark', spark_format='rate');
    CREATE MATERIALIZED VIEW v AS SELECT value FROM ticks;"""

SUBSCRIBED = "INSERT INTO subscriptions (id, stream, predicate) VALUES ('q', 'road', 'sensor = ''d''');"


def verified(folder, script=SCRIPT, data=DATA):
    """The script over the data of a project, in this process."""
    project = str(laid_out(folder, script, data))
    return CliRunner().invoke(app, ["verify", f"{project}/script.sql", "--project", project, "--master", "local[2]"])


@pytest.mark.spark
def test_both_runtimes_give_the_same_answers(tmp_path):
    result = verified(tmp_path, SCRIPT + SUBSCRIBED, UNUSUAL)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "mean: equal, 2 rows on spark, 2 on fjord",
        "seen: equal, 4 rows on spark, 4 on fjord",
        "dead_letters/road: equal, 1 row on spark, 1 on fjord",
        "subscriptions: equal, 1 row on spark, 1 on fjord",
    ]
    assert not (tmp_path / "skerry.db").exists()


def test_source_without_an_end_cannot_be_compared(tmp_path):
    error = verified(tmp_path, LIVE).exception
    assert isinstance(error, InputError)
    assert str(error) == "source 'road' has no end; only bounded input can be compared"


def test_source_that_spark_reads_cannot_be_compared(tmp_path):
    error = verified(tmp_path, SPARK).exception
    assert isinstance(error, InputError)
    assert str(error) == "source 'ticks' is read by Spark alone; there is nothing to compare it with"


def test_answers_that_differ_are_named(tmp_path, monkeypatch):
    def run(database, sink, settings, **_):
        sink.open({"mean": batch.schema}, resume=False)
        sink.write("mean", 0, batch.slice(settings.runtime == "fjord"))

    batch = pa.record_batch({"speed": [1.5, 2.5]})
    monkeypatch.setattr(verify.Database, "run", run)
    result = verified(tmp_path)
    assert result.stdout == "mean: DIFFERENT, 2 rows on spark, 1 on fjord\n"
    assert isinstance(result.exception, RunError)
    assert str(result.exception) == "the runtimes disagree on mean"
