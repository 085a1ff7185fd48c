"""What the rewrites make of queries, as text: a title, a query, the plan that is run."""

from pathlib import Path

import pytest

from skerry.plan.node import Node
from skerry.plan.scan import Scan
from tests.plan.sharing.test_copies import plans

_, *BLOCKS = ("\n" + Path(__file__).with_name("rewrites.txt").read_text()).split("\n-- ")
FIXTURES = [block.strip().split("\n", 2) for block in BLOCKS]


def draw(node: Node, depth: int = 0) -> list[str]:
    """A plan as explain draws it, without the options of sources."""
    text = f"Scan {node.source.name}" if isinstance(node, Scan) else node.describe()
    return ["  " * depth + text, *(line for each in node.inputs for line in draw(each, depth + 1))]


@pytest.mark.parametrize(("title", "query", "expected"), FIXTURES, ids=[fixture[0] for fixture in FIXTURES])
def test_plans_are_rewritten_as_the_text_says(title, query, expected):
    [plan] = plans(f"v AS {query}")
    assert "\n".join(draw(plan.root)) == expected
