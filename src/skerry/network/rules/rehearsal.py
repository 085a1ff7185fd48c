"""Which way to join takes the fewest messages: each is tried in simulations of its own, with other delays and losses.

All go on together: the one that has sent the least so far goes on for a moment, again and again; one that has come to
its end begins once more, with the next seed, until its mean is known. When the mean of the cheapest is, the others are
broken off: each has sent as much as the cheapest in all its runs. So rehearsals send at most about as many messages as
there are ways, times those of all runs of the best one, however dear the others are.
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

_PRECISE = 0.1
"""A mean is known well enough if it is within this share of the true one, at a confidence of 95 %."""

_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)
"""Student's t for 95 %, by degrees of freedom from 1 on: few runs say little about how much runs differ."""

_LEAST_RUNS, _LEAST_LOSSY_RUNS, _MOST_RUNS = 2, 3, len(_STUDENT) + 1
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
    least = _LEAST_LOSSY_RUNS if any(losses) else _LEAST_RUNS
    trials = [_Trial(strategy, begin) for strategy in TECHNIQUES]
    while not min(trials, key=lambda trial: trial.mean).is_known(least):
        min((trial for trial in trials if not trial.is_known(least)), key=lambda trial: trial.sent).go_on()
    return {trial.strategy: trial.mean for trial in trials}


class _Trial:
    """One way to join: the run that is going on, and what those took that have come to an end."""

    def __init__(self, strategy: str, begin: Callable[[str, int], RuleNetwork]) -> None:
        self.strategy, self._begin = strategy, begin
        self._taken: list[int] = []
        self._motes: RuleNetwork | None = None

    @property
    def sent(self) -> int:
        """Messages of all runs so far."""
        return sum(self._taken) + (0 if self._motes is None else self._motes.network.radio.tally.total)

    @property
    def mean(self) -> float:
        """Messages per run, of those that came to an end."""
        return fmean(self._taken) if self._taken else inf

    def go_on(self) -> None:
        """Go on for a moment, with the next run if none is under way; each has a seed of its own."""
        if self._motes is None:
            self._motes = self._begin(self.strategy, len(self._taken))
        network = self._motes.network
        if network.simulation.next_time is not None:
            self._motes.go_on(network.simulation.next_time + network.radio.settings.most_delay_us)
        else:
            self._taken.append(network.radio.tally.total)
            self._motes = None

    def is_known(self, least_runs: int) -> bool:
        """Whether more runs would hardly change the mean."""
        runs = len(self._taken)
        if runs < least_runs:
            return False
        return runs >= _MOST_RUNS or _STUDENT[runs - 2] * stdev(self._taken) / sqrt(runs) <= _PRECISE * self.mean
