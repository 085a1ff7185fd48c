"""Proofs of what holds, and where the rules fail for what does not."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.deduce.why import Why
from skerry.errors import InputError
from skerry.lang.rules import read
from skerry.lang.rules.question import list_texts, read_question
from skerry.testing.reference_rules import Reference
from tests.deduce.generator import program

PATHS = """path(x,y) :- edge(x,y).
path(x,z) :- path(x,y), edge(y,z), NOT blocked(z, _).
far(x, count<*>) :- path(x, _).
derived step(x: int, d: int) limit d <= 2.
step(1, 0).
step(y, d + 1) :- step(x, d), edge(x, y).
near(x) :- step(x, d), d * 2 < 3.
"""
FACTS = {"edge": [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5)], "blocked": [(4, 9)]}


def explain(question, text=PATHS, facts=FACTS, engine=Reference):
    checked = check(read(text))
    builtins = Builtins(checked.program.functions)
    running = engine(checked, builtins)
    running.tick(None, {name: rows for name, rows in facts.items() if name in checked.predicates}, {})
    return Why(checked, running.rows, builtins).explain(read_question(question, checked)).splitlines()


@pytest.mark.parametrize("engine", [Reference, Engine])
def test_proof_is_a_tree_without_cycles(engine):
    assert explain("path(1,1)", engine=engine) == [
        "path(1, 1)  by rule 2: path(x,z) :- path(x,y), edge(y,z), NOT blocked(z, _).",
        "  path(1, 3)  by rule 2: path(x,z) :- path(x,y), edge(y,z), NOT blocked(z, _).",
        "    path(1, 2)  by rule 1: path(x,y) :- edge(x,y).",
        "      edge(1, 2)  a fact",
        "    edge(2, 3)  a fact",
        "    NOT blocked(3, _)",
        "  edge(3, 1)  a fact",
        "  NOT blocked(1, _)",
    ]


def test_fact_is_its_own_proof():
    assert explain("edge(1,2)") == ["edge(1, 2)  a fact"]
    assert explain("step(1,0)") == ["step(1, 0)  a fact of the program, rule 4"]


def test_every_tuple_that_fits_is_proved_up_to_some():
    proofs = [line for line in explain("path(x, _)") if not line.startswith(" ")]
    assert [line.split("  ")[0] for line in proofs] == [
        f"path({pair})" for pair in ("1, 1", "1, 2", "1, 3", "2, 1", "2, 2")
    ] + ["and 7 more"]


def test_aggregate_tells_what_it_gathers():
    lines = explain("far(4, 1)")
    assert lines[:2] == ["far(4, 1)  by rule 3: far(x, count<*>) :- path(x, _).", "  gathered from 1 contribution"]
    assert lines[2].startswith("  path(4, 5)  by rule 1")


def test_blocking_tuple_is_named():
    assert explain("path(1,4)")[-1] == "    blocked by blocked(4, 9)"


def test_subgoal_that_nothing_fits_is_named_with_its_values():
    assert explain("path(5, 1)") == [
        "path(5, 1) does not hold",
        "  rule 1: path(x,y) :- edge(x,y).",
        "    no tuple fits edge(5, 1)",
        "  rule 2: path(x,z) :- path(x,y), edge(y,z), NOT blocked(z, _).",
        "    no tuple fits path(5, 3)",
    ]


def test_comparison_that_is_false_is_named():
    assert explain("near(3)")[-1] == "    false: 2 * 2 < 3"


def test_aggregate_tells_what_it_gives_instead():
    assert explain("far(4, 7)")[-1] == "    it gives far(4, 1)"


def test_limit_that_cuts_a_tuple_off_is_reported():
    assert explain("step(1, 3)")[-1] == "    its body holds; a limit cuts the tuple off"


def test_head_that_does_not_fit_is_reported():
    assert explain("step(2, 0)")[2] == "    its head step(1, 0) does not fit"


def test_missing_fact_is_reported():
    assert explain("edge(7, _)") == ["edge(7, _) does not hold", "  there is no such fact"]


def test_built_in_is_named_with_its_values():
    text = """base at(x: int, p: point). builtin function dist(point, point): float = "geo:dist".
    pair(x, y) :- at(x, p), at(y, q), dist(p, q) < 5."""
    lines = explain("pair(1, 2)", text, {"at": [(1, (0.0, 0.0)), (2, (9.0, 0.0))]})
    assert lines[-1] == "    false: dist([0.0, 0.0], [9.0, 0.0]) < 5, that is 9.0 < 5"


def test_lists_are_taken_apart():
    text = "derived walk(p: list) limit p <= 3. walk([x]) :- edge(x, _). walk([p|x, y]) :- walk([p|x]), edge(x, y)."
    assert [line.strip().split("  ")[0] for line in explain("walk([1, 2, 3])", text)] == [
        "walk([1, 2, 3])",
        "walk([1, 2])",
        "walk([1])",
        "edge(1, 2)",
        "edge(1, 2)",
        "edge(2, 3)",
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("path(1", "cannot read the question 'path\\(1'"),
        ("path(1)", "'path' has 2 arguments, got 1"),
        ("pat(1, 2)", "there is no predicate 'pat'; the program has blocked, edge, far, near, path, step"),
        ("path(1, 2), path(2, 3)", "a question is one atom"),
        ("NOT path(1, 2)", "a question is one atom"),
        ("step('a', 2)", "'x' is of type int"),
        ("path(x + 1, 2)", "'x' is asked for with arithmetic"),
    ],
)
def test_wrong_question_is_reported(question, message):
    with pytest.raises(InputError, match=message):
        explain(question)


def test_all_that_holds_is_proved_and_nothing_else():
    """A proof of a derived tuple ends in facts; what does not hold has none."""
    for seed in range(12):
        generated = program(seed)
        checked, builtins = generated.checked, Builtins({})
        running = Reference(checked, builtins)
        for tick in generated.ticks:
            running.tick(tick.now, tick.inserts, tick.deletes)
        why = Why(checked, running.rows, builtins)
        for name, predicate in checked.predicates.items():
            if name.startswith("$"):
                continue
            lines = why.explain(read_question(f"{name}({', '.join('_' * predicate.arity)})", checked)).splitlines()
            assert ("does not hold" in lines[0]) == (not running.rows(name)), generated.text
            if not predicate.base and running.rows(name):
                assert "by rule" in lines[0] or "a fact of the program" in lines[0], generated.text


@pytest.mark.parametrize("engine", [Reference, Engine])
def test_least_and_greatest_are_proved_by_what_they_come_from(engine):
    facts = {"bid": [(f"w{number}", 7 * number % 2_003) for number in range(2_003)]}
    text = "base bid(who: string, price: int). top(max<p>) :- bid(_, p). both(min<p>, max<p>) :- bid(_, p)."
    proof = explain("top(x)", text, facts, engine)
    assert proof[:3] == [
        "top(2002)  by rule 1: top(max<p>) :- bid(_, p).",
        "  gathered from 2003 contributions",
        "  bid('w286', 2002)  a fact",
    ]
    assert explain("top(x)", text, facts, engine) == proof
    assert explain("both(x, y)", text, facts, engine)[2:4] == ["  bid('w0', 0)  a fact", "  bid('w286', 2002)  a fact"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("p(3, 7)", "false: 5 + 1 is 6, not 7"),
        ("p(4, 7)", "no tuple fits q(4, n)"),
        ("r([3, 7])", "false: 5 * 2 is 10, not 7"),
    ],
)
def test_argument_that_is_computed_is_told_with_what_it_is(question, reason):
    text = "base q(x: int, n: int). p(x, n + 1) :- q(x, n). r([x, n * 2]) :- q(x, n)."
    assert explain(question, text, {"q": [(3, 5)]})[-1].strip() == reason


def test_the_attempt_that_is_told_gives_the_tuple_that_is_asked_for():
    text = "base c(x: int, v: int). high(x, v * 2 + 1) :- c(x, v), v > 3."
    assert explain("high(1, 7)", text, {"c": [(1, 3), (1, 9)]})[-1] == "    false: 3 > 3"


def test_bare_word_that_is_a_known_text_is_no_variable():
    checked = check(read("base link(x: node, y: node). up('hub'). reach(x, y) :- link(x, y)."))
    texts = list_texts(checked, {"link": [("a", "b"), (1, "b")]})
    assert texts == {"a", "b", "hub"}
    assert read_question("reach(a, y)", checked, texts=texts) == read_question("reach('a', y)", checked)
    assert read_question("reach(c, y)", checked, texts=texts) == read_question("reach(c, y)", checked)


def test_range_is_told_where_it_fails():
    text = "base q(a: int, b: int). p(a, x) :- q(a, b), x in range(a, b)."
    assert explain("p(5, 8)", text, {"q": [(5, 9)]})[1:] == ["  q(5, 9)  a fact"]
    assert explain("p(5, 9)", text, {"q": [(5, 9)]})[-1].strip() == "the range from 5 to 9 has no such number"
