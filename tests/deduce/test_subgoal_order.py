"""Bodies can be carried out in the order that is found."""

import itertools

import pytest

from skerry.deduce.rule_text import write_subgoal, write_term
from skerry.deduce.subgoal_order import Bind, Check, Match, order
from skerry.lang.rules import read
from skerry.model.term import Variable


def write_order(body, bound=""):
    rule = read(f"p(1) :- {body}.").rules[0]
    steps = order(rule.body, [Variable(name) for name in bound])
    return None if steps is None else [_write_step(step) for step in steps]


def _write_step(step):
    match step:
        case Match(atom):
            return write_subgoal(atom)
        case Bind(variable, value, integer):
            return f"{variable.name} {'~' if integer else ':'}= {write_term(value)}"
        case Check(subgoal):
            return f"{write_subgoal(subgoal)}?"


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("x < 3, NOT r(x), q(x)", ["q(x)", "x < 3?", "NOT r(x)?"]),
        ("q(x), r(y), s(x, z)", ["q(x)", "s(x, z)", "r(y)"]),
        ("x = 3, y = x + 1", ["x := 3", "y := x + 1"]),
        ("y = x, x = 3", ["x := 3", "y := x"]),
        ("q(x), r(y), y = x + 1", ["q(x)", "r(y)", "y = x + 1?"]),
        ("q(t), t = d + 1", ["q(t)", "d ~= t - 1"]),
        ("q(t), 7 - d = t", ["q(t)", "d ~= 7 - t"]),
        ("q(t), t * 2 = (d - t) + 1", ["q(t)", "d ~= ((t * 2) - 1) + t"]),
        ("q(t), t = d * 2", None),
        ("q(t), t = d + d", None),
        ("q(t), t = d / 1", None),
        ("q(x), NOT r(y)", None),
        ("x < 3", None),
        ("x = y, y = x", None),
    ],
)
def test_order_is_found(body, steps):
    assert write_order(body) == steps


def test_what_is_bound_before_need_not_be_bound():
    assert write_order("y = x + 1, q(z)", "x") == ["q(z)", "y := x + 1"]
    assert write_order("NOT q(x)", "x") == ["NOT q(x)?"]


def test_whether_there_is_an_order_does_not_depend_on_the_text():
    body = ["q(x)", "y = x + 1", "z = y - w", "w = 3", "NOT r(z)"]
    assert all(write_order(", ".join(other)) for other in itertools.permutations(body))
