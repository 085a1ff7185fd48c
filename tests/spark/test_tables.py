import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import CheckpointError
from skerry.model.sealed_folder import SealedFolder
from skerry.sources.tables import Tables
from skerry.spark.tables import TableStore

TABLE = Source("sensors", pa.schema({"id": pa.int64()}), "file", {"path": "sensors.csv"}, is_table=True)


def write(folder, number, *, moment):
    path = folder / "sensors.csv"
    path.write_text(f"id\n{number}\n")
    os.utime(path, (moment, moment))


def store(folder, *, resumed=False):
    return TableStore(SealedFolder(folder / "kept", "run"), Tables([TABLE], folder), resumed=resumed)


def chosen(kept, batch):
    known = json.loads(kept.as_property())
    files = SealedFolder(Path(known["folder"]), known["run"])
    return pa.ipc.open_file(files.read(known["chosen"][str(batch)]["sensors"])).read_all().column("id").to_pylist()


def test_batch_sees_the_table_as_it_was_when_chosen(tmp_path):
    write(tmp_path, 1, moment=1)
    kept = store(tmp_path)
    kept.choose(0)
    write(tmp_path, 2, moment=2)
    kept.choose(1)
    assert (chosen(kept, 0), chosen(kept, 1)) == ([1], [2])


def test_choice_survives_a_restart_even_if_the_table_has_changed(tmp_path):
    write(tmp_path, 1, moment=1)
    store(tmp_path).choose(0)
    write(tmp_path, 2, moment=2)
    kept = store(tmp_path, resumed=True)
    kept.choose(0)
    assert chosen(kept, 0) == [1]


@pytest.mark.parametrize("name", ["chosen.json", "sensors-*.arrow"])
def test_run_that_goes_on_refuses_to_choose_anew(tmp_path, name):
    write(tmp_path, 1, moment=1)
    store(tmp_path).choose(0)
    [path] = (tmp_path / "kept").glob(name)
    path.unlink()
    with pytest.raises(CheckpointError, match="is missing"):
        store(tmp_path, resumed=True)


def test_file_of_an_earlier_process_that_nobody_chose_is_written_again(tmp_path):
    write(tmp_path, 1, moment=1)
    store(tmp_path).choose(0)
    [path] = (tmp_path / "kept").glob("*.arrow")
    path.write_bytes(b"half")
    kept = store(tmp_path)
    kept.choose(0)
    assert chosen(kept, 0) == [1]


def test_versions_that_no_batch_can_ask_for_are_dropped(tmp_path):
    kept = None
    for batch in range(8):
        write(tmp_path, batch, moment=batch)
        kept = kept or store(tmp_path)
        kept.choose(batch)
    assert len(list((tmp_path / "kept").glob("*.arrow"))) == 4
    assert chosen(kept, 7) == [7]
