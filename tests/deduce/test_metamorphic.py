"""Changes to a program or to its ticks that change no answer."""

import re
from dataclasses import replace
from random import Random

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.deduce.magic import fits, narrow
from skerry.lang.rules import read
from skerry.model.term import Constant, Variable
from skerry.plan.program import Atom
from skerry.testing.reference_rules import Reference
from tests.deduce.generator import NUMBERS, WORDS, program

ENGINES = [Reference, Engine]
SEEDS = range(15)


def run(engine, checked, ticks):
    running = engine(checked, Builtins({}))
    for tick in ticks:
        running.tick(tick.now, tick.inserts, tick.deletes)
    return running


def model(running, checked):
    """What holds of each derived predicate."""
    names = [name for name, each in checked.predicates.items() if not each.base and not name.startswith("$")]
    return {name: running.rows(name) for name in names}


def derive_model(engine, checked, ticks):
    return model(run(engine, checked, ticks), checked)


@pytest.mark.parametrize("engine", ENGINES)
def test_order_of_rules_and_subgoals_does_not_matter(engine):
    for seed in SEEDS:
        generated, random = program(seed), Random(seed)
        written = generated.checked.program
        rules = [replace(rule, body=tuple(random.sample(rule.body, len(rule.body)))) for rule in written.rules]
        shuffled = check(replace(written, rules=tuple(random.sample(rules, len(rules)))))
        expected = derive_model(engine, generated.checked, generated.ticks)
        assert derive_model(engine, shuffled, generated.ticks) == expected, generated.text


@pytest.mark.parametrize("engine", ENGINES)
def test_names_do_not_matter(engine):
    for seed in SEEDS:
        generated = program(seed)
        variables = re.sub(r"\b(x|y|z|u|v|f|g|t2|t|path|d)\b", r"\1_other", generated.text)
        renamed = check(read(re.sub(r"\bp(?=\d)", "other", variables)))
        expected = derive_model(engine, generated.checked, generated.ticks)
        found = derive_model(engine, renamed, generated.ticks)
        assert found == {re.sub(r"^p", "other", name): rows for name, rows in expected.items()}, generated.text


@pytest.mark.parametrize("engine", ENGINES)
def test_insert_then_delete_is_nothing(engine):
    for seed in SEEDS:
        generated, other = program(seed), program(seed + 1_000)
        running = run(engine, generated.checked, generated.ticks)
        before, now = model(running, generated.checked), generated.ticks[-1].now
        bases = [name for name, each in generated.checked.predicates.items() if each.base and each.window_rows is None]
        given = {name: other.ticks[0].inserts.get(name, ()) for name in bases}
        extra = {name: [row for row in rows if row not in running.rows(name)] for name, rows in given.items()}
        running.tick(now, extra, {})
        running.tick(now, {}, extra)
        assert model(running, generated.checked) == before, generated.text


@pytest.mark.parametrize("engine", ENGINES)
def test_batching_does_not_matter(engine):
    """Many ticks at one time end as one tick does with what they leave."""
    for seed in SEEDS:
        generated = program(seed)
        if any(each.window_rows for each in generated.checked.predicates.values()):
            continue
        now = generated.ticks[-1].now
        ticks = [replace(tick, now=now) for tick in generated.ticks]
        left = run(Reference, generated.checked, ticks)
        bases = [name for name, each in generated.checked.predicates.items() if each.base]
        once = Tick(now, {name: list(left.rows(name)) for name in bases})
        assert derive_model(engine, generated.checked, ticks) == derive_model(engine, generated.checked, [once]), (
            generated.text
        )


def question(random, predicate):
    constants = {"int": NUMBERS, "string": WORDS}
    terms = [
        Constant(random.choice(constants[column.type]))
        if column.type in constants and random.random() < 0.6
        else Variable(f"v{index}")
        for index, column in enumerate(predicate.columns)
    ]
    return Atom(predicate.name, tuple(terms))


def agrees_with_magic(engine, seed, layers=None):
    """Whether the program was rewritten for a question; the answers are the same in any case."""
    generated, random = program(seed, layers), Random(seed)
    names = [name for name, each in generated.checked.predicates.items() if not each.base and not name.startswith("$")]
    goal = question(random, generated.checked.predicates[random.choice(names)])
    narrowed = narrow(generated.checked, goal)
    known = narrowed.checked.predicates
    ticks = [
        Tick(
            tick.now,
            *({name: rows for name, rows in part.items() if name in known} for part in (tick.inserts, tick.deletes)),
        )
        for tick in generated.ticks
    ]
    found = run(engine, narrowed.checked, ticks).rows(narrowed.predicate)
    expected = run(engine, generated.checked, generated.ticks).rows(goal.predicate)
    assert {row for row in found if fits(row, goal)} == {row for row in expected if fits(row, goal)}, generated.text
    return narrowed.predicate != goal.predicate


@pytest.mark.parametrize("engine", ENGINES)
def test_magic_does_not_matter(engine):
    assert sum(agrees_with_magic(engine, seed, "NSSS") for seed in range(40)) > 4
    for seed in SEEDS:
        agrees_with_magic(engine, seed)
