"""Rule programs in rounds over DataFrames give what the reference engine gives."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.errors import RuleLimit
from skerry.lang.rules import read
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
none(x) :- node(x), NOT edge(x, _), x != 'text'.
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
    return {name: ({tuple(row) for row in found[name].collect()}, set(reference.rows(name))) for name in found}


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
