import pytest

from skerry.deduce.describe import describe, list_doubtful_bases
from tests.deduce.checks.programs import LOGIC_J, SPREAD, check_text


def test_program_is_described():
    assert describe(
        check_text(LOGIC_J + "far(y) :- J(y, 9), NOT hidden(y, _). output far mode changes to 'alarms'.")
    ) == (
        """\
base G(x: node, y: node)
base hidden(y: any, c2: any)
derived H(x: node, y: node, d: int) limit d <= 64
derived J(y: node, d: int)
derived H'(y: node, d: int)
derived far(y: node)
derived $hidden1(y: any)

stratum 0, class X (recursive, settled stage by stage):
  H' before H before J; rules 1, 2, 3, 4, 5
  stages: H'.d, H.d, J.d
stratum 0, class N (not recursive):
  $hidden1; rule 7
stratum 1, class N (not recursive):
  far; rule 6

output far mode changes to alarms"""
    )


def test_stages_with_recursion_inside_are_described():
    text = describe(check_text(SPREAD))
    assert (
        "class Y (by stages, with positive recursion inside a stage):\n  gas before vented; rules 1, 2, 3, 4\n" in text
    )


def test_spatial_ranges_are_said_to_have_no_effect():
    program = "base p(a: int). derived q(a: int). q(x) :- p(x). output q. spatial p ~ p within 2 hops."
    assert "spatial p ~ p within 2 hops: in a network alone" in describe(check_text(program))


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("reach(x, y) :- link(x, y). reach(x, z) :- reach(x, y), link(y, z).", []),
        ("base link(x: int, y: int). reach(x, y) :- link(x, y), up(x).", ["line 1, column 55, rule 1: no rule"]),
        (
            "p(x) :- link(x). q(x) :- link(x), lnik(x).",
            ["line 1, column 35, rule 2: no rule derives 'lnik', so its facts have to be in lnik.csv or lnik.facts; "
             "did you mean 'link'?"],
        ),
    ],
)  # fmt: skip
def test_base_that_was_hardly_meant_to_be_one_is_doubted(text, warnings):
    found = list(list_doubtful_bases(check_text(text)))
    assert [line[: len(warning)] for line, warning in zip(found, warnings, strict=True)] == warnings
