"""What shedding cost, by span of event time: tuples that went, and what a sample of keys lost."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skerry.model.arrays import Float64s
from skerry.model.time import Micros
from skerry.shedding.estimate import Sampled

__all__ = ["Ledger", "SpanLoss", "StreamLoss"]


@dataclass(frozen=True)
class StreamLoss:
    """What one stream received and lost in a span."""

    received: int
    shed: Mapping[str, int]
    """Tuples that went while arrivals of the span came, by pattern or, if the policy knows none, by its name."""
    lost: Sampled
    """Answers of the sample that would have lacked their member of this stream."""


@dataclass(frozen=True)
class SpanLoss:
    """What happened in one span of event time: arrivals by their start, answers by that of their newest member."""

    start: Micros
    end: Micros
    streams: tuple[StreamLoss, ...]
    sample_answers: float
    lost: Sampled
    """Answers of the sample that shedding would have lost; they are given all the same."""
    answers: float
    """Answers given outside the sample."""


@dataclass
class _Page:
    received: list[int]
    shed: dict[tuple[int, str], int] = field(default_factory=dict)
    answers: float = 0.0
    sample: dict[int, Float64s] = field(default_factory=dict)
    """By key: answers, those lost, those lost to each stream."""


class Ledger:
    """Collects the counters of a bounded join, until a span is over."""

    def __init__(self, stream_count: int, width: Micros) -> None:
        self._stream_count, self._width = stream_count, width
        self._pages: dict[int, _Page] = {}

    def count_arrivals(self, span: int, received: Sequence[int], shed: Mapping[tuple[int, str], int]) -> None:
        """Count arrivals by stream, and tuples that went by stream and name."""
        page = self._page(span)
        page.received = [one + more for one, more in zip(page.received, received, strict=True)]
        for name, count in shed.items():
            page.shed[name] = page.shed.get(name, 0) + count

    def count_answers(self, span: int, answers: float) -> None:
        """Count answers outside the sample."""
        self._page(span).answers += answers

    def count_sample(self, span: int, key: int, sums: Float64s) -> None:
        """Count answers of a key of the sample: all, those lost, and by stream."""
        sample = self._page(span).sample
        sample[key] = sample[key] + sums if key in sample else sums.copy()

    def sampled_keys(self) -> list[int]:
        """The keys of the sample that had answers."""
        return sorted({key for page in self._pages.values() for key in page.sample})

    def drop(self, keys: Sequence[int]) -> None:
        """Learn that keys belong to the sample no longer."""
        for page in self._pages.values():
            for key in keys:
                if key in page.sample:
                    page.answers += float(page.sample.pop(key)[0])

    def close(self, before: Micros, rate: float) -> tuple[SpanLoss, ...]:
        """Give the spans that ended by a moment, in order, and forget them."""
        over = sorted(span for span in self._pages if (span + 1) * self._width <= before)
        return tuple(self._loss(span, self._pages.pop(span), rate) for span in over)

    def save(self) -> bytes:
        """All of it, as text."""
        return json.dumps([[span, *_pack(page)] for span, page in self._pages.items()]).encode()

    def restore(self, blob: bytes) -> None:
        """Take over what was saved."""
        self._pages = {span: _unpack(parts) for span, *parts in json.loads(blob)}

    def _page(self, span: int) -> _Page:
        return self._pages.setdefault(span, _Page([0] * self._stream_count))

    def _loss(self, span: int, page: _Page, rate: float) -> SpanLoss:
        sums = np.array([page.sample[key] for key in sorted(page.sample)]).reshape(-1, 2 + self._stream_count)
        return SpanLoss(
            start=Micros(span * self._width),
            end=Micros((span + 1) * self._width),
            streams=tuple(self._streams(page, sums, rate)),
            sample_answers=float(sums[:, 0].sum()),
            lost=_sum_up(sums[:, 1], rate),
            answers=page.answers,
        )

    def _streams(self, page: _Page, sums: Float64s, rate: float) -> Iterator[StreamLoss]:
        for stream, received in enumerate(page.received):
            shed = {name: count for (owner, name), count in sorted(page.shed.items()) if owner == stream}
            yield StreamLoss(received, shed, _sum_up(sums[:, 2 + stream], rate))


def _sum_up(lost: Float64s, rate: float) -> Sampled:
    return Sampled(
        rate=rate,
        keys=int(np.count_nonzero(lost)),
        total=float(lost.sum()),
        squares=float((lost**2).sum()),
        largest=float(lost.max(initial=0.0)),
    )


def _pack(page: _Page) -> list[Any]:
    shed = [[*name, count] for name, count in page.shed.items()]
    return [page.received, shed, page.answers, [[key, sums.tolist()] for key, sums in page.sample.items()]]


def _unpack(parts: list[Any]) -> _Page:
    received, shed, answers, sample = parts
    return _Page(
        received,
        {(stream, name): count for stream, name, count in shed},
        answers,
        {key: np.array(sums) for key, sums in sample},
    )
