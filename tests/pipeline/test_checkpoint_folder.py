import json

import pytest

from skerry.errors import CheckpointError, InputError
from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.checkpoint_folder import CheckpointFolder


@pytest.mark.parametrize(("before", "now"), [("spark", "fjord"), ("fjord", "spark")])
def test_checkpoint_of_another_runtime_is_refused(tmp_path, before, now):
    CheckpointFolder(tmp_path, before, "script", 7)
    with pytest.raises(InputError, match=f"was begun with --runtime {before}, .*; go on with --runtime {before}, or"):
        CheckpointFolder(tmp_path, now, "script", 7)


def test_checkpoint_that_names_no_runtime_is_of_spark(tmp_path):
    fixed = {"run": "7", "script": "script", "unit_rows": 7}
    SealedFolder(tmp_path).write("run.json", json.dumps(fixed).encode())
    assert CheckpointFolder(tmp_path, "spark", "script", 9).unit_rows == 7
    with pytest.raises(InputError, match="was begun with --runtime spark"):
        CheckpointFolder(tmp_path, "fjord", "script", 9)


@pytest.mark.parametrize("left", ["spark", "state", "steps", "registry"])
def test_what_a_run_left_without_its_name_is_refused(tmp_path, left):
    (tmp_path / left).mkdir()
    with pytest.raises(CheckpointError, match=r"run.json' is missing"):
        CheckpointFolder(tmp_path, "fjord", "script", 7)


def test_folder_of_others_is_no_run(tmp_path):
    (tmp_path / "spool").mkdir()
    assert CheckpointFolder(tmp_path, "fjord", "script", 7).unit_rows == 7
