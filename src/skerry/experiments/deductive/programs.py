"""The paper's two rule programs for the tree of shortest paths, for a grid and its root."""

from skerry.deduce.checks import check
from skerry.lang.rules import read
from skerry.plan.program import Checked

__all__ = ["PROGRAMS", "write_program"]

_DECLARED = """const A = {root}.
base G(x: node, y: node) {link}.
derived H(x: node, y: node, d: int) host y stage d limit d <= {limit}.
H(A, A, 0).
H(A, x, 1) :- G(A, x).
"""
_RULES = {
    "logicH": """H'(y, d+1) :- H(_, y, d'), (d+1) > d', H(_, x, d), G(x, y).
H(x, y, d+1) :- G(x, y), H(_, x, d), NOT H'(y, d+1).
output H.
""",
    "logicJ": """J(y, d) :- H(x, y, d).
H'(y, d+1) :- J(y, d'), (d+1) > d', J(x, d), G(x, y).
H(x, y, d+1) :- G(x, y), J(x, d), NOT H'(y, d+1).
output H.
""",
}
PROGRAMS = tuple(_RULES)


def write_program(name: str, root: int, diameter: int, transitive_factor: int = 1) -> Checked:
    """A program, checked. Stages end at the diameter, as the paper says; an edge is a path of up to so many hops.

    >>> write_program("logicJ", root=24, diameter=12).predicates["H"].limits
    {2: 12}
    """
    link = "link" if transitive_factor == 1 else f"link within {transitive_factor} hops"
    declared = _DECLARED.format(root=root, link=link, limit=diameter)
    return check(read(declared + _RULES[name]))
