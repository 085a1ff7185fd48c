from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import LimitError
from skerry.kernels.joins.chained_tables import empty_chains, sweep_chains
from skerry.rivals.joins.match_lists import climb_levels, probe_tables, sweep_occurrences, walk_occurrences
from tests.kernels.tuples import arrivals, packed
from tests.oracles import rivals
from tests.oracles.rivals import Arrival

WAYS = {
    probe_tables: (lambda sensors: empty_chains(sensors), sweep_chains),
    climb_levels: (lambda sensors: empty_chains(sensors), sweep_chains),
    walk_occurrences: (lambda _: empty_chains(1), sweep_occurrences),
}
ways = pytest.mark.parametrize("way", WAYS)


def in_time(tuples):
    """In order of time, with one window for all."""
    return [each._replace(end=min(each.start + 5, 2**63 - 1)) for each in sorted(tuples, key=lambda each: each.start)]


def to_lists(lists):
    offsets, rows = lists
    return [sorted(rows[first:last].tolist()) for first, last in pairwise(offsets)]


@ways
@given(drawn=arrivals())
def test_lists_agree_with_nested_loops(way, drawn):
    sensor_count, tuples = drawn[0], in_time(drawn[1])
    _, lists = way(WAYS[way][0](sensor_count), packed(tuples, sensor_count), 10**6)
    assert to_lists(lists) == rivals.lists(tuples)


@ways
@given(drawn=arrivals(moments=st.integers(0, 99), max_size=100), cut=st.integers(0, 100))
def test_sweep_forgets_only_what_has_ended(way, drawn, cut):
    sensor_count, tuples = drawn[0], in_time(drawn[1])
    make, sweep = WAYS[way]
    chains, first = way(make(sensor_count), packed(tuples[:cut], sensor_count), 10**6)
    chains = sweep(chains, tuples[cut].start) if cut < len(tuples) else chains
    _, second = way(chains, packed(tuples[cut:], sensor_count), 10**6)
    assert to_lists(first) + to_lists(second) == rivals.lists(tuples)


@ways
def test_state_stays_bounded(way):
    make, sweep = WAYS[way]
    chains = make(3)
    for step in range(0, 20_000, 200):
        tuples = [Arrival(row % 3, row % 50, row, row + 100, row) for row in range(step, step + 200)]
        chains, _ = way(chains, packed(tuples, 3), 10**6)
        chains = sweep(chains, step + 199)
    assert chains.pool.size <= 2048
    assert chains.heads.size <= 8192


@ways
def test_lists_as_long_as_allowed_are_given(way):
    tuples = packed([Arrival(row, 7, row, row + 100, row) for row in range(60)], 60)
    chains, (_, rows) = way(WAYS[way][0](60), tuples, 60 * 59 // 2)
    assert (chains.entry_count, rows.size) == (60, 60 * 59 // 2)


@ways
def test_lists_beyond_the_limit_are_refused(way):
    tuples = packed([Arrival(row, 7, row, row + 100, row) for row in range(60)], 60)
    with pytest.raises(LimitError, match="a join lists at least 1770 rows at once, the limit is 1769"):
        way(WAYS[way][0](60), tuples, 60 * 59 // 2 - 1)


@ways
def test_list_that_outgrows_the_first_room_is_whole(way):
    tuples = packed([Arrival(row % 2, 7, row, row + 10**6, row) for row in range(100)], 2)
    _, (offsets, rows) = way(WAYS[way][0](2), tuples, 10**6)
    assert offsets[-1] == rows.size == 50**2
    assert sorted(rows[offsets[-2] :].tolist()) == list(range(0, 100, 2))


def test_occurrences_are_listed_newest_first():
    tuples = packed([Arrival(row, 7, row, row + 100, row) for row in range(5)], 5)
    _, (offsets, rows) = walk_occurrences(empty_chains(1), tuples, 100)
    assert rows[offsets[-2] :].tolist() == [3, 2, 1, 0]


def test_value_stands_once_among_the_values():
    tuples = packed([Arrival(row, row % 3, row, row + 100, row) for row in range(50)], 50)
    chains, _ = walk_occurrences(empty_chains(1), tuples, 10**6)
    chained = [entry for entry in chains.heads.tolist() if entry >= 0]
    for entry in chained:
        chained += [int(chains.pool[entry]["next"])] if chains.pool[entry]["next"] >= 0 else []
    assert sorted(chained) == [47, 48, 49]
