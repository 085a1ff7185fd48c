import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.chained_tables import (
    bucket_of,
    chain_all,
    drop_ended,
    empty_chains,
    insert_all,
    lay_out,
    make_room,
    pack_entries,
    power_of_two,
    seek,
    sweep_chains,
    with_tables,
    withdraw,
)
from tests.kernels.columns import any_integer
from tests.kernels.tuples import any_moment, arrivals, columns, hashed, packed
from tests.oracles import rivals
from tests.oracles.rivals import Arrival


def find(chains, table, key, start, end):
    """All matches of a table, in the order in which they are met."""
    entry = chains.heads[bucket_of(chains.tables, table, hashed(key))]
    met = []
    while (entry := seek(chains.pool, entry, np.int64(key), start, end)) >= 0:
        met.append(int(chains.pool[entry]["row"]))
        entry = chains.pool[entry]["next"]
    return met


def agree(chains, kept, table_count):
    keys = {arrival.key for arrival in kept} | {0}
    return all(
        find(chains, table, key, start, end) == rivals.matches(kept, table, key, start, end)
        for table in range(table_count)
        for key in keys
        for start, end in ((-3, 4), (-(2**63), 2**63 - 1))
    )


def many(count, tables=1, keys=7):
    return [Arrival(row % tables, row % keys * 2**40, row, row + 9, row) for row in range(count)]


@given(st.lists(any_integer, min_size=1))
def test_keys_are_hashed_as_by_whole_numbers(keys):
    assert [int(hash_of(key)) for key in np.array(keys)] == [rivals.hash_of(key) for key in keys]


def test_whole_doubles_spread_over_the_buckets():
    hashes = [rivals.hash_of(key) % 1024 for key in np.arange(1000.0).view(np.int64).tolist()]
    assert len(set(hashes)) > 500


@given(arrivals())
def test_tables_agree_with_lists(drawn):
    table_count, tuples = drawn
    assert agree(insert_all(empty_chains(table_count), packed(tuples, table_count)), tuples, table_count)


@given(arrivals(), any_moment)
def test_sweep_leaves_what_has_not_ended(drawn, watermark):
    table_count, tuples = drawn
    chains = insert_all(empty_chains(table_count), packed(tuples, table_count))
    count = drop_ended(chains, watermark)
    kept = [each for each in tuples if each.end >= watermark]
    sizes = np.bincount(chains.pool["table"][:count], minlength=table_count)
    assert agree(chain_all(lay_out(chains.pool, count, sizes)), kept, table_count)


@given(arrivals(), st.integers(0, 25))
def test_withdrawn_tuples_have_never_come(drawn, position):
    table_count, tuples = drawn
    chains = insert_all(empty_chains(table_count), packed(tuples, table_count))
    withdraw(*chains, min(position, len(tuples)))
    assert agree(chains, tuples[:position], table_count)


def test_crowded_tables_and_a_full_pool_get_room():
    tuples = many(3000, tables=3, keys=900)
    chains = insert_all(empty_chains(3), packed(tuples, 3))
    assert chains.entry_count == 3000
    assert chains.tables["size"].tolist() == [1000, 1000, 1000]
    assert (chains.tables["mask"] >= 1000).all()
    assert agree(chains, tuples[:10] + tuples[10:], 1)


def test_room_is_made_only_where_it_lacks():
    chains = insert_all(empty_chains(2), packed(many(20), 2))
    assert make_room(chains) == chains


def test_tables_can_be_added():
    tuples = many(40, tables=2)
    chains = with_tables(insert_all(empty_chains(1), packed(tuples[::2], 1)), 2)
    assert agree(insert_all(chains, packed(tuples[1::2], 2)), tuples[::2] + tuples[1::2], 2)


def test_sweep_waits_until_it_pays():
    chains = insert_all(empty_chains(1), packed(many(64), 1))
    assert sweep_chains(chains, 1000) is chains
    chains = sweep_chains(insert_all(chains, packed(many(1), 1)), 1000)
    assert chains.entry_count == 0


def test_sweep_gives_back_the_room_of_a_burst():
    chains = insert_all(empty_chains(1), packed(many(20_000), 1))
    assert sweep_chains(chains, 19_990).pool.size < chains.pool.size / 8


def test_entry_loses_a_base_that_has_ended():
    chains = insert_all(empty_chains(1), packed(many(3), 1))
    chains.pool["base"][:3] = [-1, 0, 1]
    assert drop_ended(chains, 10) == 2
    assert chains.pool["base"][:2].tolist() == [-1, 0]


def test_tuple_that_is_never_live_is_left_out():
    assert packed([Arrival(0, 7, 5, 4, 0), Arrival(0, 7, 5, 5, 1)], 1)["row"].tolist() == [1]


@given(st.lists(st.integers(1, 2**40), min_size=1))
def test_powers_of_two_are_the_next(numbers):
    assert power_of_two(np.array(numbers)).tolist() == [1 << (number - 1).bit_length() for number in numbers]


def test_columns_of_different_length_are_refused():
    with pytest.raises(KernelError, match="different lengths: 1 0 0 0 0"):
        pack_entries(np.zeros(1, np.int32), *(np.empty(0, np.int64) for _ in range(4)), 1)


@pytest.mark.parametrize("table", [-1, 2])
def test_table_that_is_not_there_is_refused(table):
    with pytest.raises(KernelError, match=rf"tables lie in \(0, 1\) but got \({table}, {table}\)"):
        pack_entries(*columns([Arrival(table, 0, 0, 0, 0)]), 2)


def test_no_tables_are_refused():
    with pytest.raises(KernelError, match="at least one table, got 0"):
        empty_chains(0)
