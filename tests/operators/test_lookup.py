import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.expression import Expression
from skerry.operators.lookup import Lookup

texts = st.none() | st.sampled_from(["", "a", "b", "aa"])
numbers = st.none() | st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf])
rows = st.lists(st.tuples(texts, numbers), max_size=8)


def batch(found, *names):
    texts, numbers = ([row[place] for row in found] for place in (0, 1))
    return pa.record_batch([pa.array(texts, pa.string()), pa.array(numbers, pa.float64())], names=list(names))


def keys(*pairs):
    kinds = {"t": pa.string(), "x": pa.float64()}
    return [(Expression.of(mine, kinds[mine]), Expression.of(other, kinds[other])) for mine, other in pairs]


def looked_up(stream, table, pairs):
    left = batch(stream, "t", "x")
    return Lookup(left.schema, "s", batch(table, "t", "x"), keys(*pairs)).transition(left)


def equal(one, other):
    return one is not None and other is not None and one == other


@given(rows, rows)
def test_lookup_agrees_with_nested_loops_on_two_keys(stream, table):
    found = looked_up(stream, table, [("t", "t"), ("x", "x")])
    expected = [mine + other for mine in stream for other in table if all(map(equal, mine, other))]
    assert [tuple(row.values()) for row in found.to_pylist()] == expected


@given(rows, rows)
def test_lookup_agrees_with_nested_loops_on_a_number(stream, table):
    found = looked_up(stream, table, [("x", "x")])
    assert found.num_rows == sum(equal(mine[1], other[1]) for mine in stream for other in table)


def test_lookup_in_an_empty_table_finds_nothing():
    assert looked_up([("a", 1.0)], [], [("t", "t")]).num_rows == 0


def test_columns_of_the_table_stand_behind_its_name():
    assert looked_up([("a", 1.0)], [("a", 2.0)], [("t", "t")]).schema.names == ["t", "x", "s.t", "s.x"]
