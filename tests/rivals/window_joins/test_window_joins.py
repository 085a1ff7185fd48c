"""Every technique for window-join queries finds what nested loops find, whatever queries have come and gone."""

import operator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.index.column_codes import Axis, encode_column
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.rivals.window_joins.box_index_join import IndexedWindowJoin
from skerry.rivals.window_joins.ibs_js import SharedWindowJoin
from skerry.rivals.window_joins.join_queries import ANY, COMPARISONS, JoinQueries, Shape
from skerry.rivals.window_joins.sj_join import SpatialWindowJoin

OPERATORS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, ">=": operator.ge, ">": operator.gt}
VALUES = [None, float("-inf"), -0.0, 0.0, 0.5, 1.0, float("inf"), float("nan")]


class Case(NamedTuple):
    """Queries with the names of their conditions, and arrivals: side, point, time."""

    shape: Shape
    queries: JoinQueries
    names: list
    arrivals: list


def spatial(queries, shape):
    """Cut at some codes, in small clusters."""
    return SpatialWindowJoin(queries, shape, cuts=np.array([-2, 1, 5]), cluster=3)


TECHNIQUES = {"SJ-Join": spatial, "IBS-JS": SharedWindowJoin, "shipped": IndexedWindowJoin}
techniques = pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=TECHNIQUES)


@st.composite
def cases(draw, min_queries=0):
    """Drawn at random from a seed: ends that touch, empty boxes, ends of all codes, elements of one time."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    left, right, count = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(min_queries, 40))
    spans = draw(st.sampled_from([(1, 1), (4, 9), (20, 3)]))
    spread = draw(st.sampled_from([2, 6, 100]))
    shape = Shape(left, right, (int(random.integers(left)), int(random.integers(right))), spans)
    axes = left + right
    lows = random.integers(-spread, spread, (axes, count))
    highs = lows + random.integers(-1, 2 * spread, (axes, count))
    open_low, open_high = random.random((2, axes, count)) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    lows, highs = np.where(open_low, LEAST, lows), np.where(open_high, GREATEST, highs)
    names = random.choice([*COMPARISONS, "any"], count).tolist()
    windows = np.where(
        random.random((2, count)) < 0.5,
        np.array(spans)[:, None],
        [random.integers(1, span + 1, count) for span in spans],
    )
    conditions = np.array([COMPARISONS.get(name, ANY) for name in names], np.int64).reshape(-1, 2).T
    times = np.cumsum(random.integers(0, 3, draw(st.integers(0, 25)))).tolist()
    return Case(
        shape,
        JoinQueries(lows, highs, windows, conditions),
        names,
        [arrival(random, shape, spread, time) for time in times],
    )


def arrival(random, shape, spread, time):
    side = int(random.integers(2))
    point = random.integers(-spread, spread, shape[side])
    extreme = random.random(point.size) < 0.1
    return side, np.where(extreme, random.choice([LEAST, LEAST + 1, GREATEST], point.size), point), time


def is_true(name, left, right):
    """A condition over codes; NULL, the least, compares with nothing."""
    return name == "any" or (LEAST not in (left, right) and OPERATORS[name](left, right))


def holds(case, query, left, right, ages):
    """Whether a query is true for a pair, of which the right element is so old, or the left one."""
    queries, pair = case.queries, np.concatenate([left, right])
    inside = (queries.lows[:, query] <= pair).all() and (pair <= queries.highs[:, query]).all()
    in_time = ages[0] < queries.windows[0, query] and ages[1] < queries.windows[1, query]
    return inside and in_time and is_true(case.names[query], left[case.shape.on[0]], right[case.shape.on[1]])


def nested_loops(case, last, queries):
    """What the last arrival gives: ordinals of the other side, and queries."""
    side, point, time = case.arrivals[last]
    others = [(element, came) for one, element, came in case.arrivals[:last] if one != side]
    found = []
    for ordinal, (element, came) in enumerate(others):
        pair = (point, element, (0, time - came)) if side == 0 else (element, point, (time - came, 0))
        found += [(ordinal, query) for query in queries if holds(case, query, *pair)]
    return sorted(found)


def pairs(found):
    return sorted(zip(found[0].tolist(), found[1].tolist(), strict=True))


def one(queries, number):
    return JoinQueries(*(array[:, number : number + 1] for array in queries))


@techniques
@settings(max_examples=40)
@given(case=cases())
def test_technique_finds_what_nested_loops_find(technique, case):
    join = technique(case.queries, case.shape)
    for last, arrives in enumerate(case.arrivals):
        assert pairs(join.arrive(*arrives)) == nested_loops(case, last, range(len(case.names)))


@techniques
@settings(max_examples=40)
@given(case=cases(min_queries=1), seed=st.integers(0, 2**32 - 1))
def test_queries_come_and_go_between_arrivals(technique, case, seed):
    random, count = np.random.default_rng(seed), len(case.names)
    first = int(random.integers(count + 1))
    join = technique(JoinQueries(*(array[:, :first] for array in case.queries)), case.shape)
    left, following = set(range(first)), first
    for last, arrives in enumerate(case.arrivals):
        for _ in range(random.integers(4)):
            if following < count:
                assert join.add(one(case.queries, following)) == following
                left.add(following)
                following += 1
            if left and random.random() < 0.4:
                gone = int(random.choice(sorted(left)))
                join.remove(gone)
                left.remove(gone)
        assert pairs(join.arrive(*arrives)) == nested_loops(case, last, left)


@techniques
@pytest.mark.parametrize("name", [*COMPARISONS, "any"])
def test_doubles_compare_as_in_sql(technique, name):
    """NULL with nothing, NaN with itself and above all, both zeros alike."""
    found = encode_column(Axis("x"), pa.array(VALUES))
    condition = np.array(COMPARISONS.get(name, ANY))[:, None]
    queries = JoinQueries(np.full((2, 1), LEAST), np.full((2, 1), GREATEST), np.array([[9], [9]]), condition)
    join = technique(queries, Shape(1, 1, (0, 0), (9, 9)))
    for code in found:
        join.arrive(1, np.array([code]), 0)
    for row, code in enumerate(found):
        expected = [number for number, other in enumerate(VALUES) if sql(name, VALUES[row], other)]
        assert sorted(join.arrive(0, np.array([code]), 0)[0].tolist()) == expected


def sql(name, left, right):
    if name == "any" or left is None or right is None:
        return name == "any"
    return OPERATORS[name](order(left), order(right))


def order(value):
    """NaN above all numbers, equal to itself."""
    return (value != value, 0.0 if value != value else value)


@techniques
def test_many_elements_and_queries(technique):
    random = np.random.default_rng(3)
    shape, count = Shape(2, 2, (0, 1), (300, 300)), 500
    lows = random.integers(-20, 10, (4, count))
    names = random.choice(list(COMPARISONS), count).tolist()
    conditions = np.array([COMPARISONS[name] for name in names]).T
    queries = JoinQueries(lows, lows + random.integers(0, 25, (4, count)), np.full((2, count), 300), conditions)
    arrivals = [(step % 2, random.integers(-20, 20, 2), step) for step in range(400)]
    case, join = Case(shape, queries, names, arrivals), technique(queries, shape)
    found = [join.arrive(*arrives) for arrives in arrivals]
    for last in (0, 250, 399):
        assert pairs(found[last]) == nested_loops(case, last, range(count))


@techniques
def test_window_longer_than_the_longest_is_refused(technique):
    queries = JoinQueries(np.zeros((2, 1), int), np.zeros((2, 1), int), np.array([[3], [4]]), np.zeros((2, 1), int))
    with pytest.raises(KernelError, match=r"windows must be between 1 and \(3, 3\)"):
        technique(queries, Shape(1, 1, (0, 0), (3, 3)))


@techniques
def test_queries_of_other_axes_are_refused(technique):
    queries = JoinQueries(*(np.ones((2, 1), np.int64) for _ in range(4)))
    with pytest.raises(KernelError, match="do not fit together"):
        technique(queries, Shape(2, 1, (0, 0), (3, 3)))


@techniques
def test_element_that_comes_before_the_last_is_refused(technique):
    queries = JoinQueries(*(np.ones((2, 1), np.int64) for _ in range(4)))
    join = technique(queries, Shape(1, 1, (0, 0), (3, 3)))
    join.arrive(0, np.array([1]), 5)
    with pytest.raises(KernelError, match="comes before the last one: 4 5"):
        join.arrive(1, np.array([1]), 4)


def test_pieces_of_an_equality_lie_on_the_diagonal_and_do_not_overlap():
    shape = Shape(1, 1, (0, 0), (5, 5))
    condition = np.array([[1], [1]])
    queries = JoinQueries(np.array([[0], [0]]), np.array([[99], [79]]), np.full((2, 1), 5), condition)
    lows, highs, owners = queries.pieces(shape, np.array([25, 50, 75]))
    assert lows.T.tolist() == [[0, 0, -4], [25, 25, -4], [50, 50, -4], [75, 75, -4]]
    assert highs.T.tolist() == [[24, 24, 4], [49, 49, 4], [74, 74, 4], [79, 79, 4]]
    assert owners.tolist() == [0, 0, 0, 0]


def test_pieces_of_an_order_are_on_one_side_of_the_diagonal():
    shape = Shape(1, 1, (0, 0), (5, 5))
    queries = JoinQueries(np.array([[0], [0]]), np.array([[99], [99]]), np.full((2, 1), 5), np.array([[0], [0]]))
    lows, highs, _ = queries.pieces(shape, np.array([50]))
    assert list(zip(lows[1].tolist(), highs[1].tolist(), strict=True)) == [(1, 99), (51, 99)]
    assert highs[0].tolist() == [49, 98]
