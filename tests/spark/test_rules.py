"""Rule programs in rounds over DataFrames give what the reference engine gives."""

import pytest
from pyspark.errors import PySparkException

from skerry.deduce.builtins import Builtins
from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.errors import RuleLimit
from skerry.lang.rules import read
from skerry.plan.program import Class
from skerry.spark.rules import buckets as buckets_module
from skerry.spark.rules import semi_naive
from skerry.spark.rules.derive_files import find_run_obstacle
from skerry.spark.rules.pivots import find_pivot
from skerry.spark.rules.semi_naive import compute_model
from skerry.spark.rules.supported import find_obstacle, infer_from_facts, schema_of
from skerry.spark.session import session
from skerry.testing.reference_rules import Reference
from tests.deduce.generator import program

pytestmark = pytest.mark.spark

ROADS = """
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
apart(x, y) :- node(x), node(y), x < y, NOT path(x, y), NOT path(y, x).
busy(x, count<*>, max<y>, count_distinct<y>) :- edge(x, y).
odd(x, d) :- edge(x, y), d = (0 - x - y) // 2, d % 3 = 1.
total(sum<w>, avg<w>, var<w>) :- weight(_, w).
each(x, w / x) :- weight(x, w).
own('here', x) :- edge(x, x).
none(x) :- node(x), NOT edge(x, _), x != 7.
forth(0) :- node(0).
back(y) :- forth(x), edge(x, y).
forth(y) :- back(x), edge(x, y).
"""
EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 4), (5, -7)]
FACTS = {"edge": EDGES, "node": [(n,) for n in range(-7, 8)], "weight": [(n, 0.1 * n) for n in range(5)]}


def derive_both(text, facts):
    """What the frames hold, and what the reference says, by predicate."""
    checked = infer_from_facts(check(read(text)), facts)
    assert find_obstacle(checked) is None
    spark = session("local[2]")
    frames = {name: spark.createDataFrame(rows, schema_of(checked, name)) for name, rows in facts.items()}
    found = compute_model(spark, checked, frames)
    reference = Reference(checked, Builtins({}))
    reference.tick(None, facts, {})
    return {
        name: ({tuple(row) for row in each.frame.collect()}, set(reference.rows(name))) for name, each in found.items()
    }


def test_rounds_agree_with_the_reference():
    found = derive_both(ROADS, FACTS)
    for name, (given, expected) in found.items():
        assert given == expected, name
    assert found["forth"][0] == {(0,), (1,), (2,)}


@pytest.mark.parametrize("seed", [64, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (15, 25, 28))])
def test_random_programs_agree_with_the_reference(seed):
    generated = program(seed, "NNS")
    facts = {name: [] for name, each in generated.checked.predicates.items() if each.base}
    for tick in generated.ticks:
        for name, rows in tick.inserts.items():
            facts[name] += [row for row in rows if row not in facts[name]]
    for name, (given, expected) in derive_both(generated.text, facts).items():
        assert given == expected, name


GRID = [(x, x + step) for x in range(64) for step in (1, 8) if step == 8 or x % 8 < 7]
GRID = [(x, y) for x, y in GRID if y < 64]
NAMES = {number: f"{chr(97 + number % 7)}{number:02}" for number in range(64)}


@pytest.mark.parametrize(
    ("rule", "edges"),
    [
        ("path(a, c) :- path(a, b), edge(b, c), NOT closed(c).", GRID),
        ("path(a, c) :- edge(a, b), path(b, c), NOT closed(a).", GRID),
        ("path(a, c) :- path(a, b), edge(b, c), NOT closed(c).", [(NAMES[x], NAMES[y]) for x, y in GRID]),
    ],
    ids=["first column", "second column", "texts"],
)
def test_a_recursion_with_a_pivot_is_settled_in_buckets(monkeypatch, rule, edges):
    monkeypatch.setattr(buckets_module, "_TUPLES_PER_BUCKET", 1_000)
    monkeypatch.setattr(semi_naive._Rounds, "_recursive", None)
    text = f"path(a, b) :- edge(a, b). {rule} far(a, count<*>) :- path(a, _)."
    found = derive_both(text, {"edge": edges, "closed": [(edges[40][0],)]})
    for name, (given, expected) in found.items():
        assert given == expected, name


def test_a_bucket_too_large_for_a_worker_is_settled_in_rounds(monkeypatch):
    def refuse(*_):
        raise PySparkException('RuntimeError: skerry-limit ["MemoryLimit", "too large", "", null, "E401"]')

    monkeypatch.setattr(buckets_module.Buckets, "derive", refuse)
    text = "path(a, b) :- edge(a, b). path(a, c) :- path(a, b), edge(b, c)."
    given, expected = derive_both(text, {"edge": EDGES})["path"]
    assert given == expected


def test_a_limit_that_a_worker_reaches_is_told():
    text = "derived p(a: int, n: int) limit n <= 9223372036854775807. p(a, n) :- s(a, n). p(a, n + n) :- p(a, n)."
    with pytest.raises(RuleLimit, match=r"E401 rule 2: 4611686018427387904 \+ 4611686018427387904 does not fit"):
        derive_both(text, {"s": [(1, 1)]})


@pytest.mark.parametrize("rule", ["path(a, b), edge(b, c)", "path(a, b), path(b, c)"], ids=["buckets", "rounds"])
def test_only_limits_that_are_set_count(rule):
    text = f"path(a, b) :- edge(a, b). path(a, c) :- {rule}."
    with pytest.raises(RuleLimit, match=r"'path' has more than 5 tuples; .*--max-tuples N"):
        derive_both(f"{text} limit tuples 5.", {"edge": EDGES})
    with pytest.raises(RuleLimit, match="takes more than 1e-09 seconds"):
        derive_both(f"{text} limit seconds 1e-9.", {"edge": EDGES})


@pytest.mark.parametrize(
    ("text", "pivot"),
    [
        ("p(a, b) :- e(a, b). p(a, c) :- p(a, b), e(b, c).", 0),
        ("p(a, b) :- e(a, b). p(a, c) :- p(a, b), p(b, c).", None),
        ("p(a, b) :- e(a, b). p(b, a) :- p(a, b).", None),
        ("p(a, b, 0) :- e(a, b). p(a, c, n) :- p(a, b, n), e(b, c).", 0),
        ("p(a, b) :- e(a, b). p(1, c) :- p(1, b), e(b, c).", None),
        ("p(a, b) :- e(a, b). q(a, b) :- p(a, b). p(a, b) :- q(a, b).", None),
    ],
)
def test_a_pivot_is_handed_on_by_every_rule(text, pivot):
    [component] = [each for each in check(read(text)).components if each.kind == Class.S]
    assert find_pivot(component) == pivot


def test_a_sum_beyond_64_bits_stops_the_program():
    with pytest.raises(RuleLimit, match="64 bits"):
        derive_both("double(x * 2) :- n(x).", {"n": [(2**62,)]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p([x]) :- n(x).", "list"),
        (
            "derived h(x: int, d: int) stage d limit d <= 9. h(x, 0) :- n(x). h(x, d + 1) :- h(x, d), NOT h(x, d).",
            "stage",
        ),
        ('builtin function f(int): int = "geo:f". p(f(x)) :- n(x).', "built-in"),
    ],
)
def test_what_frames_cannot_do_is_said(text, message):
    assert message in find_obstacle(infer_from_facts(check(read(text)), {"n": [(1,)]}))


def test_facts_that_can_never_match_are_run_in_one_process():
    checked = check(read("base q(x: node). base r(x: node). base s(x: node). both(x) :- q(x), r(x). any(x) :- s(x)."))
    ticks = [Tick(None, {"q": [(1,)], "r": [("a",)], "s": [(2,)]}, {})]
    assert str(find_run_obstacle(checked, ticks)).startswith("values of its facts can never match: E110 ")
    assert find_run_obstacle(checked, [Tick(None, {"q": [(1,)], "r": [(2,)], "s": [("a",)]}, {})]) is None


def test_whole_numbers_do_not_become_floats_for_what_facts_hold():
    rules = "base q(x: any). base r(x: any). base s(x: int). base t(x: float). both(x) :- {}."
    ticks = [Tick(None, {"q": [(1,)], "r": [(1.0,)], "s": [(1,)], "t": [(1.0,)]}, {})]
    found = {
        body: find_run_obstacle(check(read(rules.format(body))), ticks)
        for body in ("q(x), r(x)", "q(x), t(x)", "q(x), x = y, r(y)", "s(x), t(x)", "q(x), s(x)", "r(x), t(x), q(_)")
    }
    mixed = "is a whole number in some facts, and a float in others"
    assert [str(said).endswith(mixed) for said in found.values()] == [True] * 3 + [False] * 3
