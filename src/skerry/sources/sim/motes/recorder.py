"""The samples of one mote as readings, measured for some time in advance: numpy is slow on one sample at a time."""

from collections import deque
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sources.sim.motes.kinds.kind import Kind

__all__ = ["Recorder"]

_SAMPLES_AHEAD = 512
_SHORTEST_US, _LONGEST_US = MICROS["SECOND"], 64 * MICROS["SECOND"]


class Recorder:
    """Hands out the readings that a mote's program has ready, span after span.

    >>> from skerry.sources.sim.motes.kinds import KINDS
    >>> recorder = Recorder(KINDS["air"], seed=1, index=0)
    >>> recorder.use("dust", Micros(500_000))
    >>> [time_us for time_us, row in recorder.take(Micros(0), Micros(1_500_000))]
    [0, 500000, 1000000]
    """

    def __init__(self, kind: Kind, seed: int, index: int) -> None:
        self._kind, self._seed, self._index = kind, seed, index
        self._program, self._period_us = kind.programs[0].name, kind.sample_period_us
        self._ready: deque[tuple[int, int, dict[str, Any]]] = deque()
        self._known_until_us: int | None = None

    def use(self, program: str, period_us: Micros) -> None:
        """Run another program from now on."""
        self._program, self._period_us = program, period_us
        self._forget()

    def prepare(self, first_us: Micros) -> None:
        """Measure for a while from a time on, before anybody waits for it."""
        if self._known_until_us is None:
            self._measure(first_us)

    def take(self, first_us: Micros, stop_us: Micros) -> list[tuple[int, dict[str, Any]]]:
        """Give time and columns of the readings that are ready from ``first_us`` until before ``stop_us``.

        Spans follow each other; what is ready between two of them is left out.
        """
        found: list[tuple[int, dict[str, Any]]] = []
        if self._known_until_us is not None and self._known_until_us < first_us:
            self._forget()
        while self._known_until_us is None or self._known_until_us < stop_us:
            self._measure(first_us if self._known_until_us is None else Micros(self._known_until_us))
            found += self._hand_out(first_us, stop_us)
        return found + self._hand_out(first_us, stop_us)

    def _forget(self) -> None:
        self._ready.clear()
        self._known_until_us = None

    def _measure(self, first_us: Micros) -> None:
        span_us = min(max(_SAMPLES_AHEAD * self._period_us, _SHORTEST_US), _LONGEST_US)
        # The first spans of motes differ in length: not all of them are to measure again at the same time.
        span_us = round(span_us * (0.25 + self._index * 0.618 % 0.75)) if self._known_until_us is None else span_us
        self._known_until_us = Micros(first_us + span_us)
        where = (self._seed, self._index, self._program)
        found = self._kind.measure(*where, first_us, self._known_until_us, self._period_us)
        self._ready.extend(zip(found.ready_us.tolist(), found.time_us.tolist(), found.list_rows(), strict=True))

    def _hand_out(self, first_us: Micros, stop_us: Micros) -> list[tuple[int, dict[str, Any]]]:
        found = []
        while self._ready and self._ready[0][0] < stop_us:
            ready_us, time_us, row = self._ready.popleft()
            if ready_us >= first_us:
                found.append((time_us, row))
        return found
