"""Which way to join takes the fewest messages: each is tried in a simulation of its own, with other delays and losses.

All go on together: the one that has sent the least so far goes on for a moment, again and again. The first that comes
to its end is the best, for all others have sent as much already, and are broken off. So a rehearsal sends about as many
messages as there are ways, times those of the best one, however dear the others are.
"""

from collections.abc import Sequence

from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.network.network import Network
from skerry.network.rules.install import TECHNIQUES, install
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.routes import Routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.plan.program import Checked

__all__ = ["Estimates", "rehearse"]

Estimates = dict[str, float]
"""By strategy, how many messages it takes; infinite where it was broken off."""


def rehearse(
    program: NodeProgram,
    checked: Checked,
    facts: Facts,
    network: Network,
    routes: Sequence[Routes],
    calls: Calls,
    order: str,
    seed: int,
) -> Estimates:
    """Try every way to join on the topology of a network, which itself is left alone."""
    trials: dict[str, RuleNetwork] = {}
    for strategy in TECHNIQUES:
        trial = Network(network.topology, network.radio.settings, seed + 1, network.most_skew_us)
        trials[strategy] = RuleNetwork(trial, routes, install(strategy, program, trial, routes), calls, order)
        trials[strategy].begin(checked, facts)
    while True:
        best = min(trials, key=lambda strategy: trials[strategy].network.radio.tally.total)
        next_time = trials[best].network.simulation.next_time
        if next_time is None:
            return {name: trials[best].network.radio.tally.total if name == best else float("inf") for name in trials}
        trials[best].go_on(next_time + network.radio.settings.most_delay_us)
