"""Sources that Spark reads and that are quiet: by the clock, for nobody knows what is still to come."""

import time
from collections.abc import Callable, Mapping, Sequence

from skerry.catalog import Source
from skerry.model.time import MICROS, START_OF_TIME, Micros
from skerry.pipeline.outcome import Outcome
from skerry.spark.progress import Progress

__all__ = ["IdleWatch"]


class IdleWatch:
    """Notes when each source had readings last. What it finds goes into the record of progress with its batch.

    A source that is quiet for its ``idle_timeout`` counts as far as the farthest of the others. When it comes back,
    what lies behind is late.
    """

    def __init__(
        self, sources: Sequence[Source], progress: Progress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources = [source for source in sources if source.idle_timeout_us is not None]
        self._progress, self._clock = progress, clock
        self._heard = dict.fromkeys((source.name for source in self._sources), clock())

    def note(self, outcome: Outcome) -> dict[str, Micros]:
        """Note what came with a batch; give the newest event times by source, those of idle sources moved on."""
        now = self._clock()
        for source in self._sources:
            tally = outcome.tallies.get(source.name)
            if tally and tally.read:
                self._heard[source.name] = now
        newest = self._progress.total.then(outcome).newest
        idle = [source.name for source in self._sources if self._is_idle(source, now)]
        return dict(outcome.newest) | dict.fromkeys(idle, _find_farthest(newest, idle))

    def _is_idle(self, source: Source, now: float) -> bool:
        assert source.idle_timeout_us is not None
        return (now - self._heard[source.name]) * MICROS["SECOND"] > source.idle_timeout_us


def _find_farthest(newest: Mapping[str, Micros], idle: Sequence[str]) -> Micros:
    return max((moment for source, moment in newest.items() if source not in idle), default=START_OF_TIME)
