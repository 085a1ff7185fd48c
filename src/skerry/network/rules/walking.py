"""Which rules are joined by walks across levels, and what has to be stored along levels for that."""

from collections.abc import Mapping, Sequence

from skerry.network.rules.crossings import find_crossings
from skerry.network.rules.distances import host_of
from skerry.network.rules.join_sites import count_links
from skerry.network.rules.node_program import NodeProgram, NodeRule, Schema
from skerry.network.rules.routes import Routes
from skerry.network.rules.survey import Survey
from skerry.network.topology.topology import Topology

__all__ = ["find_reach", "find_walking", "list_carried", "list_stored"]


def list_carried(rule: NodeRule, schemas: Mapping[str, Schema]) -> list[int]:
    """The subgoals whose tuples come and go, and have one home: all but links and what the program's text says."""
    own = [schemas[atom.predicate] for atom in rule.positives]
    return [index for index, each in enumerate(own) if each.link is None and each.known is None]


def list_stored(program: NodeProgram) -> frozenset[str]:
    """The predicates whose tuples walks ask for."""
    names = set[str]()
    for rule in program.rules:
        if rule.number in program.walking:
            carried = list_carried(rule, program.schemas)
            names |= {rule.positives[index].predicate for index in carried if len(carried) > 1}
            names |= {denial.atom.predicate for denial in rule.denials if len(carried) == 1}
    return frozenset(name for name in names if program.schemas[name].link is None)


def find_walking(program: NodeProgram, topology: Topology, routes: Sequence[Routes]) -> frozenset[int]:
    """The rules that join several tuples; and those of one whose claims stop at so many other motes that walks pay.

    A walk pays if it takes fewer messages, with storage, than to send each claim to its stop. If nothing blocks claims
    it may still cost more, since most then go on from the walk.
    """
    several = {rule.number for rule in program.rules if len(list_carried(rule, program.schemas)) > 1}
    single = [rule for rule in program.rules if _denies_elsewhere(rule, program)]
    if not single:
        return frozenset(several)
    survey, motes = Survey.of(routes), len(topology)
    chosen = set(several)
    for rule in single:
        crossings = find_crossings(topology, routes, find_reach(program, several | {rule.number}))
        stored = sum(len(each.relays) for each in crossings)
        walked = sum(routes[mote].hops[each.walk[0]] + len(each.walk) - 1 for mote, each in enumerate(crossings))
        if _count_direct(rule, program, survey) > (stored + walked) / motes:
            chosen.add(rule.number)
    return frozenset(chosen)


def find_reach(program: NodeProgram, walking: frozenset[int] | set[int]) -> int | None:
    """How far apart two tuples that walks bring together can be; None if nothing is known."""
    reach = 0
    for rule in (rule for rule in program.rules if rule.number in walking):
        met = list_carried(rule, program.schemas)
        met += [len(rule.positives)] if len(met) == 1 else []
        for one in met:
            for other in met:
                hops = program.nearness[rule.number][one][other] if one != other else 0
                if hops is None:
                    return None
                reach = max(reach, hops)
    return reach


def _denies_elsewhere(rule: NodeRule, program: NodeProgram) -> bool:
    carried = list_carried(rule, program.schemas)
    if len(carried) != 1 or not rule.denials:
        return False
    denied = rule.denials[0].atom
    schema = program.schemas[denied.predicate]
    home = host_of(rule.positives[carried[0]], program.schemas)
    return schema.link is None and schema.known is None and (home is None or home != host_of(denied, program.schemas))


def _count_direct(rule: NodeRule, program: NodeProgram, survey: Survey) -> float:
    """How many messages take the claims that follow from one tuple to where they stop first."""
    apart = program.nearness[rule.number][list_carried(rule, program.schemas)[0]][len(rule.positives)]
    return count_links(rule, program.schemas, survey) * survey.hops_within(apart)
