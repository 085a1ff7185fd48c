"""The kernels that joins need, as ``pipeline.precompile`` names them."""

from collections.abc import Iterator

from skerry.plan.join import Join
from skerry.plan.outer_join import OuterJoin

__all__ = ["SHEDDING", "name_join_kernels"]

SHEDDING = "shedding by "
"""What the name of a policy's kernels begins with."""


def name_join_kernels(node: Join | OuterJoin) -> Iterator[str]:
    """The kernels of the technique, and of the policy if it sheds."""
    yield "snjoin"
    if node.technique != "snjoin":
        yield "other techniques"
    if node.shedding:
        yield SHEDDING + node.shedding.policy
