from pathlib import Path

import pytest

from skerry.errors import SetupError
from skerry.spark.java import OLDEST_JAVA, Java, find_java, major_version

OPENJDK_17 = 'openjdk version "17.0.15" 2025-04-15'


def executable(path: Path, body: str) -> Path:
    """A little shell script in place of a real program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def fake_java(home: Path, told: str) -> Path:
    return executable(home / "bin" / "java", f"echo '{told}' >&2")


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with nothing on its PATH but what a test puts into ``bin``."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


@pytest.mark.parametrize(
    ("told", "major"),
    [
        (OPENJDK_17, 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n" + OPENJDK_17, 17),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_major_version_is_read_in_every_style(told, major):
    assert major_version(told) == major


def test_java_of_this_machine_serves():
    java = find_java()
    assert java.path.exists()
    assert java.major >= OLDEST_JAVA


def test_java_on_path_is_found(bare):
    java = fake_java(bare, OPENJDK_17)
    assert find_java() == Java(java, 17)


def test_java_home_comes_before_path(bare, monkeypatch):
    fake_java(bare, OPENJDK_17)
    newer = fake_java(bare / "newer", 'openjdk version "21.0.2" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(bare / "newer"))
    assert find_java() == Java(newer, 21)


def test_version_on_standard_output_counts_too(bare):
    java = executable(bare / "bin" / "java", f"echo '{OPENJDK_17}'")
    assert find_java() == Java(java, 17)


def test_missing_java_names_the_debian_package(bare):
    executable(bare / "bin" / "apt-get", "exit 0")
    with pytest.raises(SetupError, match=r"there is none: (sudo )?apt-get install openjdk-17-jre-headless$"):
        find_java()


def test_missing_java_names_the_brew_formula_on_macos(bare, monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SetupError, match=r"brew install openjdk@17 .*$"):
        find_java()


def test_missing_java_is_told_in_one_line_elsewhere(bare):
    with pytest.raises(SetupError, match=r"^Spark needs Java 17 .* set JAVA_HOME to where it is$") as raised:
        find_java()
    assert "\n" not in str(raised.value)


def test_old_java_is_refused_with_its_version(bare):
    fake_java(bare, 'java version "1.8.0_392"')
    with pytest.raises(SetupError, match="is Java 8:"):
        find_java()


def test_old_java_home_is_to_be_unset(bare, monkeypatch):
    fake_java(bare, OPENJDK_17)
    fake_java(bare / "older", 'openjdk version "11.0.2" 2019-01-15')
    monkeypatch.setenv("JAVA_HOME", str(bare / "older"))
    with pytest.raises(SetupError, match=r"is Java 11: unset JAVA_HOME$"):
        find_java()


def test_java_home_without_java_is_to_be_unset(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(bare / "nowhere"))
    with pytest.raises(SetupError, match=r"does not run: unset JAVA_HOME$"):
        find_java()


def test_java_that_fails_is_refused(bare):
    executable(bare / "bin" / "java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    with pytest.raises(SetupError, match="does not run"):
        find_java()
