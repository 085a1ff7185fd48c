"""What a way to join needs in a network: its program with bounds on time, and what makes each mote's part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.broadcast import Broadcast
from skerry.network.rules.crossings import find_crossings, find_grid_columns
from skerry.network.rules.local import Local
from skerry.network.rules.node_program import NodeProgram, Schema, Timing
from skerry.network.rules.perpendicular import Perpendicular
from skerry.network.rules.routes import Routes
from skerry.network.rules.technique import Equipment, Technique
from skerry.network.rules.walking import find_reach, find_walking

__all__ = ["TECHNIQUES", "Installation", "bound_hop", "install"]

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
    hop_us, diameter = bound_hop(network.radio.settings), max((max(each.hops) for each in routes), default=0)
    topology, across_us = network.living_topology, diameter * hop_us
    hold_us, columns = _HOLD * network.radio.settings.most_delay_us, None
    window_us = max((_find_window(each, program) for each in program.schemas.values()), default=0)
    if strategy == "broadcast":
        technique: Callable[[Equipment], Technique] = Broadcast
        storage_us, journey_us, walking = across_us, 0, frozenset[int]()
    elif strategy == "local":
        technique, storage_us, walking = Local, 0, frozenset[int]()
        journey_us = (_count_subgoals(program) + 1) * across_us
        hold_us += 2 * across_us
    else:
        walking, columns = find_walking(program, topology, routes), find_grid_columns(topology)
        crossings = find_crossings(topology, routes, find_reach(program, walking))
        storage_us, walk_us = (
            (crossings[0].storage_hops * hop_us, crossings[0].walk_hops * hop_us) if crossings else (0, 0)
        )
        journey_us = walk_us + (_count_subgoals(program) + 1) * across_us
        hold_us += storage_us + walk_us + across_us

        def technique(equipment: Equipment) -> Technique:
            return Perpendicular(equipment, crossings[equipment.board.mote])

    stops = max((len(rule.denials) for rule in program.rules), default=0) + 1
    join_us = journey_us + stops * (across_us + hold_us)
    timing = Timing(network.most_skew_us, storage_us, join_us, window_us, hold_us, diameter, hop_us + 1)
    gathered = _find_gathered(program, strategy)
    return Installation(
        replace(program, timing=timing, walking=walking, gathered=gathered, grid_columns=columns), technique
    )


def _find_gathered(program: NodeProgram, strategy: str) -> frozenset[int]:
    """The rules with aggregates of which each derivation is claimed, and withdrawn, by one and the same mote.

    It is so in a broadcast, and where nothing is joined. What expires does so everywhere without a word, so it goes to
    the group's home at once; and within a stage nothing should come later than it must.
    """
    return frozenset(
        rule.number
        for rule in program.rules
        if rule.aggregates
        and (strategy == "broadcast" or len(rule.positives) < 2)
        and program.schemas[rule.head.predicate].stage is None
        and all(program.schemas[atom.predicate].span is None for atom in (rule.head, *rule.positives))
    )


def _count_subgoals(program: NodeProgram) -> int:
    return max((len(rule.positives) for rule in program.rules), default=0)


def _find_window(schema: Schema, program: NodeProgram) -> int:
    return 0 if schema.span is None else program.calendar.to_clock(program.calendar.origin + schema.span)


def bound_hop(settings: RadioSettings) -> int:
    """The longest that a hop may take."""
    longest = settings.most_delay_us * (1 + settings.retries)
    return longest * _HELD_BACK if settings.reordering else longest
