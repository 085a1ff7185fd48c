"""Programs on motes give what the engine in one process gives."""

from pathlib import Path

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.errors import OptionError
from skerry.experiments.deductive.programs import write_program
from skerry.lang.rules import read
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import read_network_facts
from skerry.network.rules.run import ORDERS, simulate
from skerry.network.topology.grid import make_grid
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology

RULES = Path(__file__).parents[3] / "examples" / "rules"
TOPOLOGIES = [
    make_grid(4, 5),
    Topology.of_links(7, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 6)]),
    Topology.of_links(1, []),
]


def example(name):
    return check(read((RULES / f"{name}.dl").read_text()))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("name", ["logicH", "logicJ"])
def test_shortest_paths_are_those_of_the_engine(name, topology, order):
    run = simulate(example(name), None, topology, order=order, seed=3)
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


SAME = """base hot(n: node, v: int) host n.
derived same(n: node, m: node) host n.
same(a, b) :- hot(a, x), hot(b, x), a < b.
"""
HOT = Facts([Tick(second, {"hot": [(mote, mote % 5) for mote in range(second, 36, 4)]}) for second in range(4)], 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("program", "facts", "topology", "best"),
    [
        (write_program("logicH", 12, 8), None, make_grid(5, 5), "broadcast"),
        (write_program("logicJ", 12, 8, 4), None, make_grid(5, 5), "perpendicular"),
        (check(read(SAME)), HOT, make_grid(6, 6), "perpendicular"),
        (check(read(SAME)), HOT, read_topology("geometric:36:0.3:1"), "perpendicular"),
    ],
)
def test_auto_is_as_good_as_the_best_and_says_what_to_expect(program, facts, topology, best, order):
    none = {output.predicate: [] for output in program.outputs}
    run = simulate(program, facts, topology, strategy="auto", order=order, seed=2, expected=none)
    others = [
        simulate(program, facts, topology, strategy=each, order=order, seed=2, expected=none).tally.total
        for each in TECHNIQUES
    ]
    assert run.strategy == best
    assert run.tally.total <= 1.1 * min(others)
    assert run.estimates[best] == pytest.approx(run.tally.total, rel=0.15)


@pytest.mark.parametrize("strategy", ["local", "perpendicular"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_shortest_paths_by_other_joins(topology, strategy):
    run = simulate(example("logicJ"), None, topology, strategy=strategy)
    assert run.answers == run.expected


def test_links_may_be_longer_than_a_hop():
    text = "base near(x: node, y: node) link within 2 hops. many(x, count<*>) :- near(x, _)."
    run = simulate(check(read(text)), None, make_grid(1, 5))
    assert run.answers == run.expected == {"many": [(0, 2), (1, 3), (2, 4), (3, 3), (4, 2)]}


@pytest.mark.parametrize("strategy", TECHNIQUES)
@pytest.mark.parametrize("name", ["uncovered", "same_generation"])
def test_examples_with_facts_agree(name, strategy):
    checked = example(name)
    facts = read_network_facts(RULES / "facts" / name, checked)
    run = simulate(checked, facts, make_grid(3, 4), strategy=strategy, seed=5)
    assert run.answers == run.expected


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_facts_of_the_text_are_older_than_the_first_facts_that_come(strategy, order):
    text = "base v(n: node) host n. a(0, 7). b(1, 8). b(2, 9). s(n, x) :- b(n, x), v(n)."
    facts = Facts([Tick(0, {"v": [(1,)]})], 1)
    run = simulate(check(read(text)), facts, make_grid(1, 3), strategy=strategy, order=order)
    assert run.answers == run.expected == {"a": [(0, 7)], "b": [(1, 8), (2, 9)], "s": [(1, 8)]}


def test_facts_of_the_text_beyond_a_limit_do_not_hold():
    run = simulate(check(read("derived a(d: int) limit d <= 3. a(1). a(5). b(d) :- a(d).")), None, make_grid(1, 2))
    assert run.answers == run.expected == {"a": [(1,)], "b": [(1,)]}
