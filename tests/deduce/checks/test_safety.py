import pytest

from tests.deduce.checks.programs import refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(x, y) :- q(x).", "E101 line 1, column 1, rule 1: head variable 'y' is bound by nothing in the body"),
        ("p(x + z) :- q(x).", "E101 line 1, column 1, rule 1: head variable 'z'"),
        ("p([X|y]) :- q(y).", "E101 line 1, column 1, rule 1: head variable 'X'"),
        ("p(sum<y>) :- q(x).", "E101 line 1, column 1, rule 1: head variable 'y'"),
        ("p(x).", "E101 line 1, column 1, rule 1: head variable 'x' is bound by nothing in the body; a fact holds"),
        ("q(1). p(x) :- NOT q(x).", "E101 line 1, column 7, rule 2: head variable 'x'"),
        ("p(_) :- q(x).", "E102 line 1, column 1, rule 1: '_' stands in a head; name a variable of the body"),
        ("p(max<_>) :- q(x).", "E102 line 1, column 1, rule 1: '_' stands in a head"),
        ("p(x) :- q(x), NOT r(x, y).", "E103 line 1, column 19, rule 1: variable 'y' of NOT r(x, y) is bound by"),
        ("p(x) :- q(x), y < 3.", "E103 line 1, column 15, rule 1: variable 'y' of y < 3 is bound by nothing"),
        ("p(x) :- q(x), _ < 3.", "E103 line 1, column 15, rule 1: '_' has no value to compare"),
        ("p(x) :- q(x), x = y * 2.", "E103 line 1, column 15, rule 1: variable 'y' of x = y * 2"),
        (
            "builtin predicate b(int) = 'm:b'. p(x) :- q(x), b(y).",
            "E103 line 1, column 49, rule 1: variable 'y' of b(y) is bound by nothing; use it in a positive subgoal; "
            "built-ins bind none of their inputs",
        ),
    ],
)
def test_unbound_variable_is_refused(text, message):
    assert refusal(text).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "p(x) :- q([X|[x, y]]).",
        "p(y) :- q(x), y = x * 2.",
        "p(y) :- q(x), x = y + 2.",
        "p(x) :- q(x), NOT r(x, _).",
        "p(3) :- NOT q(1).",
        "builtin function f(int): int = 'm:f'. p(f(x)) :- q(x).",
    ],
)
def test_bound_variables_are_bound_by_relations_equations_and_functions(text):
    assert refusal(text) is None
