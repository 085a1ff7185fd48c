"""Rules follow links that come and go, and motes that die and are back."""

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.experiments.deductive.programs import write_program
from skerry.lang.rules import read
from skerry.network.link_changes import LinkChange
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.run import ORDERS, find_answers, simulate
from skerry.network.topology.grid import make_grid

LOGIC_J = write_program("logicJ", 4, 8)
COUNT = check(read("base q(n: node, v: int) host n. many(v, count<*>) :- q(n, v)."))
SECOND = 1_000_000


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_paths_are_those_of_the_links_at_the_end(strategy, order):
    changes = [LinkChange(SECOND, 4, 5, False), LinkChange(2 * SECOND, 0, 8, True)]
    run = simulate(LOGIC_J, None, make_grid(3, 3), strategy=strategy, order=order, changes=changes)
    assert run.answers == run.expected == find_answers(LOGIC_J, None, make_grid(3, 3).cut(4, 5).join(0, 8))


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_what_a_dead_mote_was_given_is_lost_until_it_is_given_again(strategy):
    first = {"q": [(mote, 7) for mote in range(6)]}
    facts = Facts([Tick(0, first), Tick(2, {"q": [(1, 8), (2, 8)]}), Tick(4, {"q": [(1, 9)]})], 1)
    changes = [LinkChange(SECOND, 1, None, False), LinkChange(3 * SECOND, 1, None, True)]
    run = simulate(COUNT, facts, make_grid(2, 3), strategy=strategy, changes=changes)
    assert run.answers == run.expected == {"many": [(7, 5), (8, 1), (9, 1)]}


def test_a_part_that_is_cut_off_forgets_what_lies_beyond():
    changes = [LinkChange(SECOND, 1, 2, False)]
    run = simulate(write_program("logicJ", 0, 8), None, make_grid(1, 4), changes=changes)
    assert run.answers == run.expected
    assert {y for _, y, _ in run.answers["H"]} == {0, 1}


def test_motes_whose_batteries_are_empty_are_noticed_too():
    def kill_later(network):
        network.simulation.at(SECOND, network.kill, 5)

    run = simulate(LOGIC_J, None, make_grid(3, 3), observe=kill_later)
    assert run.answers == run.expected == find_answers(LOGIC_J, None, make_grid(3, 3).cut(4, 5).cut(2, 5).cut(5, 8))


def test_auto_rehearses_the_changes_too():
    changes = [LinkChange(SECOND, 4, 5, False)]
    run = simulate(LOGIC_J, None, make_grid(3, 3), strategy="auto", changes=changes)
    assert run.estimates[run.strategy] == run.tally.total > 9
