"""Which way to join takes the fewest messages: each is tried in a simulation of its own, without loss.

A rehearsal runs the same program over the same facts, with other delays. It is broken off as soon as it has sent more
than the best one so far, so it costs little where the ways are far apart.
"""

from collections.abc import Sequence

from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.network.message import Kind
from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.field import Field
from skerry.network.rules.install import TECHNIQUES, install
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.routes import Routes
from skerry.network.tally import Tally
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
    """Try every way to join on the field of a network, which itself is left alone."""
    found: Estimates = {}
    settings = network.radio.settings
    quiet = RadioSettings(settings.least_delay_us, settings.most_delay_us)
    for strategy in TECHNIQUES:
        trial = Network(network.topology, quiet, seed + 1, network.most_skew_us)
        best = min(found.values(), default=float("inf"))
        trial.radio.tally = _Allowance(len(network.topology), best)
        try:
            Field(trial, routes, install(strategy, program, trial, routes), calls, order).run(checked, facts)
            found[strategy] = trial.radio.tally.total
        except _TooDearError:
            found[strategy] = float("inf")
    return found


class _TooDearError(Exception):
    """A rehearsal takes more messages than another way."""


class _Allowance(Tally):
    """A tally that breaks a run off at a number of transmissions."""

    def __init__(self, motes: int, most: float) -> None:
        super().__init__(motes)
        self._left = most

    def count(self, sender: int, kind: Kind, size: int) -> None:
        """One more transmission, if that is allowed."""
        self._left -= 1
        if self._left < 0:
            raise _TooDearError
        super().count(sender, kind, size)
