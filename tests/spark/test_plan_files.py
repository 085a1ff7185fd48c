"""Versions of the views in files: a worker opens what is new to it, and what its own driver has written alone."""

from dataclasses import replace

import pytest

from skerry.errors import CheckpointError
from skerry.pipeline.pipeline import Pipeline
from skerry.spark import plan_files
from skerry.spark.plan_files import PlanFiles, PlanWriter, clear_plans
from tests.fjord.given import MEAN, SLOW, pipeline

LANES = [[[(0, 1, 8.0)]]]


@pytest.fixture(autouse=True)
def _fresh_worker(monkeypatch):
    monkeypatch.setattr(plan_files, "_parts", {})
    monkeypatch.setattr(plan_files, "_pipelines", {})


@pytest.fixture
def both() -> Pipeline:
    return pipeline(LANES, 1, MEAN, SLOW)


def without(found: Pipeline, *numbers: int) -> Pipeline:
    views = {number: view for number, view in found.views_by_number.items() if number not in numbers}
    return replace(found, views=tuple(views.values()), numbers=tuple(views))


def test_worker_sees_what_the_driver_has_written(tmp_path, both):
    files = PlanFiles.make_in(tmp_path)
    PlanWriter(files).write(3, both)
    found = files.pipeline(3)
    assert (found.views, found.tables, found.copies) == (both.views, both.tables, both.copies)
    assert list(found.views_by_number) == [0, 1]
    assert [each.definition for each in files.inputs(3).connectors] == [each.definition for each in both.connectors]
    assert (files.newest, files.next_version(2), files.next_version(4)) == (3, 3, 4)


def test_what_stays_is_the_same_object_in_the_next_version(tmp_path, both):
    files = PlanFiles.make_in(tmp_path)
    writer = PlanWriter(files)
    writer.write(0, both)
    before = files.pipeline(0)
    count = len(list(files.path.iterdir()))
    writer.write(1, without(both, 0))
    after = files.pipeline(1)
    assert after.views_by_number[1] is before.views_by_number[1]
    assert after.connectors[0] is before.connectors[0]
    assert len(list(files.path.iterdir())) == count + 2


def test_version_that_cannot_come_again_leaves_nothing(tmp_path, both):
    files = PlanFiles.make_in(tmp_path)
    writer = PlanWriter(files)
    writer.write(0, both)
    writer.write(1, without(both, 0))
    kept = {path.name for path in files.path.iterdir()}
    writer.forget(1)
    left = {path.name for path in files.path.iterdir()}
    assert len(kept - left) == 3  # the two files of the version, and the view that went
    assert files.pipeline(1).views == (both.views[1],)


@pytest.mark.parametrize("name", ["newest", "0.views", "0.inputs"])
def test_what_another_has_written_is_not_opened(tmp_path, both, name):
    files, other = PlanFiles.make_in(tmp_path / "own"), PlanFiles.make_in(tmp_path / "other")
    for each in (files, other):
        PlanWriter(each).write(0, both)
    (files.path / name).write_bytes((other.path / name).read_bytes())
    with pytest.raises(CheckpointError, match="was not written by the process that runs"):
        _ = files.newest, files.inputs(0), files.pipeline(0)


def test_file_under_another_name_is_not_opened(tmp_path, both):
    files = PlanFiles.make_in(tmp_path)
    PlanWriter(files).write(0, both)
    (files.path / "1.views").write_bytes((files.path / "0.views").read_bytes())
    with pytest.raises(CheckpointError, match="was not written by the process that runs"):
        files.pipeline(1)


def test_key_is_not_shown(tmp_path):
    files = PlanFiles.make_in(tmp_path)
    assert repr(files.key) not in repr(files)
    clear_plans(tmp_path)
    assert list(tmp_path.iterdir()) == []
