"""How far apart the tuples that a rule joins can be: what its links and the declared ranges say."""

from collections.abc import Iterable, Mapping, Sequence

from skerry.model.term import Constant, Variable
from skerry.network.rules.node_program import Schema
from skerry.plan.program import Atom, Comparison, Spatial, Subgoal

__all__ = ["Distances", "Spot", "host_of"]

Spot = Variable | Constant
"""A term that names a mote."""


def host_of(atom: Atom, schemas: Mapping[str, Schema]) -> Spot | None:
    """The term that names the home of an atom's tuples; None if they are hashed, or it is no plain term."""
    host = schemas[atom.predicate].host
    term = None if host is None else atom.arguments[host]
    return term if isinstance(term, Variable | Constant) else None


class Distances:
    """Upper bounds on the hops between the motes that the terms of a rule name.

    A link is at most as long as declared, and equal terms are one mote. ``spatial p ~ q within k hops`` bounds the
    homes of each pair of atoms of p and q. Bounds add up along the way.
    """

    def __init__(
        self,
        positives: Sequence[Atom],
        conditions: Iterable[Subgoal],
        schemas: Mapping[str, Schema],
        spatial: Iterable[Spatial],
    ) -> None:
        self._bounds: dict[Spot, dict[Spot, int]] = {}
        for atom in positives:
            link = schemas[atom.predicate].link
            if link is not None:
                self._bound(*atom.arguments, hops=link)
        for condition in conditions:
            if isinstance(condition, Comparison) and condition.operator == "=":
                self._bound(condition.left, condition.right, hops=0)
        for each in spatial:
            for one, other in _pair(positives, each):
                self._bound(host_of(one, schemas), host_of(other, schemas), hops=each.hops)

    def between(self, one: Spot | None, other: Spot | None) -> int | None:
        """How many hops two motes are apart at most; None if nothing is known."""
        if one is None or other is None:
            return None
        nearest, waiting = {one: 0}, {one}
        while waiting:
            here = min(waiting, key=nearest.__getitem__)
            waiting.remove(here)
            for there, hops in self._bounds.get(here, {}).items():
                if nearest[here] + hops < nearest.get(there, nearest[here] + hops + 1):
                    nearest[there] = nearest[here] + hops
                    waiting.add(there)
        return nearest.get(other)

    def _bound(self, *spots: object, hops: int) -> None:
        one, other = spots
        if isinstance(one, Variable | Constant) and isinstance(other, Variable | Constant):
            for here, there in ((one, other), (other, one)):
                known = self._bounds.setdefault(here, {})
                known[there] = min(hops, known.get(there, hops))


def _pair(atoms: Sequence[Atom], spatial: Spatial) -> Iterable[tuple[Atom, Atom]]:
    for index, one in enumerate(atoms):
        for other in atoms[index + 1 :]:
            if sorted((one.predicate, other.predicate)) == sorted((spatial.left, spatial.right)):
                yield one, other
