"""Ranges on motes: every mote counts their numbers itself, and facts may go."""

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.errors import RuleLimit
from skerry.lang.rules import read
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.run import simulate
from skerry.network.topology.grid import make_grid

FIELD = "base q(n: node, v: int) host n. base g(x: node, y: node) link.\n"
TICKS = (Tick(1, {"q": [(0, 3), (1, 5), (2, 2)]}), Tick(2, {"q": [(0, 1)]}, {"q": [(2, 2)]}))


def run(text, strategy="broadcast", ticks=TICKS):
    return simulate(check(read(FIELD + text)), Facts(list(ticks), 1), make_grid(2, 2), strategy=strategy)


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_the_numbers_of_a_range_cost_no_message(strategy):
    found = run("p(n, x) :- q(n, v), x in range(0, v, 2), NOT q(n, x).", strategy)
    assert found.answers["p"] == found.expected["p"] == [(0, 0), (0, 2), (1, 0), (1, 2), (1, 4)]
    assert found.tally.total == 0


@pytest.mark.parametrize("strategy", TECHNIQUES)
@pytest.mark.parametrize(
    "rules",
    [
        "p(n) :- q(n, v), g(n, m), x in range(0, v), NOT q(m, x).",
        "p(n, m, y) :- q(n, v), g(n, m), q(m, w), x in range(w, v, -1), y in range(x, v + 1).",
        "p(x, count<*>, sum<v>) :- q(_, v), x in range(v - 2, v).",
        "p(n, v) :- q(n, v), g(n, m), q(m, w), v in range(w, 9).",
        "p(n) :- n in range(0, 3). r(n) :- p(n), NOT q(n, _). output r.",
        "derived p(n: node, d: int) host n stage d limit d <= 4. p(n, 0) :- q(n, 3)."
        " p(m, d + 1) :- p(n, d), g(n, m), q(_, v), d in range(0, v), NOT q(m, v).",
    ],
)
def test_ranges_agree_with_the_engine_where_facts_come_and_go(rules, strategy):
    found = run(rules, strategy)
    assert found.answers == found.expected


def test_a_range_that_hardly_ends_is_refused():
    with pytest.raises(RuleLimit, match="a range has 3,000,000,000 numbers, more than 1,000,000"):
        run("p(n, x) :- q(n, v), x in range(0, v * 1000000000).", ticks=[Tick(1, {"q": [(0, 3)]})])
