"""Derives what follows from facts in files over DataFrames, and gives the answers as lines of files."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pyarrow as pa

from skerry.deduce.change import Tick
from skerry.deduce.facts.csv_lines import sort_lines
from skerry.deduce.values import Row, row_key
from skerry.errors import RuleError
from skerry.model.arrays import Int64s
from skerry.model.term import Value
from skerry.plan.program import Checked, Predicate
from skerry.spark.rules.partitions import partitions_for
from skerry.spark.rules.semi_naive import Found, Watch, compute_model
from skerry.spark.rules.supported import find_obstacle, find_open_numbers, infer_from_facts, schema_of
from skerry.spark.rules.task_progress import watch_tasks
from skerry.spark.session import session

__all__ = ["Answers", "derive", "find_run_obstacle"]


def find_run_obstacle(checked: Checked, ticks: Sequence[Tick]) -> str | None:
    """Why what ticks make of a program cannot be found over DataFrames; None if it can."""
    incremental = next((output for output in checked.outputs if output.mode != "final"), None)
    if incremental is not None and len(ticks) > 1:
        return f"{incremental.predicate!r} is told tick by tick"
    try:
        known = infer_from_facts(checked, _facts(checked, ticks))
    except RuleError as error:  # frames need columns of one type; in process, values of other kinds just do not match
        return f"values of its facts can never match: {error}"
    return find_obstacle(known) or find_open_numbers(checked, known)


@dataclass(frozen=True)
class Answers:
    """What holds of an output at the end."""

    predicate: Predicate
    found: Found
    unit: int

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.found.count

    def lines(self) -> Iterator[bytes]:
        """The lines of its file, sorted, some at a time: tasks write them, and no process has all of them."""
        predicate, unit, frame = self.predicate, self.unit, self.found.frame
        if not predicate.columns:
            yield from map(bytes, sort_lines([()] * self.count, predicate, unit))
            return

        def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for lines in sort_lines(_BatchRows(batch), predicate, unit):
                    yield pa.RecordBatch.from_arrays([pa.array([bytes(lines)], pa.binary())], ["lines"])

        with partitions_for(frame.sparkSession, self.count):
            ordered = frame if self.found.is_sorted else frame.orderBy(*frame.columns)
            for row in ordered.mapInArrow(write, "lines binary").toLocalIterator(prefetchPartitions=True):
                yield bytes(row.lines)


class _BatchRows:
    """The rows of a batch, a number for each value."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return self._batch.num_rows

    def column(self, index: int) -> tuple[Int64s, Sequence[Value] | None]:
        array = self._batch.column(index)
        if pa.types.is_integer(array.type):
            return array.to_numpy(), None
        coded = array.dictionary_encode()
        return coded.indices.to_numpy().astype("int64"), coded.dictionary.to_pylist()


def derive(
    checked: Checked, ticks: Sequence[Tick], unit: int, master: str, watch: Watch | None = None
) -> dict[str, Answers]:
    """What holds of each output at the end."""
    facts = _facts(checked, ticks)
    known = infer_from_facts(checked, facts)
    spark = session(master)
    frames = {name: spark.createDataFrame(rows, schema_of(known, name)) for name, rows in facts.items()}
    with watch_tasks(spark, watch) if watch else nullcontext():
        found = compute_model(spark, known, frames, unit, watch)
    outputs = dict.fromkeys(output.predicate for output in checked.outputs)
    return {name: Answers(checked.predicates[name], found[name], unit) for name in outputs}


def _facts(checked: Checked, ticks: Iterable[Tick]) -> dict[str, list[Row]]:
    """The facts that are left when all ticks have been."""
    held: dict[str, dict[object, Row]] = {name: {} for name, each in checked.predicates.items() if each.base}
    for tick in ticks:
        for name, rows in tick.deletes.items():
            for row in rows:
                held[name].pop(row_key(row), None)
        for name, rows in tick.inserts.items():
            held[name].update((row_key(row), row) for row in rows)
    return {name: list(rows.values()) for name, rows in held.items()}
