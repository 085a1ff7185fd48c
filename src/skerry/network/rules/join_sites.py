"""Where each rule is joined, and how far tuples are replicated for that: whatever costs the fewest messages.

A rule is joined at a mote that one of its terms names. Tuples that live there, and links that touch it, are known
there; all others are flooded as far as they can be apart from it. So a result is found by whichever tuple comes last,
and needs no timing. Where no term names a mote, one subgoal's tuples stay at home and the others go everywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from skerry.model.term import Constant, Variable
from skerry.network.rules.distances import Distances, Spot, host_of
from skerry.network.rules.node_program import NodeRule, Schema, Site
from skerry.network.rules.survey import Survey
from skerry.plan.program import Atom, Spatial

__all__ = ["Layout", "count_links", "lay_out"]

_ROUNDS = 3
"""Sites share what is replicated, so each is chosen again when the others are known."""


@dataclass(frozen=True)
class Layout:
    """Rules with their sites, how far predicates are replicated, and an estimate of messages per tuple of each kind."""

    rules: tuple[NodeRule, ...]
    ranges: Mapping[str, int]
    cost: float


def lay_out(
    rules: Sequence[NodeRule], schemas: Mapping[str, Schema], spatial: Sequence[Spatial], survey: Survey
) -> Layout:
    """Choose sites for all rules."""
    asked = [_Options(rule, schemas, spatial, survey) for rule in rules]
    chosen = [min(each.sites, key=lambda site, each=each: each.price(site, {})) for each in asked]  # type: ignore[misc]
    for _ in range(_ROUNDS):
        for index, each in enumerate(asked):
            others = _ranges(asked, chosen, without=index)
            chosen[index] = min(each.sites, key=lambda site, each=each, others=others: each.price(site, others))  # type: ignore[misc]
    ranges = _ranges(asked, chosen)
    cost = sum(_flood(schemas[name], hops, survey) for name, hops in ranges.items())
    cost += sum(each.travel(site) for each, site in zip(asked, chosen, strict=True))
    placed = tuple(replace(rule, site=site) for rule, site in zip(rules, chosen, strict=True))
    return Layout(placed, ranges, cost)


def _ranges(asked: Sequence["_Options"], chosen: Sequence[Site], without: int | None = None) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, (each, site) in enumerate(zip(asked, chosen, strict=True)):
        if index != without:
            for name, hops in each.needs(site).items():
                found[name] = max(hops, found.get(name, 0))
    return found


def _flood(schema: Schema, hops: int, survey: Survey) -> float:
    """What it takes to flood a tuple; a mote has many links."""
    tuples = 1.0 if schema.link is None else survey.ball(schema.link) - 1.0
    return tuples * survey.flood(hops)


def count_links(rule: NodeRule, schemas: Mapping[str, Schema], survey: Survey) -> float:
    """With how many links, about, a rule joins each tuple: those of a mote, unless both ends are known."""
    links = (
        link
        for atom in rule.positives
        if (link := schemas[atom.predicate].link) and not any(isinstance(term, Constant) for term in atom.arguments)
    )
    return prod(max(survey.ball(link) - 1.0, 1.0) for link in links)


class _Options:
    """The sites that a rule could have, and what each would cost."""

    def __init__(
        self, rule: NodeRule, schemas: Mapping[str, Schema], spatial: Sequence[Spatial], survey: Survey
    ) -> None:
        self._rule, self._schemas, self._survey = rule, schemas, survey
        self._distances = Distances(rule.positives, rule.conditions, schemas, spatial)
        self.sites = list(dict.fromkeys(self._list_sites()))

    def needs(self, site: Site) -> dict[str, int]:
        """How far each predicate has to be replicated for a site."""
        found: dict[str, int] = {}
        for index, atom in enumerate(self._rule.positives):
            if self._schemas[atom.predicate].known is None and index != site.anchor:
                found[atom.predicate] = max(self._reach(atom, site), found.get(atom.predicate, 0))
        return found

    def travel(self, site: Site) -> float:
        """How many hops the results of a tuple make, by the homes of what is denied to the head's."""
        denied = [denial.atom for denial in self._rule.denials]
        stops = [site.term, *(host_of(atom, self._schemas) for atom in (*denied, self._rule.head))]
        return count_links(self._rule, self._schemas, self._survey) * sum(
            self._leg(one, other) for one, other in pairwise(stops)
        )

    def price(self, site: Site, others: Mapping[str, int]) -> float:
        """What a site adds to what other rules replicate anyway."""
        price = self.travel(site)
        for name, hops in self.needs(site).items():
            schema, before = self._schemas[name], others.get(name, 0)
            price += _flood(schema, max(hops, before), self._survey) - _flood(schema, before, self._survey)
        return price

    def _list_sites(self) -> Iterator[Site]:
        joined = [atom for atom in self._rule.positives if self._schemas[atom.predicate].known is None]
        if not joined:
            yield Site(None)
            return
        terms: list[object] = [host_of(atom, self._schemas) for atom in (self._rule.head, *joined)]
        terms += [term for atom in joined if self._schemas[atom.predicate].link for term in atom.arguments]
        yield from (Site(term) for term in terms if isinstance(term, Variable | Constant))
        for index, atom in enumerate(self._rule.positives):
            if self._schemas[atom.predicate].known is None and host_of(atom, self._schemas) is None:
                yield Site(None, index)

    def _reach(self, atom: Atom, site: Site) -> int:
        if site.term is None:
            return self._survey.motes
        if self._schemas[atom.predicate].link and site.term in atom.arguments:
            return 0
        hops = self._distances.between(host_of(atom, self._schemas), site.term)
        return self._survey.motes if hops is None else hops

    def _leg(self, one: Spot | None, other: Spot | None) -> float:
        hops = self._distances.between(one, other)
        return self._survey.mean_hops if hops is None else min(hops, self._survey.mean_hops)
