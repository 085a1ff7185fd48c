import pytest

from skerry.deduce.rule_text import write_subgoal
from skerry.plan.program import Output
from tests.deduce.checks.programs import LOGIC_H, TRACKING, check_text, refusal


def types(text, predicate):
    return [str(column.type) for column in check_text(text).predicates[predicate].columns]


@pytest.mark.parametrize(
    ("text", "predicate", "found"),
    [
        (LOGIC_H, "H'", ["node", "int"]),
        (LOGIC_H, "G", ["node", "node"]),
        (TRACKING, "P", ["int", "int", "float"]),
        (TRACKING, "Z", ["int", "int", "float"]),
        ("p(1, 'a', TRUE, []).", "p", ["int", "string", "bool", "list"]),
        ("p(1). p(2.5).", "p", ["float"]),
        ("p(1). p('a').", "p", ["any"]),
        ("p(x) :- q(x).", "q", ["any"]),
        ("p(x) :- q(x, 'a').", "q", ["any", "string"]),
        ("base q(x: int). base r(x: string). p(x) :- q(x). p(x) :- r(x).", "p", ["any"]),
        ("base q(x: int). p(x / 2, x // 2, x * 0.5) :- q(x).", "p", ["float", "int", "float"]),
        ("base q(t: time). p(t + 5 s, t - u) :- q(t), q(u).", "p", ["time", "int"]),
        (
            "p(x, count<*>, avg<y>, max<y>, collect<x>) :- q(x, y). q(1, 2).",
            "p",
            ["int", "int", "float", "int", "list"],
        ),
        ("p(x, y) :- p(x, y).", "p", ["any", "any"]),
        ("builtin predicate near(point) = 'm:n'. p(x) :- q(x), near(x).", "p", ["point"]),
        ("p(x, r) :- q([X|r]), x = X.", "p", ["list", "any"]),
    ],
)
def test_types_are_found(text, predicate, found):
    assert types(text, predicate) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(x) :- q(x), q(x, x).", "E110 line 1, column 15, rule 1: 'q' is used before with 1 columns, here with 2"),
        ("base q(x: int). p(x) :- q(x, x).", "E110 line 1, column 25, rule 1: 'q' is declared with 1 columns, here"),
        ("base q(x: string). base r(x: int). p(x) :- q(x), r(x).", "E110 line 1, column 50, rule 1: 'x' is string in"),
        ("base q(x: string). p(1) :- q(3).", "E110 line 1, column 28, rule 1: column 'x' of 'q' is string, not int"),
        ("derived p(x: int). p('a').", "E110 line 1, column 20, rule 1: column 'x' of 'p' is int, 'a' is string"),
        (
            "derived p(x: int). p(x / 2) :- q(x).",
            "E110 line 1, column 20, rule 1: column 'x' of 'p' is int, a computed",
        ),
        ("base q(x: string). p(x + 1) :- q(x).", "E110 line 1, column 20, rule 1: 'x' is string: + is for numbers"),
        ("base q(x: string). p(sum<x>) :- q(x).", "E110 line 1, column 20, rule 1: sum is for numbers, 'x' is string"),
        ("derived p(x: bool) limit x <= 3. p(TRUE).", "E110 line 1, column 1: a limit is for numbers and lists"),
        (
            "builtin predicate b(int) = 'm:b'. base q(x: string). p(x) :- q(x), b(x).",
            "E110 line 1, column 68, rule 1: 'b' takes int, 'x' is string",
        ),
        ("base q(x: int). q(3).", "E003 line 1, column 17, rule 1: 'q' is base: its facts come from outside"),
        ("p(1). output q.", "E003 line 1, column 7: output 'q' is no predicate; the program has p"),
        ("p(1). output p. output p mode changes.", "E003 line 1, column 7: two outputs go to 'p'; name one: to"),
        ("p(1). spatial p ~ q within 2 hops.", "E003 spatial 'q' is no predicate; the program has p"),
    ],
)
def test_what_does_not_fit_is_refused(text, message):
    assert refusal(text).startswith(message)


def test_constants_are_asked_for_as_their_columns_hold_them():
    text = "base q(x: point, y: float, z: any). p(1) :- q([1, 2], 3, 4), NOT q([5, 6], 7, 8)."
    assert [write_subgoal(subgoal) for subgoal in check_text(text).rules[0].body] == [
        "q([1.0, 2.0], 3.0, 4)",
        "NOT q([5.0, 6.0], 7.0, 8)",
    ]


def test_columns_without_a_declaration_are_called_as_their_variables():
    found = check_text("p(y, d + 1, count<*>, 3) :- q(1, y), q(y, d).").predicates
    assert [column.name for column in found["p"].columns] == ["y", "d", "count", "c4"]
    assert [column.name for column in found["q"].columns] == ["y", "d"]


def test_all_that_is_derived_is_output_if_the_program_says_nothing():
    assert check_text("p(x) :- q(x), NOT r(x, _).").outputs == (Output("p"),)
    assert check_text("p(x) :- q(x). r(1). output r mode changes.").outputs == (Output("r", "changes"),)
