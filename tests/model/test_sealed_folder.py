import os
import pickle

import pytest

from skerry.errors import CheckpointError, RunError
from skerry.model.sealed_folder import SealedFolder

CONTENT = b'{"step": 7}'


@pytest.fixture
def files(tmp_path):
    found = SealedFolder(tmp_path / "kept", "run-7")
    found.write("a.json", CONTENT)
    return found


def damage(path, position, byte):
    content = bytearray(path.read_bytes())
    content[position] = byte if content[position] != byte else byte + 1
    path.write_bytes(content)


@pytest.mark.parametrize("content", [b"", CONTENT, b"\n", bytes(range(256)), b"\nskerry-1 " + b"0" * 64 + b" run-7\n"])
def test_what_was_written_is_read(files, content):
    files.write("b", content)
    assert pickle.loads(pickle.dumps(files)).read("b") == content


@pytest.mark.parametrize("byte", [ord("x"), 0, 0xFE])
def test_every_changed_byte_is_noticed(files, byte):
    path = files.file("a.json")
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole)
        damage(path, position, byte)
        with pytest.raises(CheckpointError):
            files.read("a.json")


def test_every_lost_end_is_noticed(files):
    path = files.file("a.json")
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match="does not end in a checksum"):
            files.read("a.json")


def test_missing_file_is_told(files):
    with pytest.raises(CheckpointError, match=r"'.*b\.json' is missing; put back a good copy, or start anew"):
        files.read("b.json")


def test_file_of_another_run_is_told(files):
    with pytest.raises(CheckpointError, match=r"a\.json' belongs to another run"):
        SealedFolder(files.path, "run-8").read("a.json")


def test_file_under_another_name_is_refused(files):
    files.file("a.json").rename(files.file("b.json"))
    with pytest.raises(CheckpointError, match="checksum does not match"):
        files.read("b.json")


def test_what_the_disk_refuses_is_told_in_a_line(files):
    os.mkdir(files.file("c.json"))
    with pytest.raises(RunError, match=r"cannot read the checkpoint file '.*c\.json': Is a directory"):
        files.read("c.json")
