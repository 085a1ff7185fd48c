"""Programs on motes give what the engine in one process gives."""

from pathlib import Path

import pytest

from skerry.deduce.checks import check
from skerry.errors import OptionError
from skerry.lang.rules import read
from skerry.network.rules.field_facts import read_field_facts
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.run import ORDERS, simulate
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology

RULES = Path(__file__).parents[3] / "examples" / "rules"
FIELDS = [
    make_grid(4, 5),
    Topology.of_links(7, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 6)]),
    Topology.of_links(1, []),
]


def example(name):
    return check(read((RULES / f"{name}.dl").read_text()))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ["logicH", "logicJ"])
def test_shortest_paths_are_those_of_the_engine(name, field, order):
    run = simulate(example(name), None, field, order=order, seed=3)
    assert run.answers == run.expected


def test_a_mote_speaks_once_in_stage_order():
    run = simulate(example("logicJ"), None, make_grid(7, 7), seed=1)
    assert run.tally.by_mote == [1] * 49


def test_unknown_strategy_is_refused():
    with pytest.raises(OptionError, match="unknown strategy 'magic'; known: auto, broadcast, local, perpendicular"):
        simulate(example("logicJ"), None, make_grid(2, 2), strategy="magic")


def test_auto_takes_what_needs_the_fewest_messages():
    run = simulate(example("logicJ"), None, make_grid(4, 4), strategy="auto", seed=2)
    assert (run.strategy, run.estimates["broadcast"], run.tally.total) == ("broadcast", 16, 16)


@pytest.mark.parametrize("strategy", ["local", "perpendicular"])
@pytest.mark.parametrize("field", FIELDS)
def test_shortest_paths_by_other_joins(field, strategy):
    run = simulate(example("logicJ"), None, field, strategy=strategy)
    assert run.answers == run.expected


def test_links_may_be_longer_than_a_hop():
    text = "base near(x: node, y: node) link within 2 hops. many(x, count<*>) :- near(x, _)."
    run = simulate(check(read(text)), None, make_grid(1, 5))
    assert run.answers == run.expected == {"many": [(0, 2), (1, 3), (2, 4), (3, 3), (4, 2)]}


@pytest.mark.parametrize("strategy", TECHNIQUES)
@pytest.mark.parametrize("name", ["uncovered", "same_generation"])
def test_examples_with_facts_agree(name, strategy):
    checked = example(name)
    facts = read_field_facts(RULES / "facts" / name, checked)
    run = simulate(checked, facts, make_grid(3, 4), strategy=strategy, seed=5)
    assert run.answers == run.expected
