"""Programs on motes give what the engine in one process gives."""

from pathlib import Path

import pytest

from skerry.deduce.checks import check
from skerry.errors import OptionError
from skerry.lang.rules import read
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
    with pytest.raises(OptionError, match="unknown strategy 'magic'; known: broadcast, local, perpendicular"):
        simulate(example("logicJ"), None, make_grid(2, 2), strategy="magic")
