"""What is over is forgotten: a long run takes no more memory than a short one, and gives the same answers."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.lang.rules import read
from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.compile_program import compile_program
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.memory import Memory
from skerry.network.rules.network_facts import make_calendar
from skerry.network.rules.routes import find_routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.network.rules.run import ORDERS, simulate
from skerry.network.rules.survey import Survey
from skerry.network.topology.grid import make_grid
from tests.network.rules.test_isolation import reach

PROGRAM = """base g(n: node, m: node) link within 2 hops.
base q(n: node, v: int) host n.
base r(n: node, v: int) host n.
base w(n: node, v: int, t: time) host n time t window 2 s.
derived p(n: node, m: node) host m.
p(a, b) :- q(a, x), g(a, b), NOT r(b, x).
both(a, b, x) :- q(a, x), r(b, x), g(a, b), NOT w(b, x, _).
many(x, count<*>) :- both(_, _, x).
seen(b, x) :- w(a, x, _), q(b, x), g(a, b).
"""


def make_ticks(cycles):
    """Facts come and go, the same ones in every cycle; every second."""
    ticks = []
    for cycle in range(cycles):
        come, gone = (
            {
                "q": [(mote, mote % 3) for mote in range(odd, 12, 2)],
                "r": [(mote, mote % 2) for mote in range(odd, 12, 3)],
            }
            for odd in ((cycle % 2), (cycle + 1) % 2)
        )
        come["w"] = [(cycle % 12, cycle % 3, cycle * 1_000_000)]
        ticks.append(Tick(cycle * 1_000_000, come, gone if cycle else {}))
    return ticks


def measure(strategy, order, cycles):
    """How many objects all motes hold when a run is over."""
    checked, network = check(read(PROGRAM)), Network(make_grid(3, 4), seed=1)
    facts, routes = Facts(make_ticks(cycles), 1_000_000), find_routes(network.topology)
    program = compile_program(checked, Survey.of(routes), make_calendar(facts))
    motes = RuleNetwork(network, routes, strategy, program, Builtins({}), order)
    motes.run(checked, facts)
    return sum(len(reach(component)) for component in motes.components)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_long_run_takes_no_more_memory_than_a_short_one(strategy, order):
    assert measure(strategy, order, 36) < 1.15 * measure(strategy, order, 12)


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_answers_are_right_though_much_was_forgotten(strategy):
    run = simulate(check(read(PROGRAM)), Facts(make_ticks(9), 1_000_000), make_grid(3, 4), strategy=strategy, seed=1)
    assert run.answers == run.expected
    assert run.late_us == 0
    assert run.storage_us + run.join_us > 0


def test_breach_of_a_bound_is_reported():
    slow = RadioSettings(collisions=True, bits_per_second=400)
    run = simulate(check(read(PROGRAM)), Facts(make_ticks(3), 1_000_000), make_grid(3, 4), radio=slow, seed=1)
    assert run.late_us > 0


def test_memory_forgets_in_time():
    network, forgotten = Network(make_grid(1, 1)), []
    memory = Memory(network.boards[0], keep_us=10)
    memory.forget_later(forgotten.append, "one")
    for time, expected in ((9, []), (10, ["one"])):
        network.simulation.run(time)
        memory.tidy()
        assert forgotten == expected
