"""Random programs on random topologies: every way to join gives the reference's answers, whatever messages do."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import add_links
from skerry.network.rules.routes import find_routes
from skerry.network.rules.run import ORDERS, simulate
from skerry.testing.reference_rules import Reference
from tests.network.rules.random_programs import random_changes, random_program


def find_expected(program):
    reference = Reference(program.checked, Builtins({}), program.facts.unit)
    for tick in add_links(program.facts, program.checked, find_routes(program.topology)):
        reference.tick(tick.now, tick.inserts, tick.deletes)
    return {output.predicate: sorted(reference.rows(output.predicate)) for output in program.checked.outputs}


def run_program(program, strategy, order, **settings):
    checked, facts, topology = program.checked, program.facts, program.topology
    return simulate(checked, facts, topology, strategy=strategy, order=order, **settings)


def assert_agrees(seed, **settings):
    """Every way to join; orders by turns."""
    program, order = random_program(seed), ORDERS[seed % len(ORDERS)]
    expected = find_expected(program)
    for strategy in TECHNIQUES:
        run = run_program(program, strategy, order, seed=seed, expected=expected, **settings)
        assert run.answers == expected, f"seed {seed}, {strategy}, {order}\n{program.text}"


def assert_follows_links(seed, strategy, **settings):
    program = random_program(seed)
    changes = random_changes(seed, program.topology)
    run = run_program(program, strategy, ORDERS[seed % len(ORDERS)], seed=seed, changes=changes, **settings)
    assert run.answers == run.expected, f"seed {seed}, {strategy}, {changes}\n{program.text}"


@pytest.mark.parametrize("start", range(0, 500, 50))
def test_every_strategy_agrees_on_random_programs(start):
    for seed in range(start, start + 50):
        assert_agrees(seed)


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_answers_follow_links_that_change_and_motes_that_die(strategy):
    for seed in range(500, 525):
        assert_follows_links(seed, strategy)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", range(10_000, 12_000, 100))
def test_agrees_though_messages_are_duplicated_and_reordered(start):
    radio = RadioSettings(duplication=0.3, reordering=0.3)
    for seed in range(start, start + 100):
        assert_agrees(seed, radio=radio, most_skew_us=3_000)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_answers_follow_links_though_messages_are_duplicated_and_reordered(strategy):
    radio = RadioSettings(duplication=0.3, reordering=0.3)
    for seed in range(12_000, 12_200):
        assert_follows_links(seed, strategy, radio=radio, most_skew_us=3_000)
