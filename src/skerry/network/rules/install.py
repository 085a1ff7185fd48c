"""What a way to join needs on a field: its program with bounds on time, and what makes each mote's part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.broadcast import Broadcast
from skerry.network.rules.crossings import find_crossings, find_grid_columns
from skerry.network.rules.local import Local
from skerry.network.rules.node_program import NodeProgram, Timing
from skerry.network.rules.perpendicular import Perpendicular
from skerry.network.rules.routes import Routes
from skerry.network.rules.technique import Equipment, Technique

__all__ = ["TECHNIQUES", "Installation", "find_reach", "install"]

TECHNIQUES = ("broadcast", "local", "perpendicular")

_HOLD = 5
"""In stage order a mote holds what it learns for so many of the longest delays of a hop, and while a join takes."""

_HELD_BACK = 11
"""A radio that reorders takes up to so many times as long."""


@dataclass(frozen=True)
class Installation:
    """A program, and what joins it on a mote."""

    program: NodeProgram
    technique: Callable[[Equipment], Technique]


def install(strategy: str, program: NodeProgram, network: Network, routes: Sequence[Routes]) -> Installation:
    """Prepare a way to join on a network."""
    hop_us, diameter = _bound_hop(network.radio.settings), max((max(each.hops) for each in routes), default=0)
    timing = Timing(skew_us=network.most_skew_us, hold_us=_HOLD * network.radio.settings.most_delay_us)
    if strategy == "broadcast":
        return Installation(replace(program, timing=timing), Broadcast)
    if strategy == "local":
        timing = replace(timing, hold_us=timing.hold_us + 2 * diameter * hop_us)
        return Installation(replace(program, timing=timing), Local)
    crossings = find_crossings(network.topology, routes, find_reach(program))
    storage_us = crossings[0].storage_hops * hop_us if crossings else 0
    journey_us = storage_us + (crossings[0].walk_hops + diameter) * hop_us if crossings else 0
    timing = replace(timing, storage_us=storage_us, hold_us=timing.hold_us + journey_us)
    columns = find_grid_columns(network.topology)
    prepared = replace(program, timing=timing, grid_columns=columns)
    return Installation(prepared, lambda equipment: Perpendicular(equipment, crossings[equipment.board.mote]))


def find_reach(program: NodeProgram) -> int | None:
    """How far apart two tuples that a rule joins can be; None if nothing is known. Links are known at both ends."""
    reach = 0
    for rule in program.rules:
        schemas = [program.schemas[atom.predicate] for atom in rule.positives]
        carried = [index for index, each in enumerate(schemas) if each.link is None and each.known is None]
        for one in carried:
            for other in carried:
                hops = program.nearness[rule.number][one][other] if one != other else 0
                if hops is None:
                    return None
                reach = max(reach, hops)
    return reach


def _bound_hop(settings: RadioSettings) -> int:
    """The longest that a hop may take."""
    longest = settings.most_delay_us * (1 + settings.retries)
    return longest * _HELD_BACK if settings.reordering else longest
