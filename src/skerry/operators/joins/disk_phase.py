"""The disk phase of a join that spills: it joins tuples that have not been in memory together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.errors import LimitError
from skerry.model.arrays import Int64s
from skerry.model.batch import join
from skerry.operators.joins.arrivals import Arrivals, make_arrivals, merge_by_time
from skerry.operators.joins.combiner import Combiner
from skerry.operators.joins.snjoin import SNJoin
from skerry.operators.joins.spill_partition import first_steps
from skerry.plan.side import Side

__all__ = ["StreamTuples", "revisit"]


@dataclass(frozen=True)
class StreamTuples:
    """A stream's tuples, in memory and on disk, and the last step at which each was in memory."""

    batch: pa.RecordBatch
    last_steps: Int64s


def revisit(
    sides: Sequence[Side], all_tuples: Sequence[StreamTuples], settled: int, combiner: Combiner, limit: int
) -> pa.RecordBatch:
    """Every combination that has not been given, of all tuples of one partition.

    A tuple is in memory from one step until another. A combination has been given if there was a step at
    which all its members were, or if all came in ``settled`` or before. Urhan and Franklin (XJoin, 2000)
    keep the same two moments for each tuple.

    Tuples are taken again step by step, as they came: then the last member of a combination is of the
    step at hand, and no step finds more than ``limit`` combinations that have been given, for it gave
    no more when it was joined first. Raises ``LimitError`` if there are more than ``limit`` others.
    """
    technique, count, answers = SNJoin(len(sides), 2 * limit), 0, []
    settled_ones, steps = _steps(sides, all_tuples, settled)
    technique.load(settled_ones)
    for step, arrivals in steps:
        found = _find(technique, arrivals, limit)
        last_together = np.minimum.reduce([tuples.last_steps[found[:, s]] for s, tuples in enumerate(all_tuples)])
        missed = found[last_together < step]
        count += len(missed)
        if count > limit:
            raise _too_many(limit)
        if missed.size:
            taken = [tuples.batch.take(pa.array(missed[:, stream])) for stream, tuples in enumerate(all_tuples)]
            answers.append(combiner.combine(taken))
    return join(answers, combiner.schema)


def _steps(
    sides: Sequence[Side], all_tuples: Sequence[StreamTuples], settled: int
) -> tuple[Arrivals, Iterator[tuple[int, Arrivals]]]:
    """The tuples of ``settled`` and before, and those of each step after it."""
    parts = [
        make_arrivals(side, stream, tuples.batch, np.arange(tuples.batch.num_rows))[0]
        for stream, (side, tuples) in enumerate(zip(sides, all_tuples, strict=True))
    ]
    arrivals = merge_by_time(parts)
    since = _by_stream(arrivals, [first_steps(tuples.batch) for tuples in all_tuples])
    later = np.flatnonzero(since > settled)
    later = later[np.argsort(since[later], kind="stable")]
    steps, firsts = np.unique(since[later], return_index=True)
    pieces = np.split(later, firsts[1:])
    each = ((int(step), arrivals.at(piece)) for step, piece in zip(steps, pieces, strict=False))
    return arrivals.at(np.flatnonzero(since <= settled)), each


def _find(technique: SNJoin, arrivals: Arrivals, limit: int) -> Int64s:
    try:
        return technique.arrive(arrivals)
    except LimitError:
        raise _too_many(limit) from None


def _by_stream(arrivals: Arrivals, columns: Sequence[Int64s]) -> Int64s:
    """One value per arrival, from one column per stream."""
    found = np.empty(arrivals.count, np.int64)
    for stream, column in enumerate(columns):
        mine = arrivals.streams == stream
        found[mine] = column[arrivals.rows[mine]]
    return found


def _too_many(limit: int) -> LimitError:
    return LimitError("tuples on disk make more combinations than a step may give; the limit is", limit)
