"""Aggregates are added up on the way to the home of their group."""

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.lang.rules import read
from skerry.network.message import Kind
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.run import ORDERS, simulate
from skerry.network.topology.grid import make_grid

ALL = "count<*>, count_distinct<v>, sum<v>, min<v>, max<v>, avg<v>, var<v>, collect<v>"
READ = "base reading(n: node, v: int) host n.\n"
TOTAL = check(read(f"{READ}total({ALL}) :- reading(_, v)."))
GRID = make_grid(5, 5)
FIRST = {"reading": [(mote, mote % 7) for mote in range(25)]}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_every_mote_but_the_home_speaks_once(strategy, order):
    run = simulate(TOTAL, Facts([Tick(0, FIRST)], 1), GRID, strategy=strategy, order=order)
    assert run.answers == run.expected
    assert sorted(run.tally.by_mote) == [0] + [1] * 24
    assert run.tally.by_kind[Kind.RESULT] == 24


@pytest.mark.parametrize("order", ORDERS)
def test_what_changes_is_told_on_the_way_home_alone(order):
    later = Tick(5, {"reading": [(0, 100)]}, {"reading": [(0, 0)]})
    run = simulate(TOTAL, Facts([Tick(0, FIRST), later], 1), GRID, order=order)
    before = simulate(TOTAL, Facts([Tick(0, FIRST)], 1), GRID, order=order)
    assert run.answers == run.expected
    assert 0 < run.tally.total - before.tally.total <= 8


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_a_group_that_nothing_contributes_to_is_gone(strategy):
    facts = Facts([Tick(0, FIRST), Tick(5, {}, FIRST)], 1)
    run = simulate(TOTAL, facts, GRID, strategy=strategy)
    assert run.answers == run.expected == {"total": []}


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_messages_that_are_repeated_and_overtaken_change_nothing(strategy):
    busy = check(read(f"{READ}busy(x, count<*>, sum<v>) :- reading(n, v), x = v // 3, NOT reading(n, 5)."))
    ticks = [
        Tick(0, FIRST),
        Tick(1, {"reading": [(4, 5), (5, 9)]}, {"reading": [(1, 1)]}),
        Tick(2, {}, {"reading": [(4, 5)]}),
    ]
    for seed in range(5):
        radio = RadioSettings(duplication=0.3, reordering=0.3)
        run = simulate(busy, Facts(ticks, 1), GRID, strategy=strategy, radio=radio, seed=seed)
        assert run.answers == run.expected
