"""Put a load before a technique, and see what comes out in the load's own time.

Simulated: when tuples arrive, the clock, the buffer, and what is dropped. Measured: the processor time
that the technique takes for each slice of tuples. It is multiplied by ``slowdown``, which stands for the
paper's machine and engine, and moves the simulated clock; meanwhile tuples arrive, and wait.

    arrivals ──> buffer ──> slice ──> technique ──> answers
                   │ when it is full, tuples drawn from all that wait are dropped

What the harness does itself, such as counting answers, takes no simulated time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from skerry.experiments.snjoin.workload import Load
from skerry.model.arrays import Int64s
from skerry.model.time import MICROS

__all__ = ["Joining", "Measured", "Settings", "Tally", "measure"]


@dataclass(frozen=True)
class Tally:
    """What a slice gave: tuples with an answer, and how much the answers hold (combinations, or tuples listed)."""

    answers: int
    content: int


class Joining(Protocol):
    """A technique at work."""

    def take(self, load: Load, chosen: Int64s) -> Any:
        """Join these tuples of the load, and forget what has ended. This is what is measured."""

    def tally(self, taken: Any) -> Tally:
        """Count what came out. This is not."""


@dataclass(frozen=True)
class Settings:
    """How a technique is driven. After a slice that leaves few tuples, it waits until ``wait_us`` from its start."""

    slowdown: float
    warm_up_us: int
    """Until then nothing is counted: the window fills."""
    buffer_size: int = 2_000
    slice_size: int = 500
    wait_us: int = MICROS["SECOND"] // 4
    seed: int = 1


@dataclass(frozen=True)
class Measured:
    """What came out, after the warm-up. Times and rates are simulated, but ``processing_us`` is as measured."""

    processing_us: float
    """Processor time per tuple."""
    delay_ms: float
    """From a tuple's arrival to the end of its slice, on average."""
    drop_percent: float
    answers_per_s: float
    content_per_s: float


def measure(
    joining: Joining, load: Load, settings: Settings, clock: Callable[[], float] = time.thread_time
) -> Measured:
    """Drive a technique through a load, until the load ends. ``clock`` tells processor time in seconds."""
    course = _Course(load, settings)
    while (chosen := course.next_slice()).size:
        before = clock()
        taken = joining.take(load, chosen)
        course.advance(chosen, clock() - before, partial(joining.tally, taken))
    return course.totals.summarise(load.end_us - settings.warm_up_us)


@dataclass
class _Totals:
    """What is counted, after the warm-up."""

    arrived: int = 0
    dropped: int = 0
    processed: int = 0
    processing_s: float = 0.0
    delay_us: float = 0.0
    answers: int = 0
    content: int = 0

    def summarise(self, span_us: int) -> Measured:
        processed, span_s = max(1, self.processed), span_us / MICROS["SECOND"]
        return Measured(
            processing_us=self.processing_s * MICROS["SECOND"] / processed,
            delay_ms=self.delay_us / processed / MICROS["MILLISECOND"],
            drop_percent=100 * self.dropped / max(1, self.arrived),
            answers_per_s=self.answers / span_s,
            content_per_s=self.content / span_s,
        )


@dataclass
class _Course:
    """The simulated clock, and the buffer at that moment."""

    load: Load
    settings: Settings
    now_us: float = 0.0
    arrived: int = 0
    totals: _Totals = field(default_factory=_Totals)

    def __post_init__(self) -> None:
        """Nothing waits yet."""
        self._waiting: Int64s = np.empty(0, np.int64)
        self._resume_us: float = 0.0
        self._random = np.random.default_rng(self.settings.seed)

    def next_slice(self) -> Int64s:
        """The tuples that are next, in order; none if the load has ended."""
        self._admit()
        while not self._waiting.size and self.arrived < self.load.count:
            self._resume_us = max(self._resume_us, float(self.load.times[self.arrived]))
            self._admit()
        if self.now_us >= self.load.end_us:
            return self._waiting[:0]
        chosen, self._waiting = np.split(self._waiting, [self.settings.slice_size])
        if self._waiting.size < self.settings.slice_size:
            self._resume_us = self.now_us + self.settings.wait_us
        return chosen

    def advance(self, chosen: Int64s, processing_s: float, tally: Callable[[], Tally]) -> None:
        """Let the time pass that a slice took, and count it."""
        self.now_us += processing_s * self.settings.slowdown * MICROS["SECOND"]
        if not self.settings.warm_up_us <= self.now_us <= self.load.end_us:
            return
        given = tally()
        self.totals.processed += chosen.size
        self.totals.processing_s += processing_s
        self.totals.delay_us += float((self.now_us - self.load.times[chosen]).sum())
        self.totals.answers += given.answers
        self.totals.content += given.content

    def _admit(self) -> None:
        """Let what has arrived by ``_resume_us`` into the buffer; drop at random what is too much."""
        self.now_us = max(self.now_us, self._resume_us)
        until = int(np.searchsorted(self.load.times, self.now_us, side="right"))
        waiting = np.append(self._waiting, np.arange(self.arrived, until))
        excess = max(0, waiting.size - self.settings.buffer_size)
        if excess:
            waiting = np.sort(self._random.permutation(waiting)[excess:])
        if self.now_us >= self.settings.warm_up_us:
            self.totals.arrived += until - self.arrived
            self.totals.dropped += excess
        self._waiting, self.arrived = waiting, until
