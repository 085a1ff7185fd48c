"""Dead letters: what could not be read, why, and where it stood."""

from collections.abc import Sequence

import pyarrow as pa

from skerry.sources.source import REJECTS

__all__ = ["SHOWN_BYTES", "byte_location", "make_dead_letters", "show_line"]

_SHOWN_CHARACTERS = 500

SHOWN_BYTES = 4 * _SHOWN_CHARACTERS
"""So many bytes of a line are enough for what a dead letter shows of it."""


def show_line(raw: bytes) -> str:
    r"""Show the head of a line, whatever it holds.

    >>> show_line(b"S1,5\xff\r\n")
    'S1,5\ufffd'
    """
    return raw.decode("utf-8", "replace").rstrip("\r\n")[:_SHOWN_CHARACTERS]


def make_dead_letters(
    reasons: str | Sequence[str], readings: Sequence[str], locations: Sequence[str]
) -> pa.RecordBatch:
    """Put rejected readings into a batch, all for one reason or each for its own.

    >>> make_dead_letters("not a JSON object", ["{"], ["a.jsonl:byte 7"]).to_pylist()
    [{'reason': 'not a JSON object', 'reading': '{', 'place': 'a.jsonl:byte 7'}]
    """
    all_reasons = [reasons] * len(readings) if isinstance(reasons, str) else reasons
    columns = [pa.array(column, pa.string()) for column in (all_reasons, readings, locations)]
    return pa.RecordBatch.from_arrays(columns, schema=REJECTS)


def byte_location(path: str, offset: int) -> str:
    """Say where in a text file a line starts.

    >>> byte_location("a.csv", 7)
    'a.csv:byte 7'
    """
    return f"{path}:byte {offset}"
