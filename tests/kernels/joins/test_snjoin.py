import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError, LimitError
from skerry.kernels.joins.snjoin import OccurrenceTable, Tuples
from tests import oracles
from tests.kernels.columns import any_integer
from tests.oracles.joins import Tuple

FIRST, LAST = -(2**63), 2**63 - 1

keys = st.integers(-1, 1) | st.sampled_from([FIRST, LAST])
moments = st.integers(-8, 8) | st.sampled_from([FIRST, FIRST + 1, LAST - 1, LAST])
spans = st.integers(0, 6) | st.sampled_from([2**62, LAST, 2**64])


@st.composite
def arrivals(draw, max_streams=6, keys=keys, moments=moments, spans=spans, max_size=25):
    """Tuples of up to six streams, each stream with a window of its own, in no order."""
    windows = draw(st.lists(spans, min_size=1, max_size=max_streams))
    drawn = draw(st.lists(st.tuples(st.integers(0, len(windows) - 1), keys, moments), max_size=max_size))
    numbered = [(row, *each) for row, each in enumerate(drawn)]
    tuples = [Tuple(stream, key, at, min(at + windows[stream], LAST), row) for row, stream, key, at in numbered]
    return len(windows), tuples


def columns(tuples):
    fields = zip(*((each.stream, each.key, each.start, each.end, each.row) for each in tuples), strict=True)
    return Tuples(*(np.array(values, np.int64) for values in (list(fields) or [[]] * 5)))


def join(table, tuples, limit=10**6):
    return sorted(map(tuple, table.join(columns(tuples), limit).tolist()))


def table_of(stream_count):
    return OccurrenceTable(stream_count, np.zeros(stream_count, np.int64))


@given(arrivals())
def test_join_agrees_with_nested_loops(drawn):
    stream_count, tuples = drawn
    assert join(table_of(stream_count), tuples) == oracles.combinations(tuples, stream_count)


@given(arrivals(), st.integers(0, 25))
def test_tuples_may_come_in_several_calls(drawn, cut):
    stream_count, tuples = drawn
    table = table_of(stream_count)
    found = join(table, tuples[:cut]) + join(table, tuples[cut:])
    assert sorted(found) == oracles.combinations(tuples, stream_count)


@given(arrivals(), st.integers(0, 25))
def test_tuples_that_are_loaded_are_joined_with_those_that_come_after(drawn, cut):
    stream_count, tuples = drawn
    table = table_of(stream_count)
    table.load(columns(tuples[:cut]))
    before = oracles.combinations(tuples[:cut], stream_count)
    assert sorted(join(table, tuples[cut:]) + before) == oracles.combinations(tuples, stream_count)


@given(arrivals(moments=st.integers(-8, 8)), st.lists(st.integers(-10, 10), min_size=25, max_size=25))
def test_sweep_forgets_only_what_has_ended(drawn, watermarks):
    stream_count, tuples = drawn
    table, found, watermark, taken = table_of(stream_count), [], -10, []
    for each, later in zip(tuples, watermarks, strict=False):
        if each.start >= watermark:
            found += join(table, [each])
            taken.append(each)
        watermark = max(watermark, later)
        table.sweep(watermark)
        assert table.count >= sum(each.end >= watermark for each in taken)
    assert sorted(found) == oracles.combinations(taken, stream_count)


@given(arrivals(moments=st.integers(-8, 8), spans=st.just(LAST)), st.data())
def test_rows_are_counted_where_a_stream_says_so(drawn, data):
    stream_count, tuples = drawn
    last_rows = data.draw(st.lists(st.integers(0, 4), min_size=stream_count, max_size=stream_count))
    table = OccurrenceTable(stream_count, np.array(last_rows))
    assert join(table, tuples) == sorted(oracles.arriving_combinations(tuples, last_rows))


def test_tuple_that_is_never_live_joins_nothing_but_counts():
    table = OccurrenceTable(2, np.array([1, 0]))
    tuples = [Tuple(0, 7, 0, LAST, 0), Tuple(0, 7, 1, 0, 1), Tuple(1, 7, 2, 9, 0)]
    assert join(table, tuples) == []
    assert join(table, [Tuple(0, 7, 3, LAST, 2)]) == [(2, 0)]


def test_many_keys_and_tuples_find_room():
    tuples = [Tuple(row % 2, row // 4 * 2**40, row, row + 2, row) for row in range(3000)]
    table = table_of(2)
    found = [pair for start in range(0, 3000, 700) for pair in join(table, tuples[start : start + 700])]
    pairs = [[(row, row + 1), (row + 2, row + 1), (row + 2, row + 3)] for row in range(0, 3000, 4)]
    assert sorted(found) == sorted(pair for key in pairs for pair in key)
    assert table.capacity >= table.count == 3000


def test_entries_find_room_beside_a_ring_that_is_just_full():
    table = table_of(2)
    room = table.capacity // 2
    join(table, [Tuple(0, 0, at, 10**6, at) for at in range(room)])
    found = join(table, [Tuple(1, key, room + key, 10**6, key) for key in range(room)])
    assert sorted(found) == [(row, 0) for row in range(room)]
    assert table.count == 2 * room == table.capacity


def test_room_is_made_at_once_for_all_that_come():
    table = table_of(2)
    join(table, [Tuple(row % 2, row, row, row + 10**6, row) for row in range(3000)])
    assert table.count == 3000 <= table.capacity == 4096


def test_counted_rows_take_no_more_room_than_they_count():
    table = OccurrenceTable(2, np.array([300, 0]))
    join(table, [Tuple(0, row, row, 10**6, row) for row in range(3000)])
    assert table.count == 300
    assert table.capacity == 512 + 256


def test_room_is_used_again():
    table = table_of(2)
    for row in range(3000):
        join(table, [Tuple(row % 2, row, row, row + 10, row)])
        table.sweep(row)
    assert table.capacity == table_of(2).capacity


def test_long_window_does_not_hold_up_a_short_one():
    table = table_of(2)
    join(table, [Tuple(0, 0, 0, 1000, 0), *(Tuple(1, 0, at, at + 1, at) for at in range(100))])
    table.sweep(50)
    assert table.count == 52


def test_combinations_that_outgrow_the_first_room_are_all_given():
    tuples = [Tuple(row % 3, 7, row, row + 10**6, row) for row in range(90)]
    assert join(table_of(3), tuples) == oracles.combinations(tuples, 3)


def test_as_many_combinations_as_allowed_are_given():
    tuples = [Tuple(row % 2, 7, row, row + 100, row) for row in range(20)]
    assert len(join(table_of(2), tuples, limit=100)) == 100
    with pytest.raises(LimitError, match="a step gives 100 combinations of tuples or more, the limit is 99"):
        join(table_of(2), tuples, limit=99)


def test_hot_key_beyond_the_limit_fails_before_it_is_spelled_out():
    rows = np.arange(10**5)
    hot = Tuples(rows % 5, np.zeros_like(rows), rows, rows + 10**6, rows)
    with pytest.raises(LimitError, match="the limit is 100000"):
        table_of(5).join(hot, 100_000)


def test_product_larger_than_any_integer_is_beyond_the_limit():
    rows = np.arange(15_000)
    table = table_of(16)
    table.load(Tuples(1 + rows % 15, np.zeros_like(rows), rows, rows + 10**6, rows))
    with pytest.raises(LimitError, match="the limit is 10000"):
        join(table, [Tuple(0, 0, 20_000, 30_000, 0)], limit=10_000)


def test_single_stream_gives_back_what_comes():
    assert join(table_of(1), [Tuple(0, 7, 3, 3, 0), Tuple(0, 7, 1, 1, 1)]) == [(0,), (1,)]


@given(st.lists(any_integer, max_size=20))
def test_keys_of_all_sizes_are_kept_apart(codes):
    tuples = [Tuple(index % 2, key, index, index + 99, index) for index, key in enumerate(codes)]
    assert join(table_of(2), tuples) == oracles.combinations(tuples, 2)


def test_columns_of_different_length_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2 2 2 2"):
        table_of(1).join(Tuples(np.zeros(1, np.int32), *([np.zeros(2, np.int64)] * 4)), 1)


def test_unknown_stream_is_refused():
    with pytest.raises(KernelError, match="of no stream; there are 1"):
        join(table_of(1), [Tuple(1, 0, 0, 0, 0)])


def test_window_for_each_stream_is_needed():
    with pytest.raises(KernelError, match="differ in number: 2 1"):
        OccurrenceTable(2, np.zeros(1, np.int64))
