"""What is missing and what is wrong of a view's answers where messages are lost, compared with a run without a network.

An answer is missing if the view gives it in this process over all readings, and wrong if it does not: an aggregate over
fewer readings counts as both.
"""

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.fjord.flow import Flow
from skerry.model.time import Micros

__all__ = ["Accuracy"]


class Accuracy:
    """The same view in this process, and the answers that only one of both has given so far."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        self.flow = Flow(view, tables)
        self._differing: Counter[str] = Counter()
        self._true = 0

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Let it have the same readings."""
        self.flow.put(feed, accepted)

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let it have the same clock."""
        self.flow.advance(newest, heard)

    def compare(self, output: str, given: pa.RecordBatch) -> None:
        """Note answers that the network has given."""
        self._note(output, given, -1)

    def count(self) -> dict[str, int]:
        """True answers so far, those of them that are missing, and given ones that are wrong."""
        for output, rows in self.flow.take_answers():
            self._true += rows.num_rows
            self._note(output, rows, 1)
        missed = sum(count for count in self._differing.values() if count > 0)
        wrong = sum(-count for count in self._differing.values() if count < 0)
        return {"true_answers": self._true, "answers_missed": missed, "answers_wrong": wrong}

    def _note(self, output: str, rows: pa.RecordBatch, sign: int) -> None:
        for row in rows.to_pylist():
            key = f"{output} {row!r}"
            self._differing[key] += sign
            if not self._differing[key]:
                del self._differing[key]
