"""NOT asks only for what a rule does not know already."""

from pathlib import Path

import pytest

from skerry.deduce.checks import check
from skerry.lang.rules import read
from skerry.network.rules.compile_program import compile_program
from skerry.network.rules.network_facts import make_calendar, read_network_facts
from skerry.network.rules.routes import find_routes
from skerry.network.rules.run import simulate
from skerry.network.rules.survey import Survey
from skerry.network.topology.grid import make_grid

RULES = Path(__file__).parents[3] / "examples" / "rules"
BASES = """base g(n: node, m: node) link.
base q(n: node, v: int) host n.
base r(n: node, v: int) host n.
base f(n: node, v: float) host n.
"""
RULE = "p(a, b) :- q(a, x), g(a, b), NOT n(b, x). output p. "


def shorten(text):
    checked, grid = check(read(text)), make_grid(3, 3)
    facts = make_calendar(read_network_facts(None, check(read("base g(n: node, m: node) link. p(a) :- g(a, b)."))))
    return {rule.head.predicate: rule for rule in compile_program(checked, Survey.of(find_routes(grid)), facts).rules}


@pytest.mark.parametrize("name", ["logicH", "logicJ"])
def test_paths_ask_for_shorter_ones_alone(name):
    rules = shorten((RULES / f"{name}.dl").read_text())
    assert "H'" not in rules
    (denial,) = rules["H"].denials
    assert denial.is_open
    assert denial.atom.predicate == {"logicH": "H", "logicJ": "J"}[name]


@pytest.mark.parametrize(
    "rules",
    [
        "n(b, x) :- r(b, y), y < x, q(a, x), g(a, b).",
        "n(b, x) :- r(b, y), q(c, x), y < x.",
        "n(c, y) :- q(d, y), g(d, c), r(c, _).",
        "n(b, x) :- r(b, x), q(_, x). n(b, x) :- r(b, 3), q(_, x).",
    ],
)
def test_the_rest_of_a_negated_rule_is_denied(rules):
    found = shorten(BASES + RULE + rules)
    assert "n" not in found
    assert {denial.atom.predicate for denial in found["p"].denials} == {"r"}


@pytest.mark.parametrize(
    "rules",
    [
        "n(b, x) :- r(b, y), y < x, q(b, x).",  # another q
        "n(b, x) :- r(a, y), y < x, q(a, x), g(a, b).",  # r of the same a, which is any
        "n(b, x) :- r(_, y), y < x, q(a, x), g(a, b).",  # on any mote
        "n(b, x) :- r(b, y), r(b, z), y < z, q(a, x), g(a, b).",  # two of them
        "n(b, x) :- r(b, x), q(a, x), g(a, b), NOT f(b, 1.0).",
        "derived n(b: node, x: int) limit x <= 5. n(b, x) :- r(b, y), y < x, q(a, x), g(a, b).",
        "n(b, x) :- r(b, y), y < x, q(a, x), g(a, b). n(b, x) :- r(b, x), r(b, 2).",
        "n(b, x) :- f(b, x), q(_, x).",  # a number of another type
    ],
)
def test_what_cannot_be_told_by_one_mote_is_asked_as_it_is(rules):
    found = shorten(BASES + RULE + rules)
    assert [denial.atom.predicate for denial in found["p"].denials] == ["n"]


def test_order_of_rules_does_not_matter_in_order_of_arrival():
    text = (RULES / "logicJ.dl").read_text().replace("A = 0", "A = 12")
    lines = text.splitlines()
    later, earlier = (next(line for line in lines if line.startswith(head)) for head in ("H'(y", "H(x, y, d+1)"))
    swapped = text.replace(later, "#").replace(earlier, f"{earlier}\n{later}")
    runs = [simulate(check(read(each)), None, make_grid(5, 5), order="arrival", seed=1) for each in (text, swapped)]
    assert [run.tally.total for run in runs] == [25, 25]
    assert all(run.answers == run.expected for run in runs)
