import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.sources.file.text import read_block

MEBIBYTE = 1 << 20


def blocks(path, size, longest=MEBIBYTE):
    length = path.stat().st_size
    return [read_block(str(path), start, min(start + size, length), longest) for start in range(0, length, size)]


@given(lines=st.lists(st.text("ab", max_size=9), max_size=20), size=st.integers(1, 30), ended=st.booleans())
def test_every_line_belongs_to_the_block_it_starts_in(tmp_path_factory, lines, size, ended):
    path = tmp_path_factory.mktemp("blocks") / "a.txt"
    path.write_text("\n".join(lines) + ("\n" if ended else ""))
    found = blocks(path, size)
    texts = [line.decode().rstrip("\n") for block in found for line in block.lines.text.to_pylist()]
    assert texts == [line for line in lines if line]
    for number, block in enumerate(found):
        assert all(number * size <= offset < (number + 1) * size for offset in block.lines.offsets)


@pytest.mark.parametrize("size", [4096, 3 * MEBIBYTE, 64 * MEBIBYTE])
def test_a_line_that_is_too_long_does_not_touch_its_neighbours(tmp_path, size):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before\n" + b"x" * (10 * MEBIBYTE) + b"\nafter\n")
    found = blocks(path, size)
    assert [line for block in found for line in block.lines.text.to_pylist()] == [b"before\n", b"after\n"]
    [letter] = [letter for block in found for batch in block.rejects for letter in batch.to_pylist()]
    expected = {"reason": "line of 10485760 bytes, at most 1048576", "reading": "x" * 500, "place": f"{path}:byte 7"}
    assert letter == expected


def test_a_line_that_is_too_long_is_never_held_in_memory(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * (60 * MEBIBYTE) + b"\nafter\n")
    tracemalloc.start()
    found = blocks(path, MEBIBYTE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(block.lines) for block in found) == 1
    assert peak < 10 * MEBIBYTE


def test_a_line_is_as_long_as_allowed_whether_it_ends_in_its_block_or_not(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 100 + b"\n" + b"y" * 101 + b"\n" + b"z" * 100)
    for size in (1, 90, 1000):
        assert [len(line.strip()) for block in blocks(path, size, 100) for line in block.lines.text.to_pylist()] == [
            100,
            100,
        ]


def test_a_byte_order_mark_is_not_part_of_the_first_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\nb\n")
    [block] = blocks(path, 100)
    assert block.lines.text.to_pylist() == [b"a\n", b"b\n"]
    assert block.lines.offsets.tolist() == [3, 5]


def test_what_is_appended_after_a_file_was_opened_is_not_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\n")
    size = path.stat().st_size
    path.write_bytes(b"a\nb\nc\n")
    assert read_block(str(path), 0, size, 100).lines.text.to_pylist() == [b"a\n", b"b\n"]
