"""Recursion through NOT or an aggregate that the facts settle, and stages that fall."""

from collections import Counter

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.deduce.values import row_key
from skerry.errors import RuleLimit
from skerry.lang.rules import read
from skerry.plan.program import Class
from skerry.testing.reference_rules import Reference
from tests.deduce import answer_sets
from tests.deduce.generator import program

WIN = "base move(x: string, y: string). win(x) :- move(x, y), NOT win(y)."
COST = """base part(p: string, s: string, n: int). base leaf(p: string, c: int).
cost(p, c) :- leaf(p, c). cost(p, sum<n * c>) :- part(p, s, n), cost(s, c)."""


def answer(text, predicate, **facts):
    checked = check(read(text))
    engine = Engine(checked, Builtins({}))
    engine.tick(None, facts, {})
    return engine.rows(predicate)


def is_settled(engine, tick):
    try:
        engine.tick(tick.now, tick.inserts, tick.deletes)
    except RuleLimit as limit:
        if limit.code != "E201":
            raise
        return False
    return True


def compare(seed, layers):
    """Run a random program; how its ticks ended."""
    generated, ended = program(seed, layers), Counter()
    checked = generated.checked
    engine, reference = Engine(checked, Builtins({})), Reference(checked, Builtins({}))
    for tick in generated.ticks:
        if not is_settled(engine, tick):
            ended["refused"] += 1
            break
        reference.tick(tick.now, tick.inserts, tick.deletes)
        model = {name: engine.rows(name) for name in checked.predicates}
        for name, rows in model.items():
            assert set(map(row_key, rows)) == set(map(row_key, reference.rows(name))), (name, seed, generated.text)
        ended["settled"] += any(part.kind is Class.L or part.falling for part in checked.components)
        if answer_sets.is_supported(checked):
            base = {name: rows for name, rows in model.items() if checked.predicates[name].base}
            assert answer_sets.answer_set(checked, base) == model, (seed, generated.text)
            ended["clingo"] += 1
    return ended


def test_agrees_on_random_programs_that_facts_settle():
    ended = sum((compare(seed, "NG") for seed in range(150)), Counter())
    assert min(ended["settled"], ended["refused"], ended["clingo"]) > 20, ended


def test_agrees_on_random_programs_with_falling_stages():
    ended = sum((compare(seed, "ND") for seed in range(60)), Counter())
    assert min(ended["settled"], ended["clingo"]) > 20, ended


@pytest.mark.soak
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_agrees_on_many_random_programs(start):
    for seed in range(start, start + 500):
        compare(seed, "NGDS")


def test_games_without_cycles_are_settled():
    moves = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    assert answer(WIN, "win", move=moves) == {("a",), ("c",)}


def test_tuple_that_needs_itself_is_refused_with_the_cycle():
    with pytest.raises(RuleLimit, match=r"E201 rule 1: win\('b'\) needs NOT win\('a'\), which needs NOT win\('b'\)"):
        answer(WIN, "win", move=[("a", "b"), ("b", "a"), ("b", "c")])


def test_sums_over_parts_of_parts():
    facts = {"part": [("bike", "wheel", 2), ("wheel", "spoke", 9), ("bike", "frame", 1)]}
    found = answer(COST, "cost", **facts, leaf=[("spoke", 1), ("frame", 5)])
    assert found == {("spoke", 1), ("frame", 5), ("wheel", 9), ("bike", 23)}


def test_part_of_itself_is_refused():
    with pytest.raises(RuleLimit, match=r"E201 rule 2: cost\('a', _\) needs an aggregate of cost\('a', _\)"):
        answer(COST, "cost", part=[("a", "a", 1)], leaf=[("a", 1)])


def test_refused_tick_leaves_what_was():
    checked = check(read(WIN))
    engine = Engine(checked, Builtins({}))
    engine.tick(None, {"move": [("a", "b")]}, {})
    with pytest.raises(RuleLimit):
        engine.tick(None, {"move": [("b", "a")]}, {})
    assert (engine.rows("move"), engine.rows("win")) == ({("a", "b")}, {("a",)})


def test_order_follows_facts_that_come_and_go():
    checked = check(read(WIN))
    engine = Engine(checked, Builtins({}))
    engine.tick(None, {"move": [("a", "b"), ("b", "c")]}, {})
    assert engine.rows("win") == {("b",)}
    engine.tick(None, {"move": [("b", "a")]}, {"move": [("a", "b")]})
    assert engine.rows("win") == {("b",)}
    changes = engine.tick(None, {}, {"move": [("b", "a"), ("b", "c")]})
    assert list(changes["win"].deleted) == [("b",)]


FALLING = """base start(x: string, n: int). base bad(x: string, n: int).
d(x, n) :- start(x, n). d(x, n - 1) :- d(x, n), n > 0, NOT stop(x, n).
stop(x, n - 1) :- d(x, n), bad(x, n)."""


def test_counter_falls_until_it_is_stopped():
    found = answer(FALLING, "d", start=[("a", 3), ("b", 3)], bad=[("b", 3)])
    assert found == {("a", 3), ("a", 2), ("a", 1), ("a", 0), ("b", 3), ("b", 2)}


def test_two_columns_settle_together():
    text = """p(0, 0). p(i, j + 1) :- p(i, j), j < 2, NOT q(i, j). p(i + 1, 0) :- p(i, j), i < 2, NOT q(i, j).
    q(i, j + 1) :- p(i, j), hole(i, j), j < 2."""
    assert answer(text, "p", hole=[(0, 0)]) == {(0, 0), (0, 1), *((i, j) for i in (1, 2) for j in (0, 1, 2))}
