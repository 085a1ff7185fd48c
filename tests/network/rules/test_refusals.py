"""What cannot run in a network is refused with a reason."""

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.errors import InputError, RuleError
from skerry.lang.rules import read
from skerry.network.rules.run import simulate
from skerry.network.topology.grid import make_grid

REACH = "base g(x: node, y: node). reach(x, y) :- g(x, y). reach(x, z) :- reach(x, y), g(y, z)."


def run(text, ticks=()):
    return simulate(check(read(text)), Facts(list(ticks) or [Tick(None)], 1), make_grid(2, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "base n(x: node). p(x, 0) :- n(x). p(x, d+1) :- p(x, d), d < 9, NOT q(x, d). q(x, d) :- p(x, d), d > 3.",
            "E502 .*the recursion of 'p' needs a limit; declare limit .* <= 64",
        ),
        (
            "base n(x: node). derived p(x: node) host x. p(max<x>) :- n(x).",
            "E501 .*the host of 'p' is an aggregate",
        ),
        ("base n(x: node) window 3 rows. p(x) :- n(x).", "E503 .*'n' has a window of rows"),
        ("base m(x: int, y: int). win(x) :- m(x, y), NOT win(y).", "E501 'win'|E501 rule 1: 'win' needs an order"),
    ],
)
def test_programs_are_refused(text, message):
    with pytest.raises(RuleError, match=message):
        run(text)


def test_recursion_without_a_stage_runs_while_facts_only_come():
    ticks = [Tick(1, {"g": [(0, 1), (1, 0)]}), Tick(2, {"g": [(1, 3)]})]
    assert run(REACH, ticks).answers["reach"] == [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3)]


def test_recursion_without_a_stage_is_refused_when_facts_go():
    with pytest.raises(RuleError, match="'reach' is recursive without a stage, and facts of 'g' are deleted"):
        run(REACH, [Tick(1, {"g": [(0, 1)]}), Tick(2, {}, {"g": [(0, 1)]})])


def test_a_tuple_that_lives_on_no_mote_is_refused():
    with pytest.raises(InputError, match="a tuple of 'n' lives on 7; the motes are 0 to 3"):
        run("base n(x: node). p(x) :- n(x).", [Tick(None, {"n": [(7,)]})])


def test_facts_of_links_are_refused():
    with pytest.raises(InputError, match="the facts of 'g' are the links of the topology"):
        run("base g(x: node, y: node) link. p(x) :- g(x, _).", [Tick(None, {"g": [(0, 1)]})])
