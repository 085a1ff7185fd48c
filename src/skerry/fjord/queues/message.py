"""What goes through queues: rows, the passing of time, and what one process has to say to another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from skerry.model.time import START_OF_TIME, Micros

__all__ = ["Advance", "Message", "Note", "Rows"]


@dataclass(frozen=True)
class Rows:
    """A batch on its way, and which of the reader's streams it belongs to."""

    batch: pa.RecordBatch
    stream: int = 0


@dataclass(frozen=True)
class Advance:
    """No row before ``watermark`` will follow.

    To another process it says what the watermark follows from: how far sources have come, and their newest readings.
    """

    watermark: Micros = START_OF_TIME
    newest: Mapping[str, Micros] = field(default_factory=dict)
    heard: Mapping[str, Micros] = field(default_factory=dict)


@dataclass(frozen=True)
class Note:
    """A word of one controller to another, with what belongs to it, as JSON has it."""

    word: str
    details: Mapping[str, Any] = field(default_factory=dict)


Message = Rows | Advance | Note
