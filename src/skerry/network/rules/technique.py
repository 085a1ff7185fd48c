"""What the ways to join have in common: each is given what a mote's component has, and hands derivations to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from skerry.network.mote import Board
from skerry.network.rules.claims import Claim
from skerry.network.rules.join import Found, Join
from skerry.network.rules.memory import Memory
from skerry.network.rules.node_program import NodeProgram, NodeRule
from skerry.network.rules.plans import Plan
from skerry.network.rules.routes import Routes
from skerry.network.rules.store import Store, Stored

__all__ = ["Claims", "Equipment", "Technique"]


class Claims(Protocol):
    """Whoever takes derivations to their homes."""

    def make(self, rule: NodeRule, found: Found) -> Claim | None:
        """What follows from joined tuples, if anything does."""

    def send(self, claim: Claim, comes_back: bool = False) -> None:
        """Have a claim heard where it stops next; ``comes_back``: its withdrawal is sure to be sent from here too."""


@dataclass(frozen=True)
class Equipment:
    """All that a technique can use on its mote."""

    board: Board
    program: NodeProgram
    plans: Mapping[str | None, tuple[Plan, ...]]
    routes: Routes
    store: Store
    join: Join
    claims: Claims
    memory: Memory


class Technique(Protocol):
    """A way to join: broadcast, local or perpendicular."""

    def insert(self, stored: Stored) -> None:
        """A tuple that lives here has come to hold."""

    def drop(self, stored: Stored, has_expired: bool) -> None:
        """A tuple that lives here holds no more. One that has expired does so everywhere without a word."""

    def receive(self, topic: str, content: tuple[Any, ...]) -> None:
        """A message that the technique has sent on another mote."""
