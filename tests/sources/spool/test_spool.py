"""Frames are there once they are written, whatever happens to the writer."""

import os

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import RunError, SourceError
from skerry.model.time import Micros
from skerry.sources.spool.frame import RECEIVED
from skerry.sources.spool.lane import SpoolLane
from skerry.sources.spool.segments import Segments, list_segments, segment_path
from skerry.sources.spool.writer import SpoolWriter

SMALL = 600


def receive(*lines, origin="t"):
    columns = [[origin] * len(lines), list(lines), [None] * len(lines), [0] * len(lines)]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, RECEIVED, strict=True)], schema=RECEIVED
    )


def write(folder, count, first=0, segment_bytes=SMALL):
    with SpoolWriter(folder, segment_bytes) as writer:
        for number in range(first, first + count):
            writer.append(receive(f"line {number}"), Micros(number))


def read(folder):
    segments = Segments(folder)
    count = segments.count()
    return [line for batch in segments.read(segments.first, count) for line in batch.column("line").to_pylist()]


def test_frames_are_read_in_order_over_segments(tmp_path):
    write(tmp_path, 10)
    assert len(list_segments(tmp_path)) > 2
    assert read(tmp_path) == [f"line {number}" for number in range(10)]


def test_reader_sees_what_comes_later(tmp_path):
    lane = SpoolLane("spool", tmp_path)
    assert lane.count() == 0
    with SpoolWriter(tmp_path, SMALL) as writer:
        for number in range(7):
            writer.append(receive("a", "b"), Micros(10 * number))
            assert (lane.count(), lane.last(number), lane.weight(number)) == (number + 1, 10 * number, 2)


def break_off(folder, cut):
    """Leave a segment as a crash might: a frame is not whole, and then not marked. Give how many frames are left."""
    segments, path = Segments(folder), segment_path(folder, 0)
    whole = [number for number in range(segments.count()) if segments.header(number).end <= cut]
    with open(path, "r+b") as file:
        file.truncate(min(cut, path.stat().st_size))
        broken = segments.header(len(whole)).offset if len(whole) < segments.count() else cut
        if broken < cut:
            file.seek(broken)
            file.write(bytes(min(4, cut - broken)))
    return len(whole)


@given(cut=st.integers(0, 5_000))
def test_writer_goes_on_behind_the_last_whole_frame(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("spool")
    write(folder, 5, segment_bytes=10**6)
    left = break_off(folder, cut)
    write(folder, 2, first=5, segment_bytes=10**6)
    assert read(folder) == [f"line {number}" for number in [*range(left), 5, 6]]


def test_whole_frame_without_its_mark_counts_after_a_restart(tmp_path):
    write(tmp_path, 2, segment_bytes=10**6)
    segments = Segments(tmp_path)
    segments.count()
    with open(segment_path(tmp_path, 0), "r+b") as file:
        file.seek(segments.header(1).offset)
        file.write(b"\0\0\0\0")
    assert read(tmp_path) == ["line 0"]
    write(tmp_path, 0)
    assert read(tmp_path) == ["line 0", "line 1"]


@pytest.mark.parametrize("use", [read, lambda folder: write(folder, 1)])
def test_damage_is_told_with_its_place(tmp_path, use):
    write(tmp_path, 3, segment_bytes=10**6)
    with open(segment_path(tmp_path, 0), "r+b") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"?")
    with pytest.raises((RunError, SourceError), match=r"000.spool is damaged at byte \d+"):
        use(tmp_path)


def flip(folder, first, frame):
    """Break the mark of a frame."""
    segments = Segments(folder)
    segments.count()
    with open(segment_path(folder, first), "r+b") as file:
        file.seek(segments.header(frame).offset)
        file.write(b"?")


@pytest.mark.parametrize("frame", range(4))
def test_frame_that_has_lost_its_mark_is_known_by_its_checksum(tmp_path, frame):
    write(tmp_path, 4, segment_bytes=10**6)
    flip(tmp_path, 0, frame)
    write(tmp_path, 1, first=4, segment_bytes=10**6)
    assert read(tmp_path) == [f"line {number}" for number in range(5)]


def test_header_that_is_gone_takes_no_frames_behind_it_along(tmp_path):
    write(tmp_path, 4, segment_bytes=10**6)
    path, segments = segment_path(tmp_path, 0), Segments(tmp_path)
    segments.count()
    before = path.read_bytes()
    start = segments.header(1).offset
    path.write_bytes(before[:start] + bytes(60) + before[start + 60 :])
    with pytest.raises(RunError, match=f"is damaged at byte {start}"):
        write(tmp_path, 1)
    assert len(path.read_bytes()) == len(before)


def check(folder, frame):
    SpoolLane("spool", folder).resume_at(frame)


def test_spool_that_is_not_what_was_read_is_told(tmp_path):
    write(tmp_path, 20)
    firsts = list_segments(tmp_path)
    check(tmp_path, 0)
    check(tmp_path, 20)
    with pytest.raises(SourceError, match="has 20 frames, and the checkpoint goes on from frame 21"):
        check(tmp_path, 21)
    with pytest.raises(SourceError, match="has 0 frames, and the checkpoint goes on from frame 1"):
        check(tmp_path / "other", 1)
    flip(tmp_path, firsts[1], firsts[1])
    with pytest.raises(SourceError, match=f"{firsts[1]}.spool is damaged at byte 0"):
        check(tmp_path, 20)
    segment_path(tmp_path, firsts[1]).unlink()
    with pytest.raises(SourceError, match=f"has no frames {firsts[1]} to {firsts[2] - 1} any more"):
        check(tmp_path, 20)
    segment_path(tmp_path, firsts[0]).unlink()
    with pytest.raises(SourceError, match="has no frame 0 any more"):
        check(tmp_path, 0)


def test_clock_of_a_spool_that_is_no_moment_is_damage(tmp_path):
    (tmp_path / "time").write_bytes(b"yyyyyyyyyyyyyyyyy")
    with pytest.raises(SourceError, match="time is damaged"):
        SpoolLane("spool", tmp_path).come()


def test_spool_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "spool").write_text("")
    with pytest.raises(RunError, match=r"cannot use the spool .*: File exists"):
        write(tmp_path / "spool", 1)


def test_done_segments_go_but_for_those_that_tell_doubles(tmp_path):
    write(tmp_path, 20)
    segments = Segments(tmp_path)
    segments.forget(15, kept_rows=8)
    assert segments.count() == 20
    assert 5 < segments.first <= 12
    assert read(tmp_path) == [f"line {number}" for number in range(segments.first, 20)]
    with pytest.raises(SourceError, match="has no frame 0 any more; it begins with"):
        segments.header(0)


def test_unread_frames_stay(tmp_path):
    write(tmp_path, 20)
    segments = Segments(tmp_path)
    segments.forget(4, kept_rows=0)
    assert segments.first <= 4


def test_notes_of_all_frames_are_known_after_a_restart(tmp_path):
    with SpoolWriter(tmp_path, SMALL) as writer:
        for number in range(20):
            writer.append(receive("x"), Micros(0), {f"file {number % 4}": number})
    Segments(tmp_path).forget(20, kept_rows=0)
    with SpoolWriter(tmp_path, SMALL) as writer:
        assert writer.notes == {"file 0": 16, "file 1": 17, "file 2": 18, "file 3": 19}


def test_frame_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    with SpoolWriter(tmp_path, 10**6) as writer:
        writer.append(receive("a"), Micros(0))
        with monkeypatch.context() as patched:
            patched.setattr(os, "fdatasync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(RunError, match=r"cannot write the spool .*: No space left on device"):
                writer.append(receive("b"), Micros(1))
        writer.append(receive("c"), Micros(2))
    assert read(tmp_path) == ["a", "c"]


def test_time_goes_on_while_nothing_comes(tmp_path):
    lane = SpoolLane("spool", tmp_path)
    with SpoolWriter(tmp_path) as writer:
        writer.append(receive("a"), Micros(5))
        assert lane.come() == 5
        writer.note_time(Micros(9))
        assert lane.come() == 9
        writer.append(receive("b"), Micros(7))
        assert (lane.count(), lane.last(1)) == (2, 9)
