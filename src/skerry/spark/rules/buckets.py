"""Settles a recursion bucket by bucket: each task runs the engine on the tuples of some pivots, without a shuffle."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from skerry.deduce.builtins import Builtins
from skerry.deduce.engine import Engine
from skerry.errors import MemoryLimit, RuleLimit
from skerry.model.batch import as_batch, pack, unpack
from skerry.model.term import Variable
from skerry.plan.limits import UNLIMITED, Limits
from skerry.plan.program import Atom, Checked, Class, Component, Predicate, Rule
from skerry.spark.rules.pivots import is_recursive

__all__ = ["Buckets", "find_limit"]

_SEEDS = "$seeds"
_TUPLES_PER_BUCKET = 2_000_000
"""A worker holds about as many at once, at some 100 bytes each."""
_MOST_BUCKETS = 10_000
_BATCH_ROWS = 1 << 20
_MARK = "skerry-limit"
"""Stands before a limit that was reached in a worker: Spark hands on no more of an error than its text."""


@dataclass(frozen=True)
class Buckets:
    """A recursive component with a pivot, made ready to run in tasks."""

    program: Checked
    """Its recursive rules; what they need from outside, and the seeds, are base predicates."""
    predicate: str
    unit: int
    schema: StructType

    @classmethod
    def of(cls, checked: Checked, component: Component, schema: StructType, unit: int) -> "Buckets":
        """Make a component ready."""
        [name] = component.predicates
        return cls(_make_program(checked, component), name, unit, schema)

    @property
    def needs(self) -> tuple[str, ...]:
        """The predicates from outside that every task needs whole."""
        return tuple(name for name, each in self.program.predicates.items() if each.base and name != _SEEDS)

    def derive(
        self, spark: SparkSession, seeds: DataFrame, pivot: int, others: Mapping[str, pa.RecordBatch], parallelism: int
    ) -> DataFrame:
        """All tuples: the seeds, and what follows from them and ``others``; sorted, if the pivot is the first column.

        Raises MemoryLimit, when it is carried out, if a bucket is too large for a worker.
        """
        sent = spark.sparkContext.broadcast({name: pack(batch) for name, batch in others.items()})

        def settle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            given = [batch for batch in batches if batch.num_rows]
            if given:
                facts = {name: unpack(blob) for name, blob in sent.value.items()}
                yield from self._settle({**facts, _SEEDS: as_batch(pa.Table.from_batches(given))})

        count = max(_count_buckets(seeds, pivot, others), parallelism)
        return seeds.repartitionByRange(count, f"c{pivot}").mapInArrow(settle, self.schema)

    def _settle(self, facts: Mapping[str, pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker: what follows from the seeds of one task."""
        engine = Engine(self.program, Builtins({}), self.unit, watched=())
        try:
            engine.tick_batches(None, facts)
        except RuleLimit as limit:
            kind = type(limit).__name__
            raise RuntimeError(f"{_MARK} {json.dumps([kind, *limit.args])}") from None
        found = engine.batch(self.predicate)
        columns = [
            column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in found.columns
        ]
        whole = pa.RecordBatch.from_arrays(columns, [field.name for field in self.schema])
        whole = whole.sort_by([(name, "ascending") for name in whole.schema.names])
        for start in range(0, whole.num_rows, _BATCH_ROWS):
            yield whole.slice(start, _BATCH_ROWS)


def find_limit(error: PySparkException) -> RuleLimit | None:
    """The limit that was reached in a worker, if that is what an error tells of."""
    found = re.search(rf"{_MARK} (\[.*\])", str(error))
    if found is None:
        return None
    kind, *arguments = json.loads(found[1])
    return (MemoryLimit if kind == MemoryLimit.__name__ else RuleLimit)(*arguments)


def _make_program(checked: Checked, component: Component) -> Checked:
    [name] = component.predicates
    own = checked.predicates[name]
    recursive = [rule for rule in component.rules if is_recursive(rule, component.predicates)]
    needed = {each.predicate for rule in recursive for each in rule.body if isinstance(each, Atom)} - {name}
    predicates = {each: _as_base(each, checked.predicates[each]) for each in sorted(needed)}
    predicates |= {name: own, _SEEDS: _as_base(_SEEDS, own)}
    variables = tuple(Variable(f"$c{index}") for index in range(own.arity))
    number = 1 + max(rule.number for rule in checked.rules)
    seed = Rule(Atom(name, variables), (Atom(_SEEDS, variables),), number)
    settled = Component((name,), (seed, *recursive), Class.S, 0, {}, ((name,),))
    return Checked(replace(checked.program, limits=_limit_worker(checked.program.limits)), predicates, (settled,), ())


def _as_base(name: str, predicate: Predicate) -> Predicate:
    """Another predicate's tuples as facts."""
    return Predicate(name, predicate.columns, base=True)


def _limit_worker(limits: Limits) -> Limits:
    """What a bucket may take: what was said, and else no time, but the memory that there is."""
    return limits if limits.seconds is not None else replace(limits, seconds=UNLIMITED)


def _count_buckets(seeds: DataFrame, pivot: int, others: Mapping[str, pa.RecordBatch]) -> int:
    """So many that a bucket has room in a worker, if each pivot reached as much as there is."""
    pivots = seeds.select(f"c{pivot}").distinct().count()
    reached = 1 + max((batch.num_rows for batch in others.values()), default=0)
    return min(pivots, -(-pivots * reached // _TUPLES_PER_BUCKET), _MOST_BUCKETS)


def _as_spark_has_it(column: pa.Array) -> pa.Array:
    """Times are whole numbers in frames."""
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
