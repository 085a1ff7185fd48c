"""What rules mean, case by case, for both engines."""

from dataclasses import replace
from random import Random

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.deduce.values import row_key
from skerry.errors import RuleLimit
from skerry.lang.rules import read
from skerry.model.term import Compound
from skerry.plan.limits import Limits
from skerry.testing.reference_rules import Reference

pytestmark = pytest.mark.parametrize("engine", [Reference, Engine])


def running(engine, text, unit=1):
    checked = check(read(text))
    return engine(checked, Builtins(checked.program.functions), unit)


def holds(engine, text, predicate="p", **facts):
    """What holds of a predicate, values of different kinds kept apart, after one tick with the facts given."""
    started = running(engine, text)
    started.tick(None, facts, {})
    return {row_key(row) for row in started.rows(predicate)}


def rows(*values):
    return {row_key(value if isinstance(value, tuple) else (value,)) for value in values}


CASES = {
    "fact of the program": ("p(1). p(2).", rows(1, 2)),
    "rule without relations": ("p(3) :- NOT q(1). q(2).", rows(3)),
    "predicate without columns": ("q :- a(_, _). p(1) :- q.", rows(1)),
    "constant in an atom": ("p(y) :- a(2, y).", rows(20, 21)),
    "variable twice in an atom": ("p(x) :- b(x, x).", rows(5)),
    "whole number into a column of floats": ("derived p(x: float). p(x) :- a(x, 10).", rows(1.0)),
    "whole number against floats": ("p(x) :- a(x, _), f(x).", rows(1.0)),
    "sum, difference, product": ("p(x + y, x - y, x * y) :- a(x, y), x = 1.", rows((11, -9, 10))),
    "division": ("p(y / x) :- a(x, y), y = 21.", rows(10.5)),
    "division rounded down": ("p((0 - y) // x, (0 - y) % x) :- a(x, y), y = 21.", rows((-11, 1))),
    "division by nothing": ("p(x) :- a(x, y), 1 / (y - 20) > 0.", rows(2)),
    "difference undefined under a comparison": ("p(x) :- a(x, y), x % (y - 20) != 7.", rows(1, 2)),
    "comparison by value": ("p(x) :- a(x, y), x < 1.5, y >= 10.0.", rows(1)),
    "equation that binds": ("p(z) :- z = x + 1, a(x, 10).", rows(2)),
    "equation that is solved": ("p(z) :- a(x, 10), x = z + 1.", rows(0)),
    "anonymous under NOT": ("p(x) :- a(x, _), NOT b(x, _).", rows(2)),
    "count of derivations": ("p(count<*>) :- a(_, _), b(_, _).", rows(6)),
    "count in groups": ("p(x, count<*>) :- a(x, _).", rows((1, 1), (2, 2))),
    "count distinct": ("p(count_distinct<x>) :- a(x, _).", rows(2)),
    "sum of whole numbers": ("p(sum<x>) :- a(x, _).", rows(5)),
    "sum of floats is exact": ("p(sum<x>) :- f(x).", rows(1.6)),
    "least and greatest": ("p(min<y>, max<y>) :- a(_, y).", rows((10, 21))),
    "mean and variance": ("p(avg<y>, var<y>) :- a(2, y).", rows((20.5, 0.25))),
    "collected values are sorted and distinct": ("p(collect<x>) :- a(x, _).", rows(((1, 2),))),
    "empty group": ("p(count<*>) :- a(9, _).", rows()),
    "limit cuts": ("derived p(x: int) limit x <= 3. p(0). p(x + 1) :- p(x).", rows(0, 1, 2, 3)),
    "limit on a list": ("derived p(l: list) limit l <= 2. p([1]). p([l|1]) :- p(l).", rows(((1,),), ((1, 1),))),
    "list taken apart at its end": ("q([1, 2, 3]). p(x, y) :- q([x|y]).", rows(((1, 2), 3))),
    "list taken apart at two ends": ("q([1, 2, 3]). p(x, y, z) :- q([x|y, z]).", rows(((1,), 2, 3))),
    "list too short": ("q([1]). p(x) :- q([x|_, _]).", rows()),
    "list taken apart by an equation": ("q([1, 2]). q([3]). p(x, y) :- q(l), l = [x, y].", rows((1, 2))),
    "equation the other way round": ("q([1, 2]). p(x) :- q(l), [x, _] = l.", rows(1)),
    "anything within an equation": ("q([1, 2]). q([3, 4]). p(x) :- q(l), l = [_, x].", rows(2, 4)),
    "end of a list by an equation": ("q([1, 2, 3]). p(x, y) :- q(l), l = [x|y].", rows(((1, 2), 3))),
    "value within an equation": ("q([1, 2]). q([3, 4]). p(x) :- q(l), l = [3, x].", rows(4)),
    "sum within an equation": ("q([1, 2]). p(x) :- q(l), l = [1, x + 1].", rows(1)),
    "two lists set equal": ("p(x, y) :- a(z, 10), [x, 2] = [z, y].", rows((1, 2))),
    "list of lists by an equation": ("q([[1, 2], 3]). p(x) :- q(l), l = [[_, x], _].", rows(2)),
    "function symbol by an equation": ("functor g/2. q(g(1, 2)). p(x) :- q(t), t = g(x, _).", rows(1)),
    "recursion into a list": ("q([[1]]). p(x) :- q(x). p(x) :- p(l), l = [x|_].", rows((((1,),),), ((),))),
    "texts joined": ("q('a'). q('b'). p(x + '-' + y) :- q(x), q(y), x < y.", rows("a-b")),
    "joined texts compared": ("q('a'). q('b'). p(x) :- q(x), x + 'c' = 'bc'.", rows("b")),
    "text and number": ("base q(x: any). p(x + y) :- a(x, y), q(y). p(0) :- a(_, 10).", rows(0)),
    "range": ("p(x) :- x in range(1, 4).", rows(1, 2, 3)),
    "range by an equation": ("p(x) :- x = range(-1, 2).", rows(-1, 0, 1)),
    "range with a step": ("p(x) :- x in range(1, 8, 3).", rows(1, 4, 7)),
    "range downwards": ("p(x) :- x in range(5, 0, -2).", rows(5, 3, 1)),
    "empty range": ("p(x) :- x in range(4, 4).", rows()),
    "range between variables": ("p(x, z) :- a(x, y), z in range(x + 18, y).", rows((2, 20))),
    "range between values of equations": ("p(z) :- a(x, 10), n = x + 2, z in range(x, n).", rows(1, 2)),
    "range that a value is in": ("p(y) :- a(_, y), y in range(15, 21).", rows(20)),
    "range within a range": ("p(x, y) :- y in range(0, x), x in range(0, 3).", rows((1, 0), (2, 0), (2, 1))),
    "range under an aggregate": ("p(x, count<*>) :- a(x, _), z in range(x, 4).", rows((1, 3), (2, 4))),
    "function symbol": ("functor g/1. q(g(7)). p(x, g(x)) :- q(g(x)).", rows((7, Compound("g", (7,))))),
    "truth": ("q(TRUE, 1). p(x) :- q(x, _).", rows(True)),
    "chain of comparisons": ("p(y) :- a(_, y), 10 < y < 21.", rows(20)),
}
GIVEN = {"a": [(1, 10), (2, 20), (2, 21)], "b": [(1, 2), (5, 5)], "f": [(0.1,), (0.2,), (0.3,), (1.0,)]}
DECLARED = "base a(x: int, y: int). base b(x: int, y: int). base f(x: float). "


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_case(engine, text, expected):
    assert holds(engine, DECLARED + text, **GIVEN) == expected


def test_fact_is_there_once_and_gone_once(engine):
    started = running(engine, "base a(x: int). p(x) :- a(x).")
    started.tick(None, {"a": [(1,), (1,)]}, {})
    assert not started.tick(None, {"a": [(1,)]}, {"a": [(2,)]})
    changes = started.tick(None, {}, {"a": [(1,)]})
    assert {name: list(change.deleted) for name, change in changes.items()} == {"a": [(1,)], "p": [(1,)]}


def test_deletes_come_before_inserts(engine):
    started = running(engine, "base a(x: int). p(x) :- a(x).")
    started.tick(None, {"a": [(1,)]}, {})
    assert not started.tick(None, {"a": [(1,)]}, {"a": [(1,)]})


WINDOW = "base a(x: int, t: time) time t window 10 s. base n(x: int). p(x) :- a(x, _). q(x) :- n(x), NOT p(x)."


@pytest.mark.parametrize("unit", [1, 1_000_000])
def test_window_has_both_ends(engine, unit):
    started = running(engine, WINDOW, unit)
    started.tick(5 * unit, {"a": [(1, 5 * unit)], "n": [(1,)]}, {})
    started.tick(15 * unit, {"a": [(2, 5 * unit), (3, 5 * unit - 1)]}, {})
    assert (started.rows("p"), started.rows("q")) == ({(1,), (2,)}, set())
    started.tick(15 * unit + 1, {}, {})
    assert (started.rows("p"), started.rows("q")) == (set(), {(1,)})


def test_nothing_expires_without_time(engine):
    started = running(engine, WINDOW)
    started.tick(None, {"a": [(1, 5)]}, {})
    started.tick(None, {"a": [(2, 500)]}, {})
    assert started.rows("p") == {(1,), (2,)}


def test_window_of_rows_keeps_the_last_arrivals(engine):
    started = running(engine, "base a(x: int) window 2 rows. p(x) :- a(x).")
    started.tick(None, {"a": [(1,), (2,), (3,)]}, {})
    assert started.rows("p") == {(2,), (3,)}
    started.tick(None, {"a": [(2,), (4,)]}, {})
    assert started.rows("p") == {(3,), (4,)}


PAIRS = """base a(x: int, t: time).
derived p(x: int, y: int, t: time) time t window 10 s.
p(x, y, t) :- a(x, s), a(y, t), s < t. q(y) :- p(_, y, _). r(x) :- a(x, _), NOT q(x)."""


@pytest.mark.parametrize("unit", [1, 1_000_000])
def test_derived_predicate_may_have_a_window(engine, unit):
    started = running(engine, PAIRS, unit)
    started.tick(5 * unit, {"a": [(1, unit), (2, 5 * unit)]}, {})
    started.tick(15 * unit, {"a": [(3, 4 * unit), (4, 6 * unit)]}, {})
    assert (started.rows("q"), started.rows("r")) == ({(2,), (4,)}, {(1,), (3,)})
    started.tick(15 * unit + 1, {}, {})
    assert (started.rows("q"), started.rows("r")) == ({(4,)}, {(1,), (2,), (3,)})


def test_derived_window_stays_where_it_is_without_time(engine):
    started = running(engine, PAIRS)
    started.tick(None, {"a": [(1, 1), (2, 5)]}, {})
    assert started.rows("q") == {(2,)}
    started.tick(20, {}, {})
    started.tick(None, {"a": [(3, 12), (4, 6)]}, {})
    assert started.rows("q") == {(3,)}


def test_derived_window_within_recursion(engine):
    text = """base e(x: int, y: int, t: time). derived p(x: int, t: time) window 10 s.
    p(y, t) :- e(0, y, t). p(y, t) :- p(x, _), e(x, y, t)."""
    started = running(engine, text)
    started.tick(5, {"e": [(0, 1, 1), (1, 2, 5), (2, 3, 5)]}, {})
    assert {x for x, _ in started.rows("p")} == {1, 2, 3}
    started.tick(12, {"e": [(0, 2, 12)]}, {})
    assert started.rows("p") == {(2, 12), (3, 5)}


def test_silent_expiry_is_not_told(engine):
    started = running(engine, WINDOW.replace("window 10 s", "window 10 s expire silent"))
    started.tick(5, {"a": [(1, 5)], "n": [(1,)]}, {})
    changes = started.tick(50, {}, {})
    changed = {name: (list(each.inserted), list(each.deleted)) for name, each in changes.items()}
    assert {name: change for name, change in changed.items() if any(change)} == {"q": ([(1,)], [])}
    assert (started.rows("a"), started.rows("p")) == (set(), set())


def test_duration_is_in_the_units_of_the_program(engine):
    text = "base a(t: time). p(t) :- a(t), t - 5 s >= 0."
    for unit in (1, 1_000_000):
        started = running(engine, text, unit)
        started.tick(None, {"a": [(5 * unit,), (5 * unit - 1,)]}, {})
        assert started.rows("p") == {(5 * unit,)}


def test_limit_takes_the_tick_back(engine):
    checked = check(replace(read("base a(x: int). p(x, y) :- a(x), a(y)."), limits=Limits(tuples=50)))
    started = engine(checked, Builtins({}))
    started.tick(None, {"a": [(n,) for n in range(7)]}, {})
    before = {name: started.rows(name) for name in ("a", "p")}
    with pytest.raises(RuleLimit, match="E401 rule 1: 'p' has more than 50 tuples"):
        started.tick(None, {"a": [(7,), (8,)]}, {"a": [(0,)]})
    assert {name: started.rows(name) for name in ("a", "p")} == before


SHORTEST = """base G(x: int, y: int).
derived H(x: int, y: int, d: int) stage d limit d <= 64.
derived H'(y: int, d: int) stage d.
H(0, 0, 0).
H(0, x, 1) :- G(0, x).
H'(y, d+1) :- H(_, y, d'), (d+1) > d', H(_, x, d), G(x, y).
H(x, y, d+1) :- G(x, y), H(_, x, d), NOT H'(y, d+1)."""


def levels(edges):
    """How far each node is from node 0, breadth first."""
    level, reached, depth = {0}, {0: 0}, 0
    while level:
        depth += 1
        level = {y for x, y in edges if x in level and y not in reached}
        reached.update(dict.fromkeys(level, depth))
    return reached


def test_shortest_paths_stay_true_while_edges_come_and_go(engine):
    random, edges = Random(7), set()
    started = running(engine, SHORTEST)
    for _ in range(12):
        come = {tuple(random.sample(range(7), 2)) for _ in range(2)}
        gone = {edge for edge in edges if random.random() < 0.15} - come
        edges = edges - gone | come
        started.tick(None, {"G": list(come)}, {"G": list(gone)})
        assert {(y, d) for _, y, d in started.rows("H")} == set(levels(edges).items())
