"""What was lost, as rows: one per span and stream, and one for the span as a whole."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from skerry.model.types import TIMESTAMP
from skerry.shedding.estimate import Sampled, estimate, unlikeness
from skerry.shedding.losses import SpanLoss

__all__ = ["LOSSES", "report_losses"]

LOSSES = pa.schema(
    {
        "window_start": TIMESTAMP,
        "window_end": TIMESTAMP,
        "stream": pa.string(),
        "policy": pa.string(),
        "received": pa.int64(),
        "shed": pa.int64(),
        "shed_by": pa.list_(pa.struct([("pattern", pa.string()), ("shed", pa.int64())])),
        "answers": pa.float64(),
        "lost": pa.float64(),
        "lost_low": pa.float64(),
        "lost_high": pa.float64(),
        "sample_rate": pa.float64(),
        "sample_answers": pa.float64(),
        "sample_lost": pa.float64(),
    }
)
"""A row without a stream is about all of them. ``answers`` were given; ``lost`` is an estimate, and the truth lies
between the ends nine times in ten; the sample of the keys lost what the others lost but only on paper."""


def report_losses(losses: Iterable[SpanLoss], streams: Sequence[str], policy: str) -> pa.RecordBatch:
    """The rows of spans that are over; of those in which nothing was shed, none."""
    rows = [row for loss in losses if any(stream.shed for stream in loss.streams) for row in _rows(loss, streams)]
    return pa.RecordBatch.from_pylist([{"policy": policy, **row} for row in rows], LOSSES)


def _rows(loss: SpanLoss, streams: Sequence[str]) -> list[dict[str, Any]]:
    unlike = unlikeness(loss.sample_answers - loss.lost.total, loss.answers, loss.lost.rate)
    common = {
        "window_start": loss.start,
        "window_end": loss.end,
        "answers": loss.answers + loss.sample_answers,
        "sample_rate": round(loss.lost.rate, 9),
        "sample_answers": loss.sample_answers,
    }
    parts: list[dict[str, Any]] = [
        {
            "stream": name,
            "received": stream.received,
            "shed": sum(stream.shed.values()),
            "shed_by": [{"pattern": pattern, "shed": shed} for pattern, shed in sorted(stream.shed.items())],
            **_loss_columns(stream.lost, unlike),
        }
        for name, stream in zip(streams, loss.streams, strict=True)
    ]
    whole = {
        "received": sum(part["received"] for part in parts),
        "shed": sum(part["shed"] for part in parts),
        **_loss_columns(loss.lost, unlike),
    }
    return [{**common, **part} for part in [*parts, whole]]


def _loss_columns(sampled: Sampled, unlike: float) -> dict[str, float | None]:
    """Without a sample nothing is known of what was lost."""
    if sampled.rate <= 0:
        return {"sample_lost": None}
    found = estimate(sampled, unlike=unlike)
    return {"lost": found.total, "lost_low": found.low, "lost_high": found.high, "sample_lost": sampled.total}
