"""Classes, strata and stages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.deduce.checks.graph import strong_parts
from skerry.plan.program import Class
from tests.deduce.checks import programs
from tests.deduce.checks.programs import check_text, component, refusal


@pytest.mark.parametrize(
    ("text", "predicate", "kind", "order"),
    [
        (programs.LOGIC_H, "H", Class.X, ("H'", "H")),
        (programs.LOGIC_J, "H", Class.X, ("H'", "H", "J")),
        (programs.TRACKING, "P", Class.X, ("U", "P'", "P")),
        (programs.TRAJECTORIES, "traj", Class.X, ("traj",)),
        (programs.TRAJECTORIES, "complete", Class.N, ("complete",)),
        (programs.CLOSURE, "reach", Class.S, ("reach",)),
        (programs.SPREAD, "gas", Class.Y, ("gas", "vented")),
        ("p(x) :- q(x). q(x) :- p(x). q(1).", "p", Class.S, ("p", "q")),
        ("d(x, min<c>, t+1) :- d(y, c, t), e(y, x), clock(t+1). d(0, 0, 0).", "d", Class.X, ("d",)),
    ],
)
def test_class_and_order_are_found(text, predicate, kind, order):
    found = component(text, predicate)
    assert (found.kind, found.predicates) == (kind, order)
    assert tuple(name for group in found.groups for name in group) == order


def test_stages_are_chosen():
    assert component(programs.LOGIC_J, "H").stages == {"H": 2, "J": 1, "H'": 1}
    assert check_text(programs.LOGIC_J).predicates["J"].stage == 1
    assert component(programs.TRAJECTORIES, "traj").stages == {"traj": 0}


def test_projection_has_a_stage_too():
    text = "p(0, 0, 0). p(x, y, t+1) :- p(x, _, t), q(y), clock(t+1), NOT p(x, _, t)."
    assert component(text, "p").stages == {"p": 2, "$p1": 1}


def test_strata_count_negations():
    text = (
        "a(x) :- b(x), NOT c(x). c(x) :- d(x), NOT e(x). e(x) :- f(x). f(x) :- e(x). g(count<*>) :- a(x). h(x) :- g(x)."
    )
    strata = {name: part.stratum for part in check_text(text).components for name in part.predicates}
    assert strata == {"e": 0, "f": 0, "c": 1, "a": 2, "g": 3, "h": 3}


def test_components_come_after_what_they_need():
    seen = set()
    for part in check_text(programs.TRAJECTORIES + programs.LOGIC_J).components:
        seen |= set(part.predicates)
        needed = {goal.predicate for rule in part.rules for goal in rule.body if hasattr(goal, "predicate")}
        assert needed - {"report", "G"} <= seen


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "p(x) :- q(x), NOT p(x).",
            "E201 line 1, column 19, rule 1: p needs itself through NOT p, and no stage settles it",
        ),
        ("p(x) :- q(x), NOT r(x). r(x) :- q(x), NOT p(x).", "E201 line 1, column 19, rule 1: p, r need each other"),
        ("p(x, min<y>) :- p(x, y), q(x).", "E201 line 1, column 17, rule 1: p needs itself through an aggregate"),
        ("p :- NOT p.", "E201 line 1, column 10, rule 1: p needs itself through NOT p"),
        (
            "derived p(x: int, d: int) stage d. p(x, d) :- q(x, d), NOT p(x, d+1). p(x, d) :- p(x, d-1), d < 9.",
            "E202 line 1, column 60, rule 1: NOT p(x, d + 1) may be at a later stage than d, by 1",
        ),
        (
            "derived p(x: int, d: int) stage d. p(x, d) :- q(x, d), q(y, e), NOT p(x, e).",
            "E202 line 1, column 69, rule 1: NOT p(x, e) may be at a later stage than d, by any amount",
        ),
        (
            "derived p(x: int, d: int) stage d. p(x, d) :- q(x, d), NOT p(x, d).",
            "E202 line 1, column 60, rule 1: p needs itself through NOT p, and no stage settles it",
        ),
        ("derived p(x: float) stage x. p(x) :- q(x).", "E203 line 1, column 1: stage 'x' of 'p' is float; a stage is"),
    ],
)
def test_recursion_that_no_stage_settles_is_refused(text, message):
    assert refusal(text).startswith(message)


@pytest.mark.parametrize(
    "bound",
    [
        "e < d",
        "e = d - 1",
        "e + 1 <= d",
        "d > e",
        "2 * e + 2 <= e + d",
        "e <= f, f < d, k(f)",
        "e = d - 5 s",
        "e = 3, d = 4",
    ],
)
def test_stage_may_be_bounded_in_many_ways(bound):
    text = f"derived p(x: int, d: int) stage d. base k(f: int). p(x, d) :- q(x, d), q(y, e), {bound}, NOT p(x, e)."
    assert component(text, "p").kind is Class.X


@pytest.mark.parametrize("bound", ["e <= d", "e != d", "e < d + 1", "e * e < d", "e < f, f < d + 1, real(f)"])
def test_stage_that_may_be_equal_does_not_settle_negation(bound):
    text = f"derived p(x: int, d: int) stage d. base real(f: float). p(x, d) :- q(x, d), q(y, e), {bound}, NOT p(x, e)."
    assert refusal(text).startswith("E202")


@pytest.mark.parametrize(
    "text",
    [
        "p(9). p(d - 1) :- p(d), d > 0, NOT q(d). q(d - 1) :- p(d), e(d).",
        "derived p(x: int, d: int) stage d. p(x, d) :- q(x, d), NOT p(x, d + 1).",
        "base q(d: int). p(d) :- q(d), q(e), e > d, NOT p(e).",
        "p(9, 0). p(d - 1, n + d) :- p(d, n), d > 0, NOT q(d, n). q(d - 1, n) :- p(d, n), e(d).",
    ],
)
def test_stages_may_fall(text):
    found = component(text, "p")
    assert (found.kind, found.falling) == (Class.X, True)


@pytest.mark.parametrize(
    "text",
    [
        programs.WIN_MOVE,
        "p(x) :- q(x), NOT p(_).",
        "p(x, min<y>) :- p(y, x), q(x).",
        "p(i, j) :- cell(i, j), NOT p(i, j - 1), NOT p(j, i).",
    ],
)
def test_where_no_column_settles_it_facts_may(text):
    assert component(text, text[: text.index("(")]).kind is Class.L


def test_rule_that_never_fires_settles_anything():
    text = "derived p(d: int) stage d. p(d) :- q(d), q(e), d < e, e < d, NOT p(e)."
    assert component(text, "p").kind is Class.X


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from("abcdefg"), st.sets(st.sampled_from("abcdefg")), min_size=7, max_size=7))
def test_strong_parts_are_those_that_reach_each_other(needs):
    reach = {node: {node} for node in needs}
    for _ in needs:
        reach = {node: found | {far for near in found for far in needs[near]} for node, found in reach.items()}
    parts = strong_parts(needs, needs.__getitem__)
    for part in parts:
        assert all(
            set(part) == {other for other in needs if other in reach[one] and one in reach[other]} for one in part
        )
    settled = [node for part in parts for node in part]
    assert all(settled.index(far) < settled.index(node) or node in reach[far] for node in needs for far in reach[node])


def test_range_of_a_refusal_is_written_as_it_was():
    text = "derived p(x: int, d: int) stage d. base q(x: int). p(x, 0) :- q(x)."
    why = refusal(f"{text} p(y, d + 1) :- p(x, d), y in range(x, 10), NOT p(y, d).")
    assert "rule 2: range(x, 10) may be at a later stage than d, by any amount" in why
