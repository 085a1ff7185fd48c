import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.index import point_lists
from skerry.index.pack_arrays import pack_arrays, unpack_arrays
from skerry.index.point_lists import PointLists

keys = st.lists(st.sampled_from([b"", b"a", b"b", b"ab"]), min_size=1, max_size=3, unique=True)
sides = st.dictionaries(st.integers(0, 1), st.tuples(st.integers(0, 3), st.integers(0, 3)))
changes = st.lists(st.none() | st.tuples(keys, sides), max_size=12)
readings = st.lists(
    st.tuples(st.none() | st.sampled_from(["", "a", "b", "ab", "c"]), st.integers(0, 3), st.integers(0, 3)), max_size=8
)


def pairs_of(lists, rows):
    points = np.array([[row[1] for row in rows], [row[2] for row in rows]], np.int64).reshape(2, -1)
    found = lists.match(points, pa.array([row[0] for row in rows], pa.string()))
    return list(zip(*(part.tolist() for part in found), strict=True))


def search(boxes, rows):
    return {
        (row, number)
        for row, (text, *point) in enumerate(rows)
        for number, (wanted, ends) in boxes.items()
        if text is not None and text.encode() in wanted and all(a <= point[x] <= b for x, (a, b) in ends.items())
    }


def change(lists, boxes, number, drawn):
    if drawn is not None:
        lists.add(number, *drawn)
        boxes[number] = drawn
    elif boxes:
        lists.remove(min(boxes))
        del boxes[min(boxes)]


@given(changes, changes, readings)
def test_boxes_are_found_by_their_values(first, later, rows):
    lists, boxes = PointLists(is_text=True), {}
    for number, drawn in enumerate(first):
        change(lists, boxes, number, drawn)
    assert set(pairs_of(lists, rows)) == search(boxes, rows)
    for number, drawn in enumerate(later, len(first)):
        change(lists, boxes, number, drawn)
    found = pairs_of(lists, rows)
    assert set(found) == search(boxes, rows)
    assert len(found) == len(set(found)) == len(search(boxes, rows))
    again = PointLists.restore(unpack_arrays(pack_arrays(lists.save())), is_text=True)
    assert pairs_of(again, rows) == found


def test_gaps_are_closed(monkeypatch):
    monkeypatch.setattr(point_lists, "_FEW", 4)
    lists = PointLists(is_text=False)
    for number in range(100):
        lists.add(number, [number], {})
    lists.settle()
    before = lists.nbytes
    for number in range(90):
        lists.remove(number)
    lists.settle()
    assert len(lists) == 10
    assert lists.nbytes < before / 2
    assert lists.match(np.zeros((1, 2), np.int64), pa.array([5, 95]))[1].tolist() == [95]
    assert lists.count_wanting(5) == 0
    assert lists.count_wanting(95) == 1
