"""The archive of Spark's classes: used where it is, asked for by nobody where it is not."""

import os
import subprocess
import sys

import pytest

from skerry.spark.class_archive import find_class_archive, use_class_archive
from skerry.spark.java import find_java


def test_archive_is_used_only_where_it_is(tmp_path):
    archive = tmp_path / "classes.jsa"
    assert use_class_archive(archive) == ""
    archive.touch()
    assert use_class_archive(archive).startswith(f" -XX:SharedArchiveFile={archive} ")


def test_archive_with_a_space_in_its_name_is_left_alone(tmp_path):
    archive = tmp_path / "a b.jsa"
    archive.touch()
    assert use_class_archive(archive) == ""


def test_another_spark_has_another_archive(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    usual = find_class_archive(find_java())
    (tmp_path / "jars").mkdir()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert find_class_archive(find_java()) != usual


def test_java_takes_no_harm_from_what_is_no_archive(tmp_path):
    archive = tmp_path / "classes.jsa"
    archive.write_bytes(b"broken off")
    options = [*use_class_archive(archive).split(), "-version"]
    run = subprocess.run([find_java().path, *options], capture_output=True, text=True, check=True, timeout=60)
    assert "cds" not in run.stdout


_START_SPARK = """
from pathlib import Path
from skerry.spark.session import session
context = session("local[1]").sparkContext
process = context._jvm.java.lang.ProcessHandle.current().pid()
print(Path(f"/proc/{process}/maps").read_text())
"""


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_java_maps_what_a_preparation_has_left_behind(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    prepare = [sys.executable, "-c", "from skerry.cli.prepare import archive_classes; archive_classes()"]
    for _ in range(2):  # the second time there is nothing left to do
        subprocess.run(prepare, env=environment, check=True, timeout=900)
    (archive,) = (tmp_path / "skerry").glob("classes-*")
    maps = subprocess.run(
        [sys.executable, "-c", _START_SPARK], env=environment, check=True, timeout=300, capture_output=True, text=True
    )
    assert str(archive) in maps.stdout
