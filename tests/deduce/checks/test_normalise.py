from skerry.deduce.checks.normalise import normalise
from skerry.deduce.rule_text import write_rule
from skerry.lang.rules import read


def forms(text):
    return [write_rule(rule) for rule in normalise(read(text).rules)]


def test_arithmetic_leaves_atoms_and_is_computed_once():
    [form] = forms("H(x, d+1) :- H(x, d), G(d+1), NOT J(d+1), NOT J(d+1.0).")
    assert form == "H(x, $v2) :- H(x, d), G($v2), NOT J($v2), NOT J($v3), $v2 = d + 1, $v3 = d + 1.0."


def test_calls_stand_alone():
    [form] = forms("builtin function f(int): int = 'm:f'. p(f(f(x) + 1)) :- q(x), f(x) < 3, y = f(x), f(2) = y.")
    assert form == ("p($v4) :- q(x), $v2 < 3, y = f(x), y = f(2), $v2 = f(x), $v3 = $v2 + 1, $v4 = f($v3).")


def test_durations_leave_atoms():
    assert forms("p(x) :- q(x, 5 s).") == ["p(x) :- q(x, $v1), $v1 = 5 s."]


def test_anything_is_a_variable_of_its_own():
    assert forms("p(x) :- q(x, _, [_|_]).") == ["p(x) :- q(x, $_2, [$_3|$_4])."]


def test_anything_under_not_is_a_projection():
    assert forms("p(x) :- q(x), NOT s(x, _, 3).") == [
        "p(x) :- q(x), NOT $s1(x, 3).",
        "$s1(x, 3) :- s(x, $_2, 3).",
    ]


def test_projection_of_nothing_still_has_a_column():
    assert forms("p(1) :- NOT s(_, [_|2]).")[1] == "$s1(0) :- s($_1, [$_2|2])."


def test_projections_of_one_shape_are_one():
    first, second, *rest = forms("p(x) :- q(x), NOT s(x, _). r(y) :- q(y), NOT s(y, _), NOT s(_, y), NOT s(1, _).")
    assert first == "p(x) :- q(x), NOT $s1(x)."
    assert second == "r(y) :- q(y), NOT $s1(y), NOT $s2(y), NOT $s3(1)."
    assert len(rest) == 3


def test_projections_of_equal_values_of_two_kinds_are_two():
    assert len(forms("p(x) :- q(x), NOT s(1, _), NOT s(1.0, _), NOT s(TRUE, _).")) == 4
