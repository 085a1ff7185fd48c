"""Sources that Spark reads and that are quiet: by the clock, for nobody knows what is still to come."""

import time
from collections.abc import Callable, Mapping, Sequence

from skerry.catalog import Source
from skerry.model.time import END_OF_TIME, MICROS, START_OF_TIME, Micros
from skerry.pipeline.outcome import Outcome
from skerry.spark.progress import Progress

__all__ = ["IdleWatch"]


class IdleWatch:
    """Notes when each source had readings last. What it finds goes into the record of progress with its batch.

    A source that is quiet for its ``idle_timeout`` counts as far as the farthest of the others. If there are no others
    that are not idle, event time goes on from its newest reading as the clock does. When it comes back, what lies
    behind is late.
    """

    def __init__(
        self, sources: Sequence[Source], progress: Progress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources = [source for source in sources if source.idle_timeout_us is not None]
        self._progress, self._clock = progress, clock
        self._heard = dict.fromkeys((source.name for source in self._sources), clock())
        self._newest = dict(progress.total.newest)
        """The newest reading of each source when it was heard last."""

    def note(self, outcome: Outcome) -> dict[str, Micros]:
        """Note what came with a batch; give the newest event times by source, those of idle sources moved on."""
        now, newest = self._clock(), self._progress.total.then(outcome).newest
        for source in self._sources:
            tally = outcome.tallies.get(source.name)
            if tally and tally.read:
                self._heard[source.name], self._newest[source.name] = now, newest[source.name]
        idle = [source.name for source in self._sources if self._is_idle(source, now)]
        farthest = _find_farthest(newest, idle)
        moved = {name: self._go_on(name, now) if farthest == START_OF_TIME else farthest for name in idle}
        return dict(outcome.newest) | moved

    def _go_on(self, source: str, now: float) -> Micros:
        """How far event time has come since a source was heard; nowhere, if it never was."""
        heard = self._newest.get(source, START_OF_TIME)
        quiet_us = round((now - self._heard[source]) * MICROS["SECOND"])
        return Micros(heard + quiet_us) if heard > START_OF_TIME else heard

    def _is_idle(self, source: Source, now: float) -> bool:
        assert source.idle_timeout_us is not None
        return (now - self._heard[source.name]) * MICROS["SECOND"] > source.idle_timeout_us


def _find_farthest(newest: Mapping[str, Micros], idle: Sequence[str]) -> Micros:
    """The farthest of those that are not idle; one that is used up is nobody's measure."""
    others = [moment for source, moment in newest.items() if source not in idle and moment < END_OF_TIME]
    return max(others, default=START_OF_TIME)
