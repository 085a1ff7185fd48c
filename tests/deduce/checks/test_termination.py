import pytest

from tests.deduce.checks.programs import TRAJECTORIES, refusal


@pytest.mark.parametrize(
    "text",
    [
        "p(0). p(x + 1) :- p(x).",
        "p(0). p(x - 1) :- p(x), x < 100.",
        "p(0). p(x + 1) :- p(x), x > 3.",
        "p(1). p(x * 2) :- q(x). q(x) :- p(x).",
        "p(0, 0). p(y, x + 1) :- p(x, y).",
        "p(1). p(x + w) :- p(x), step(w).",
        "functor s/1. nat(0). nat(s(x)) :- nat(x).",
        "path([x, y]) :- e(x, y). path([X|r, s]) :- path([X|r]), e(r, s).",
        "path([x, y]) :- e(x, y). path([X|r, s]) :- path([X|r]), e(r, s), r <= s.",
        "p([]). p([x]) :- p(x).",
        "derived p(l: list) limit l <= 5. p([]). p([x]) :- p(x).",
        "derived p(l: list) limit l <= 5. p([]). p(y) :- p(x), y = [x].",
        "p([1]). p([X|X, y]) :- p([X|z]), q(y), z < y.",
        "builtin function f(int): int = 'm:f'. p(0). p(f(x)) :- p(x).",
        "derived p(d: int, n: int) limit d <= 9. p(0, 0). p(d, n + 1) :- p(d, n).",
        "derived p(x: int) limit x <= 9. p(0). p(x - 1) :- p(x).",
        "p(0, 1). p(m, m + 1) :- p(n, m), n < m.",
        "p(9). p(x // 2) :- p(x).",
    ],
)
def test_endless_recursion_is_refused(text):
    assert refusal(text).startswith("E301")


@pytest.mark.parametrize(
    "text",
    [
        TRAJECTORIES,
        "derived p(x: int) limit x <= 9. p(0). p(x + 1) :- p(x).",
        "p(0). p(x + 1) :- p(x), x < 100.",
        "p(0). p(x - 1) :- p(x), x > -100.",
        "p(0). p(n) :- p(x), n = x + w, step(w), n < 100.",
        "p(0). p(x + 1) :- p(x), clock(x + 1).",
        "p(0). p(x + 1) :- p(x), x < m, greatest(m).",
        "p(x + 1) :- q(x). q(1).",
        "path([x, y]) :- e(x, y). path([X|r, s]) :- path([X|r]), e(r, s), r < s.",
        "derived p(l: list) limit l <= 5. p([]). p([X|1]) :- p(X).",
        "functor s/1. derived nat(x: any, d: int) limit d <= 5. nat(0, 0). nat(s(x), d + 1) :- nat(x, d).",
        "p(x, y) :- e(x, y). p(y, x) :- p(x, y).",
        "p([1, 2]). p(X) :- p([X|r]).",
        "p(9, 0). p(d - 1, n + 1) :- p(d, n), d > 0.",
        "p(9, 0). p(d - 1, n + d) :- p(d, n), d > 0.",
        "p(9). p(x // 2) :- p(x), x > 0.",
        "p(1). p((x * 5) % 7) :- p(x).",
        "p(1). p(y % 7) :- p(x), y = x + 3.",
    ],
)
def test_bounded_recursion_may_run(text):
    assert refusal(text) is None


def test_refusal_says_what_to_declare():
    assert refusal("p(0, 'a'). p(x + 1, y) :- p(x, y).") == (
        "E301 line 1, column 12, rule 2: the recursion makes ever new values in column 'x' of 'p'; "
        "declare it: derived p(x: int, y: string) limit x <= 100"
    )


def test_refusal_of_a_range_names_the_rule_that_it_stands_in():
    text = "base n(x: int). p(x) :- n(x). q(y) :- p(y). p(y) :- q(x), "
    assert refusal(f"{text} y in range(x, x + 3), y < 100.") == (
        "E301 line 1, column 60, rule 3: a range takes its ends from 'p', which takes values from the range: "
        "it may never end; give it ends that do not change, as in n in range(0, 3), y = x + n, y < 100"
    )
    assert refusal(f"{text} n in range(0, 3), y = x + n, y < 100.") is None
