"""Which way to join takes the fewest messages: each is tried in simulations of its own, with other delays and losses.

All go on together: the one that has sent the least so far goes on for a moment, again and again; one that has come to
its end begins once more, with the next seed. When the cheapest is known well enough, the others are broken off: each
has sent as much as the cheapest in all its runs. So rehearsals send at most about as many messages as there are ways,
times those of all runs of the best one, however dear the others are.
"""

from collections.abc import Callable, Sequence
from math import inf, sqrt
from statistics import fmean, stdev

from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.network.link_changes import LinkChange, schedule_changes
from skerry.network.network import Network
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.routes import Routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.plan.program import Checked

__all__ = ["Estimates", "rehearse"]

Estimates = dict[str, float]
"""By strategy, how many messages it takes on average; infinite where it was broken off before it came to an end."""

_PRECISE = 0.05
"""A mean is known well enough if its standard error is at most this share of it: it is within twice that, mostly."""

_LEAST_RUNS, _LEAST_LOSSY_RUNS, _MOST_RUNS = 2, 3, 16
"""A second run shows whether delays matter. A third one of a lossy network, that two were not alike by chance."""


def rehearse(
    program: NodeProgram,
    checked: Checked,
    facts: Facts,
    network: Network,
    routes: Sequence[Routes],
    calls: Calls,
    order: str,
    seed: int,
    changes: Sequence[LinkChange] = (),
) -> Estimates:
    """Try every way to join on the topology of a network, which itself is left alone."""

    def begin(strategy: str, run: int) -> RuleNetwork:
        trial = Network(network.topology, network.radio.settings, seed + 1 + run, network.most_skew_us)
        motes = RuleNetwork(trial, routes, strategy, program, calls, order)
        schedule_changes(trial, changes)
        motes.begin(checked, facts)
        return motes

    losses = (network.radio.settings.loss, *network.topology.losses.values())
    trials = [_Trial(strategy, begin) for strategy in TECHNIQUES]
    while True:
        best = min(trials, key=lambda trial: trial.sent)
        if not best.go_on():
            if best.is_known(_LEAST_LOSSY_RUNS if any(losses) else _LEAST_RUNS):
                return {trial.strategy: trial.mean for trial in trials}
            best.begin()


class _Trial:
    """One way to join: the run that is going on, and what those took that have come to an end."""

    def __init__(self, strategy: str, begin: Callable[[str, int], RuleNetwork]) -> None:
        self.strategy, self._begin = strategy, begin
        self._taken: list[int] = []
        self.begin()

    @property
    def sent(self) -> int:
        """Messages of all runs so far."""
        return sum(self._taken) + (0 if self._motes is None else self._motes.network.radio.tally.total)

    @property
    def mean(self) -> float:
        """Messages per run, of those that came to an end."""
        return fmean(self._taken) if self._taken else inf

    def begin(self) -> None:
        """Begin a run, with a seed of its own."""
        self._motes: RuleNetwork | None = self._begin(self.strategy, len(self._taken))

    def go_on(self) -> bool:
        """Go on for a moment; False if the run has come to its end."""
        assert self._motes is not None
        network = self._motes.network
        if network.simulation.next_time is not None:
            self._motes.go_on(network.simulation.next_time + network.radio.settings.most_delay_us)
            return True
        self._taken.append(network.radio.tally.total)
        self._motes = None
        return False

    def is_known(self, least_runs: int) -> bool:
        """Whether more runs would hardly change the mean."""
        runs = len(self._taken)
        if runs < least_runs:
            return False
        return runs >= _MOST_RUNS or stdev(self._taken) / sqrt(runs) <= _PRECISE * self.mean
