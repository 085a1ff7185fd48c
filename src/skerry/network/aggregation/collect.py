"""Aggregates of a whole network: over a tree (TAG), or over the rings around a root (synopsis diffusion)."""

from collections.abc import Callable
from typing import Any

from skerry.network.aggregation.aggregates import Aggregate, find_aggregate
from skerry.network.aggregation.program import AggregateProgram, Answer
from skerry.network.aggregation.slots import plan_slots
from skerry.network.aggregation.synopses import make_synopsis
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.routing.tree import Tree

__all__ = ["collect_over_rings", "collect_over_tree"]

Samples = Callable[[int, int], tuple[Any, int | float] | None]
"""What a mote senses in an epoch: a group and a value, or nothing."""


def collect_over_tree(network: Network, tree: Tree, name: str, samples: Samples, epochs: int = 1) -> list[Answer]:
    """An exact aggregate per epoch: one transmission per mote that has something to say. A loss costs a subtree.

    >>> from skerry.network.routing.tree import find_tree
    >>> from skerry.network.topology.grid import make_grid
    >>> network = Network(make_grid(3, 3))
    >>> collect_over_tree(network, find_tree(network.topology, 4), "sum", lambda mote, epoch: ((), mote + epoch), 2)
    [{(): 36}, {(): 45}]
    """
    return _collect(network, tree, find_aggregate(name), samples, epochs, uses_rings=False)


def collect_over_rings(
    network: Network, tree: Tree, name: str, samples: Samples, epochs: int = 1, registers: int = 64
) -> list[Answer]:
    """An aggregate that is robust to loss: everybody of the next ring takes what it hears, one broadcast per mote.

    ``min`` and ``max`` are exact without loss, ``count``, ``sum`` and ``avg`` estimates (``standard_error``).
    """
    return _collect(network, tree, make_synopsis(name, registers), samples, epochs, uses_rings=True)


def _collect(
    network: Network, tree: Tree, aggregate: Aggregate, samples: Samples, epochs: int, uses_rings: bool
) -> list[Answer]:
    slots = plan_slots(network, max(tree.depths))

    def make(board: Board) -> AggregateProgram:
        mote = board.mote
        parent = None if uses_rings else tree.parents[mote]
        return AggregateProgram(board, aggregate, slots, tree.depths[mote], parent, lambda epoch: samples(mote, epoch))

    programs = network.install(make)
    for mote, program in enumerate(programs):
        if tree.depths[mote] >= 0 and program.board.is_alive:
            program.start(epochs)
    network.simulation.run()
    answers = programs[tree.root].answers
    return [answers.get(epoch, {}) for epoch in range(epochs)]
