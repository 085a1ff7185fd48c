"""The reference engine against engines that share nothing with it: clingo, and DuckDB for rules without recursion."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.testing.reference_rules import Reference
from tests.deduce import answer_sets, sql_twin
from tests.deduce.generator import program


def after_each_tick(generated):
    engine = Reference(generated.checked, Builtins({}))
    for tick in generated.ticks:
        engine.tick(tick.now, tick.inserts, tick.deletes)
        yield {name: engine.rows(name) for name in generated.checked.predicates}


def base_of(checked, model):
    return {name: rows for name, rows in model.items() if checked.predicates[name].base}


def round_rows(rows):
    return {tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in rows}


def agrees_with_clingo(seed):
    generated = program(seed)
    if not answer_sets.is_supported(generated.checked):
        return 0
    [*_, model] = after_each_tick(generated)
    assert answer_sets.answer_set(generated.checked, base_of(generated.checked, model)) == model, generated.text
    return 1


def agrees_with_duckdb(seed):
    generated = program(seed, "N")
    if not sql_twin.is_supported(generated.checked):
        return 0
    [*_, model] = after_each_tick(generated)
    answers = sql_twin.answers(generated.checked, base_of(generated.checked, model))
    for name, rows in answers.items():
        assert round_rows(rows) == round_rows(model[name]), (name, generated.text)
    return 1


def test_agrees_with_clingo():
    assert sum(map(agrees_with_clingo, range(200))) > 50


def test_agrees_with_duckdb():
    assert sum(map(agrees_with_duckdb, range(60))) > 30


@pytest.mark.soak
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_agrees_with_clingo_on_many(start):
    assert sum(map(agrees_with_clingo, range(start, start + 500))) > 125


@pytest.mark.soak
@pytest.mark.parametrize("start", range(10_000, 12_000, 200))
def test_agrees_with_duckdb_on_many(start):
    assert sum(map(agrees_with_duckdb, range(start, start + 200))) > 90
