from skerry.deduce.describe import describe
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
    assert "spatial p ~ p within 2 hops: read, but without effect" in describe(check_text(program))
