"""The engine against the reference engine: random programs, compared after every tick."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.engine import Engine
from skerry.deduce.values import row_key
from skerry.testing.reference_rules import Reference
from tests.deduce.generator import program


def drop_empty(changes):
    """Changes by predicate, without those that change nothing."""
    plain = {
        name: (set(map(row_key, change.inserted)), set(map(row_key, change.deleted)))
        for name, change in changes.items()
    }
    return {name: change for name, change in plain.items() if any(change)}


def assert_agrees(seed, layers=None):
    generated = program(seed, layers)
    checked = generated.checked
    engine, reference = Engine(checked, Builtins({})), Reference(checked, Builtins({}))
    for number, tick in enumerate(generated.ticks):
        changes = engine.tick(tick.now, tick.inserts, tick.deletes)
        expected = reference.tick(tick.now, tick.inserts, tick.deletes)
        where = f"seed {seed}, tick {number}\n{generated.text}"
        for name in checked.predicates:
            assert set(map(row_key, engine.rows(name))) == set(map(row_key, reference.rows(name))), (name, where)
        assert drop_empty(changes) == drop_empty(expected), where


@pytest.mark.parametrize("start", range(0, 500, 100))
def test_agrees_on_random_programs(start):
    for seed in range(start, start + 100):
        assert_agrees(seed)


@pytest.mark.soak
@pytest.mark.parametrize("start", [500, *range(10_000, 20_000, 500)])
def test_agrees_on_many_random_programs(start):
    for seed in range(start, start + 500):
        assert_agrees(seed)
