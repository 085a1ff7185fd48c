"""Random programs on random topologies: every way to join gives the reference's answers, whatever messages do."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import add_links
from skerry.network.rules.routes import find_routes
from skerry.network.rules.run import ORDERS, simulate
from skerry.testing.reference_rules import Reference
from tests.network.rules.random_programs import random_program


def find_expected(program):
    reference = Reference(program.checked, Builtins({}), program.facts.unit)
    for tick in add_links(program.facts, program.checked, find_routes(program.topology)):
        reference.tick(tick.now, tick.inserts, tick.deletes)
    return {output.predicate: sorted(reference.rows(output.predicate)) for output in program.checked.outputs}


def assert_agrees(seed, strategy, order, **settings):
    program = random_program(seed)
    expected = find_expected(program)
    run = simulate(
        program.checked,
        program.facts,
        program.topology,
        strategy=strategy,
        order=order,
        seed=seed,
        expected=expected,
        **settings,
    )
    assert run.answers == expected, f"seed {seed}, {strategy}, {order}\n{program.text}"


@pytest.mark.parametrize("start", range(0, 500, 50))
def test_agrees_on_random_programs(start):
    for seed in range(start, start + 50):
        assert_agrees(seed, TECHNIQUES[seed % len(TECHNIQUES)], ORDERS[seed // len(TECHNIQUES) % len(ORDERS)])


@pytest.mark.soak
@pytest.mark.parametrize("start", range(10_000, 12_000, 100))
def test_agrees_though_messages_are_duplicated_and_reordered(start):
    radio = RadioSettings(duplication=0.3, reordering=0.3)
    for seed in range(start, start + 100):
        for strategy in TECHNIQUES:
            assert_agrees(seed, strategy, ORDERS[seed % len(ORDERS)], radio=radio, most_skew_us=3_000)
