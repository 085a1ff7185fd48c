import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from skerry.database import Settings, connect
from skerry.errors import OptionError, RunError, SourceError
from skerry.model.options import Owner
from skerry.model.spark_format import SparkFormat
from skerry.sinks.memory import MemorySink
from skerry.spark.libraries import Libraries

PACKAGE = "org.example:no-such-thing_2.13:1.0"
SAID = (
    'Exception in thread "main" java.lang.RuntimeException: '
    "[unresolved dependency: org.example#no-such-thing_2.13;1.0: not found]"
)
CLICKS = """CREATE SOURCE clicks (value VARCHAR)
    WITH (connector='spark', spark_format='kafka', spark.subscribe='clicks'{more});
    CREATE MATERIALIZED VIEW v AS SELECT value FROM clicks"""


def test_libraries_of_formats_and_of_a_run_are_named_once():
    format_ = SparkFormat("kafka", {}, ("a:b:1",), ("kafka.jar", "/opt/x.jar"))
    found = Libraries.of([format_, format_], ["c:d:2"], ["kafka.jar"], Path("/project"))
    assert found == Libraries(("c:d:2", "a:b:1"), ("/project/kafka.jar", "/opt/x.jar"))


def test_jar_that_is_none_is_told_before_spark_starts(tmp_path):
    with pytest.raises(OptionError, match=r"there is no jar '/nowhere/kafka.jar'"):
        Libraries(jars=("/nowhere/kafka.jar",)).as_settings()
    (tmp_path / "text.jar").write_text("not found")
    with pytest.raises(OptionError, match=r"text.jar' is no jar: it is not a zip archive"):
        Libraries(jars=(str(tmp_path / "text.jar"),)).as_settings()


def test_spark_is_told_of_libraries(tmp_path):
    jar = tmp_path / "a.jar"
    with ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    told = Libraries(("a:b:1", "c:d:2"), (str(jar),)).as_settings()
    assert told == {"spark.jars.packages": "a:b:1,c:d:2", "spark.jars": str(jar)}
    assert Libraries().as_settings() == {}


@pytest.mark.parametrize("package", ["kafka", "a:b", "a:b:1 2", "a:b:1;rm"])
def test_package_without_its_three_parts_is_refused(package):
    with pytest.raises(OptionError, match=r"source 's': .* is no package; write GROUP:NAME:VERSION"):
        SparkFormat.parse({"spark_format": "kafka", "spark_packages": package}, Owner("source 's'"))


def test_package_that_cannot_be_fetched_is_named_with_what_to_do():
    reason = Libraries((PACKAGE,)).explain(f"...\n{SAID}\n\tat org.apache")
    assert str(reason) == (
        f"Spark cannot fetch the package {PACKAGE}: no repository that it reaches has it; "
        "fetch the jar by other means, and name it with spark_jars='FILE.jar'"
    )
    assert Libraries((PACKAGE,)).explain("Error: Could not create the Java Virtual Machine") is None


@pytest.mark.spark
def test_spark_that_runs_without_a_library_is_refused():
    database = connect()
    database.execute(CLICKS.format(more=f", spark_packages='{PACKAGE}'"))
    with pytest.raises(RunError, match=f"runs Spark already, without {PACKAGE}; name it in the first run"):
        database.run(MemorySink(), Settings("spark", "local[2]"))


@pytest.mark.spark
def test_format_that_spark_does_not_have_is_told_with_its_package():
    database = connect()
    database.execute(CLICKS.format(more=""))
    package = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0"
    with pytest.raises(
        SourceError, match=f"source 'clicks': Spark has no format 'kafka'; .* spark_packages='{package}'"
    ):
        database.run(MemorySink(), Settings("spark", "local[2]"))


def test_libraries_are_for_spark_alone():
    with pytest.raises(OptionError, match="the fjord runtime has no use for Spark's libraries; use --runtime spark"):
        Settings("fjord", spark_packages=(PACKAGE,))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_start_with_a_package_that_no_repository_has_is_told(tmp_path):
    script = tmp_path / "clicks.sql"
    script.write_text(CLICKS.format(more=""))
    command = [sys.executable, "-m", "skerry", "run", str(script), "--master", "local[1]", "--spark-packages", PACKAGE]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: Spark cannot fetch the package {PACKAGE}: no repository")
    assert len(ended.stderr.splitlines()) == 1
