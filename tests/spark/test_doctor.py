import socket
import sys
from collections import namedtuple

import pytest

from skerry.spark import doctor
from skerry.spark.doctor import Finding, examine

Usage = namedtuple("Usage", "total used free")


def found(name, project) -> Finding:
    return next(finding for finding in examine(project) if finding.name == name)


def test_everything_is_looked_at_once(tmp_path):
    names = [finding.name for finding in examine(tmp_path)]
    wanted = ["Python", "Java", "Spark", "port", "temporary disk space", "project disk space", "memory", "cache"]
    assert names == wanted


@pytest.mark.parametrize("name", ["Python", "Java", "Spark", "port", "cache"])
def test_machine_that_runs_the_tests_is_good(name, tmp_path):
    finding = found(name, tmp_path)
    assert finding.good, finding
    assert finding.mend is None


def test_looking_leaves_the_project_as_it_was(tmp_path):
    examine(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_project_that_is_not_there_yet_is_measured_where_it_would_be(tmp_path):
    assert str(tmp_path / "new" / "project") in found("project disk space", tmp_path / "new" / "project").seen


def test_missing_java_is_told_with_its_mend(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    finding = found("Java", tmp_path)
    assert not finding.good
    assert finding.seen.endswith("does not run")
    assert finding.mend == "unset JAVA_HOME"


def test_missing_spark_is_told_with_its_mend(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    finding = found("Spark", tmp_path)
    assert not finding.good
    assert finding.mend.endswith("-m pip install 'pyspark==4.3.*'")


def test_another_spark_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "4.30.1")
    assert found("Spark", tmp_path).seen == "4.30.1, not 4.3"


def test_port_that_cannot_be_bound_is_told(tmp_path, monkeypatch):
    def refuse(listener, address):
        raise OSError("not permitted")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    finding = found("port", tmp_path)
    assert not finding.good
    assert "not permitted" in finding.seen


@pytest.mark.parametrize(("free", "good"), [(2**30, True), (2**30 - 1, False)])
def test_disk_is_short_below_one_gib(free, good, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "disk_usage", lambda directory: Usage(2**40, 0, free))
    finding = found("project disk space", tmp_path)
    assert finding.good is good
    assert (finding.mend is None) is good


@pytest.mark.parametrize(("free", "good"), [(2**30, True), (2**29, False), (None, True)])
def test_memory_is_short_below_one_gib(free, good, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_free_memory_bytes", lambda: free)
    assert found("memory", tmp_path).good is good


def test_cache_is_where_the_user_wants_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert found("cache", tmp_path).seen == str(tmp_path / "caches" / "skerry")


def test_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert found("cache", tmp_path).seen.startswith("/proc/nowhere/skerry cannot be written")
