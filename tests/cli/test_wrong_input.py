"""What a user can get wrong: told in one line, exit code 2, nothing else."""

import re

import pytest

from tests.cli.commands import SCRIPT, laid_out, run, skerry, start_skerry

SCRIPTS = {
    "unknown column": (SCRIPT.replace("AVG(speed)", "AVG(sped)"), "line 3, column .*: unknown column 'sped'; road has"),
    "unknown stream": (SCRIPT.replace("FROM road", "FROM raod"), "unknown stream 'raod'; the catalogue has mean, road"),
    "unknown function": (
        SCRIPT.replace("SELECT sensor", "SELECT sine(speed)"),
        "unknown function 'sine'; did you mean",
    ),
    "broken sql": (SCRIPT + "CREATE MATERIALIZED VIEW AS FROM", "line 6, column .*"),
    "unknown connector": (
        SCRIPT.replace("'file'", "'fax'"),
        "connector 'fax'; known are file, folder, mqtt, sim, spark",
    ),
    "unknown option of a source": (SCRIPT.replace("path=", "paht="), "unknown option 'paht'"),
    "format of a source": (SCRIPT.replace("path=", "format='csv', path="), "unknown option 'format'"),
    "missing data": (SCRIPT.replace("road.csv", "raod.csv"), "no file matches 'raod.csv'"),
    "undeclared column": (SCRIPT.replace("speed DOUBLE", "sped DOUBLE, speed DOUBLE"), "has no column 'sped'; it has"),
    "empty": ("-- nothing\n", "there is no view to run"),
    "not utf-8": (
        SCRIPT.replace("road", "größe").encode("latin-1"),
        "cannot read the script: 'script.sql' is not UTF-8 but LATIN1, it seems; convert it: iconv.*",
    ),
    "zero bytes": (b"\0" * 100, ".*"),
}
OPTIONS = {
    "unknown format": (["--format", "xml"], "unknown format 'xml'; known are parquet, csv, jsonl"),
    "unknown runtime": (["--runtime", "flink"], "unknown runtime 'flink'; known are spark, fjord"),
    "unknown option": (["--fromat", "csv"], "no such option: --fromat.*--format.*; see skerry run --help"),
    "option without a value": (["--out"], "option '--out' requires an argument; see skerry --help"),
    "no number": (["--batch-rows", "many"], "invalid value for '--batch-rows'.*"),
    "no rows": (["--batch-rows", "0"], "a step needs at least one row, got 0"),
    "buckets in process": (["--buckets", "2"], "the fjord runtime has no buckets; use --runtime spark"),
    "no master": (
        ["--runtime", "spark", "--master", "spork://a:1"],
        "'spork://a:1' is no Spark master; known are local",
    ),
    "no number of cores": (
        ["--runtime", "spark", "--master", "local[x]"],
        r"'local\[x\]' is no Spark master; known are",
    ),
    "no core": (["--runtime", "spark", "--master", "local[0]"], r"'local\[0\]' is no Spark master; known are local"),
    "unknown host": (
        ["--runtime", "spark", "--master", "spark://nohost.invalid:7077"],
        "Spark master 'spark://nohost.invalid:7077': there is no host 'nohost.invalid'",
    ),
    "no buckets": (["--runtime", "spark", "--buckets", "0"], "state is spread over 1 to 1024 buckets, got 0"),
    "checkpoint is a file": (
        ["--checkpoint", "road.csv"],
        "cannot keep a checkpoint in '.*road.csv': there is a file, not a folder",
    ),
    "no project": (["--project", "nowhere"], "there is no project folder 'nowhere'"),
    "out is a file": (["--out", "road.csv"], "cannot write answers to '.*road.csv': there is a file, not a folder"),
}
COMMANDS = {
    "missing script": (["run", "nowhere.sql"], "there is no script 'nowhere.sql'"),
    "script is a folder": (["explain", "."], r"cannot read the script '\.': Is a directory"),
    "no script": (["run"], "missing argument 'script'; see skerry run --help"),
    "unknown command": (["rnu"], "no such command 'rnu'.*; see skerry --help"),
    "unknown demo": (["demo", "sea"], "unknown demo 'sea'; known are traffic"),
}


def assert_refused(done, message):
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    [line] = done.stderr.splitlines()
    assert re.match(rf"error: .*{message}", line), line


@pytest.mark.parametrize(("script", "message"), SCRIPTS.values(), ids=SCRIPTS)
def test_wrong_script_is_told_in_one_line(tmp_path, script, message):
    assert_refused(run(laid_out(tmp_path, script)), message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_wrong_option_is_told_in_one_line(tmp_path, options, message):
    assert_refused(run(laid_out(tmp_path), *options), message)


@pytest.mark.parametrize(("arguments", "message"), COMMANDS.values(), ids=COMMANDS)
def test_wrong_command_is_told_in_one_line(tmp_path, arguments, message):
    assert_refused(skerry(tmp_path, *arguments), message)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("pyspark.sql", "pyspark, which is not installed: pip install pyspark; --runtime fjord needs no Spark"),
        ("matplotlib", "matplotlib, which is not installed: pip install matplotlib"),
    ],
)
def test_package_that_is_not_installed_is_named(tmp_path, monkeypatch, module, told):
    def miss(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("skerry.cli.app", miss)
    done = skerry(tmp_path, "run", "script.sql")
    assert (done.returncode, done.stderr) == (1, f"error: this needs {told}\n")


def test_process_ends_with_the_exit_code_of_its_command(tmp_path):
    assert_refused(start_skerry(tmp_path, "rnu"), "no such command 'rnu'.*; see skerry --help")
