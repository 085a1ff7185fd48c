"""Magic sets: less is derived, nothing is lost, and what gains nothing is left alone."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.magic import fits, narrow
from skerry.lang.rules import read
from skerry.lang.rules.question import read_question
from skerry.plan.program import Class
from skerry.testing.reference_rules import Reference

PATH = "path(x, y) :- edge(x, y). path(x, z) :- path(x, y), edge(y, z). other(x) :- edge(x, _)."
CHAIN = {"edge": [(n, n + 1) for n in range(30)] + [(n, n + 1) for n in range(100, 130)]}
COUSINS = "same(x, y) :- flat(x, y). same(x, y) :- up(x, a), same(a, b), down(b, y)."


def asking(text, question):
    checked = check(read(text))
    goal = read_question(question, checked)
    return narrow(checked, goal), goal


def derive(narrowed, facts):
    started = Reference(narrowed.checked, Builtins({}))
    started.tick(None, {name: rows for name, rows in facts.items() if name in narrowed.checked.predicates}, {})
    return started


def test_only_what_bears_on_the_question_is_derived():
    narrowed, goal = asking(PATH, "path(25, x)")
    started = derive(narrowed, CHAIN)
    assert {row for row in started.rows(narrowed.predicate) if fits(row, goal)} == {(25, n) for n in range(26, 31)}
    assert sum(len(started.rows(name)) for name in narrowed.checked.predicates if name != "edge") < 20


def test_bindings_go_from_left_to_right_through_supplementary_predicates():
    narrowed, goal = asking(COUSINS, "same(1, y)")
    facts = {
        "up": [(1, 2), (2, 3), (7, 8)],
        "flat": [(3, 3), (8, 8), (2, 5)],
        "down": [(3, 4), (4, 6), (5, 9), (8, 10)],
    }
    started = derive(narrowed, facts)
    assert {row for row in started.rows(narrowed.predicate) if fits(row, goal)} == {(1, 6), (1, 9)}
    assert not any(row[0] == 7 for row in started.rows(narrowed.predicate))


def test_rules_that_do_not_bear_on_the_question_are_left_out():
    narrowed, _ = asking(PATH, "path(x, y)")
    assert narrowed.predicate == "path"
    assert "other" not in narrowed.checked.predicates


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("n(x, count<*>) :- edge(x, _).", "n(1, c)"),
        ("derived h(x: int, d: int) stage d limit d <= 9. h(0, 0). h(y, d + 1) :- h(x, d), edge(x, y).", "h(3, d)"),
        ("p(x, y) :- edge(x, y). q(x, z) :- p(x, y), p(y, z).", "q(1, z)"),
    ],
    ids=["aggregate", "stages", "a class that would be worse"],
)
def test_program_is_kept_where_nothing_is_gained(text, question):
    narrowed, goal = asking(text, question)
    assert narrowed.predicate == goal.predicate


def test_what_is_negated_is_derived_as_a_whole():
    text = "r(x) :- edge(x, y), r(y). r(x) :- goal(x). p(x, y) :- edge(x, y), NOT r(y). p(x, z) :- p(x, y), edge(y, z)."
    narrowed, goal = asking(text, "p(3, y)")
    assert narrowed.predicate != goal.predicate
    started = derive(narrowed, {**CHAIN, "goal": [(110,)]})
    assert started.rows("r") == {(n,) for n in range(100, 111)}
    assert {row for row in started.rows(narrowed.predicate) if fits(row, goal)} == {(3, n) for n in range(4, 31)}


def test_class_does_not_get_worse():
    narrowed, _ = asking(PATH, "path(1, x)")
    assert {component.kind for component in narrowed.checked.components} <= {Class.N, Class.S}
