import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.index.box_index import BoxIndex
from tests.index.boxes import Case, cases, inside, pairs


def check_order(found):
    assert (np.diff(found.rows) >= 0).all()
    return pairs(found)


def list_marked(marks):
    each = np.unpackbits(marks.bits.view(np.uint8), axis=1, bitorder="little")
    rows, bits = np.nonzero(each)
    return sorted(zip(rows.tolist(), marks.numbers[bits].tolist(), strict=True))


def make_mixed(boxes, seed=0):
    """Half of the boxes narrow, half of them wide; and points."""
    random = np.random.default_rng(seed)
    lows = random.integers(0, 1000, (3, boxes))
    widths = np.where(np.arange(boxes) % 2, 900, 60)
    return Case(lows, lows + random.integers(0, widths, (3, boxes)), random.integers(0, 1000, (3, 100)))


@settings(max_examples=30)
@given(cases())
def test_bitmaps_say_the_same_as_pairs(case):
    index = BoxIndex.of(case.lows, case.highs)
    assert list_marked(index.marks(case.points)) == check_order(index.match(case.points))


def test_wide_and_narrow_boxes_are_found_together_in_order_of_rows():
    case = make_mixed(3000)
    index = BoxIndex.of(case.lows, case.highs)
    assert check_order(index.match(case.points)) == list_marked(index.marks(case.points)) == inside(case)


def test_narrow_boxes_are_in_blocks_and_wide_ones_in_bitmaps():
    case = make_mixed(20_000)
    parts = BoxIndex.of(case.lows, case.highs).save()
    assert (parts["narrow_numbers"] % 2 == 0).mean() > 0.9
    assert (parts["wide_numbers"] % 2 == 1).mean() > 0.7


@settings(max_examples=20)
@given(cases(), st.integers(0, 2**32))
def test_restored_index_finds_the_same_and_takes_changes(case, seed):
    index = BoxIndex.restore(BoxIndex.of(case.lows, case.highs).save())
    left = set(range(case.lows.shape[1]))
    for number in range(0, case.lows.shape[1], 3):
        index.remove(number)
        left.remove(number)
    assert check_order(index.match(case.points)) == inside(case, left)


def test_restored_narrow_boxes_stay_in_their_blocks():
    case = make_mixed(20_000)
    parts = BoxIndex.of(case.lows, case.highs).save()
    again = BoxIndex.restore(parts).save()
    assert all((parts[name] == again[name]).all() for name in BoxIndex.PARTS)


def test_boxes_that_wait_for_a_new_grid_can_be_removed():
    case = make_mixed(4000)
    index = BoxIndex(axes=1)
    for number in range(4000):
        index.add(number, {axis: (case.lows[axis, number], case.highs[axis, number]) for axis in range(3)})
    for number in range(0, 4000, 2):
        index.remove(number)
    assert len(index) == 2000
    assert check_order(index.match(case.points)) == inside(case, range(1, 4000, 2))


def test_memory_goes_when_most_boxes_do():
    case = make_mixed(20_000)
    index = BoxIndex.of(case.lows, case.highs)
    before = index.nbytes
    for number in range(19_000):
        index.remove(number)
    assert check_order(index.match(case.points)) == inside(case, range(19_000, 20_000))
    assert index.nbytes < before / 5
