"""Semi-naive evaluation in rounds: each joins what is new with all there is, and keeps what was not there before.

A recursion that falls apart by a pivot needs no rounds: see ``buckets``.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.limits import out_of_time, too_many_tuples
from skerry.errors import MemoryLimit, RuleLimit
from skerry.model.batch import as_batch
from skerry.model.term import Constant, Value, Variable
from skerry.plan.program import Aggregate, Atom, Checked, Class, Component, Rule
from skerry.spark.rules.bodies import Body, bindings, name_of
from skerry.spark.rules.buckets import Buckets, find_limit
from skerry.spark.rules.partitions import partitions_for
from skerry.spark.rules.pivots import find_pivot, is_recursive
from skerry.spark.rules.supported import schema_of

__all__ = ["Found", "Watch", "compute_model"]

Watch = Callable[[str], None]
"""Is told how far the work has come."""

_ROUNDS_PER_CHECKPOINT = 5
"""After so many rounds the frame of all tuples is checkpointed, so that its lineage stays short."""
_MOST_SENT = 20_000_000
"""So many values of other predicates are sent to every task, at the most."""


@dataclass(frozen=True)
class Found:
    """What holds of a predicate."""

    frame: DataFrame
    count: int
    is_sorted: bool = False
    """Whether its rows stand in order, from the first partition to the last."""


def compute_model(
    spark: SparkSession, checked: Checked, facts: Mapping[str, DataFrame], unit: int = 1, watch: Watch | None = None
) -> dict[str, Found]:
    """What a program makes true of facts, by predicate.

    The program must be one that ``supported.find_obstacle`` has nothing against. There are no limits but those set.
    """
    rounds = _Rounds(spark, checked, dict(facts), unit, watch)
    try:
        for component in checked.components:
            rounds.settle(component)
    except PySparkException as error:
        if "ARITHMETIC_OVERFLOW" in str(error):
            raise RuleLimit("a whole number does not fit into 64 bits", "declare a limit, or use floats") from None
        raise find_limit(error) or error from None
    return {name: rounds.describe(name) for name in rounds.relations}


class _Rounds:
    def __init__(
        self,
        spark: SparkSession,
        checked: Checked,
        relations: dict[str, DataFrame],
        unit: int,
        watch: Watch | None,
    ) -> None:
        self._spark, self._checked, self._unit, self._watch = spark, checked, unit, watch
        self.relations = relations
        self._counts: dict[str, int] = {}
        self._new: dict[str, int] = {}
        self._sorted: set[str] = set()
        self._limits, self._begun = checked.program.limits, time.monotonic()
        self._cores = spark.sparkContext.defaultParallelism
        self._start = spark.range(1).select(F.lit(1).alias("v_"))

    def describe(self, name: str) -> Found:
        """What was found of a predicate."""
        return Found(self.relations[name], self._count(name), name in self._sorted)

    def settle(self, component: Component) -> None:
        """Make a component's predicates true; those below it are."""
        own = [name for name in component.predicates if name not in self.relations]
        for name in own:
            self.relations[name] = self._empty(name)
            self._counts[name] = 0
        if component.kind == Class.N:
            for name in own:
                self._add(name, self._derive(name, [Body(rule) for rule in _rules(component, name)], {}), 1)
            return
        if not self._settle_in_buckets(component):
            self._recursive(component, own)

    def _settle_in_buckets(self, component: Component) -> bool:
        """Settle a recursion whose buckets need nothing of each other; False if it is none, or one is too large."""
        pivot = find_pivot(component)
        if pivot is None:
            return False
        [name] = component.predicates
        buckets = Buckets.of(self._checked, component, schema_of(self._checked, name), self._unit)
        if sum(self._count(each) * self._checked.predicates[each].arity for each in buckets.needs) > _MOST_SENT:
            return False
        exits = [rule for rule in _rules(component, name) if not is_recursive(rule, component.predicates)]
        seeds = self._write_down(self._derive(name, [Body(rule) for rule in exits], {}))
        others = {each: as_batch(self.relations[each].toArrow()) for each in buckets.needs}
        try:
            found = self._write_down(buckets.derive(self._spark, seeds, pivot, others, self._cores))
            self._counts[name] = found.count()
        except PySparkException as error:
            if isinstance(find_limit(error), MemoryLimit):
                return False
            raise
        self.relations[name] = found
        self._sorted |= {name} if pivot == 0 else set()
        self._check(name, component.rules[0])
        return True

    def _count(self, name: str) -> int:
        """How many tuples a predicate has."""
        if name not in self._counts:
            self._counts[name] = self.relations[name].count()
        return self._counts[name]

    def _check(self, name: str, rule: Rule) -> None:
        """Stop where a limit was set and is reached."""
        if self._limits.tuples is not None and self._counts[name] > self._limits.tuples:
            raise too_many_tuples(self._limits.tuples, name)
        if self._limits.seconds is not None and time.monotonic() > self._begun + self._limits.seconds:
            raise out_of_time(self._limits.seconds, name, rule.number)

    def _write_down(self, frame: DataFrame) -> DataFrame:
        """A frame whose rows are computed once, when they are first needed, and kept as bytes."""
        return frame.localCheckpoint(eager=False, storageLevel=StorageLevel.MEMORY_AND_DISK)

    def _recursive(self, component: Component, own: Sequence[str]) -> None:
        first = {name: [Body(rule) for rule in _rules(component, name)] for name in own}
        again = {name: [body for rule in _rules(component, name) for body in _fresh(rule, own)] for name in own}
        new: dict[str, DataFrame] = {}
        for number, bodies in enumerate(_rounds_of(first, again), 1):
            found = {name: self._derive(name, bodies[name], new) for name in own if bodies[name]}
            new = {name: self._add(name, frame, number) for name, frame in found.items()}
            new |= {name: self._empty(name) for name in own if name not in new}
            if not any(self._new[name] for name in found):
                return

    def _empty(self, name: str) -> DataFrame:
        return self._spark.createDataFrame([], schema_of(self._checked, name))

    def _derive(self, name: str, bodies: Sequence[Body], new: Mapping[str, DataFrame]) -> DataFrame:
        """What rules give for a predicate, each tuple once."""
        frames = [self._heads(body, bindings(body, self._start, self.relations, new, self._unit)) for body in bodies]
        if not frames:
            return self._empty(name)
        found = reduce(DataFrame.unionByName, frames)
        for index, most in self._checked.predicates[name].limits.items():
            found = found.where(F.col(f"c{index}") <= most)
        return found.distinct()

    def _heads(self, body: Body, frame: DataFrame) -> DataFrame:
        head = body.rule.head
        schema = schema_of(self._checked, head.predicate)
        if body.rule.aggregates:
            return _aggregate(body.rule, frame, schema)
        columns = []
        for argument, field in zip(head.arguments, schema, strict=True):
            column = F.lit(argument.value) if isinstance(argument, Constant) else F.col(_variable(argument))
            columns.append(column.cast(field.dataType).alias(field.name))
        return frame.select(*columns)

    def _add(self, name: str, found: DataFrame, number: int) -> DataFrame:
        """Put tuples that are new into a relation; give them, written down."""
        known, before = self.relations[name], self._counts[name]
        fresh = found.join(known, list(known.columns), "left_anti") if before else found
        with partitions_for(self._spark, before) as parts:
            new = self._write_down(fresh)
            self._new[name] = new.count()
        self._counts[name] = before + self._new[name]
        self._check(name, _rules_of(self._checked, name)[0])
        if self._watch:
            self._watch(f"{name}: round {number}, {self._counts[name]:,} tuples")
        if self._new[name]:
            self.relations[name] = known.unionByName(new) if before else new
        if number % _ROUNDS_PER_CHECKPOINT == 0:
            self.relations[name] = self._write_down(self.relations[name].coalesce(parts))
        return new


def _rules_of(checked: Checked, name: str) -> list[Rule]:
    return [rule for rule in checked.rules if rule.head.predicate == name]


def _rules(component: Component, name: str) -> list[Rule]:
    return [rule for rule in component.rules if rule.head.predicate == name]


def _fresh(rule: Rule, own: Sequence[str]) -> Iterator[Body]:
    """One body per subgoal of the component: that subgoal sees only what is new."""
    for index, subgoal in enumerate(rule.body):
        if isinstance(subgoal, Atom) and subgoal.predicate in own and not subgoal.negated:
            yield Body(rule, index)


def _rounds_of(first: Mapping[str, list[Body]], again: Mapping[str, list[Body]]) -> Iterator[Mapping[str, list[Body]]]:
    yield first
    while True:
        yield again


def _variable(argument: object) -> str:
    assert isinstance(argument, Variable)
    return name_of(argument)


def _aggregate(rule: Rule, frame: DataFrame, schema: StructType) -> DataFrame:
    """Aggregates, group by group, over the distinct bindings: exact, as in one process."""
    arguments = rule.head.arguments
    keys = [name_of(argument) for argument in arguments if isinstance(argument, Variable)]
    distinct = frame.distinct()
    constants = {index: argument.value for index, argument in enumerate(arguments) if isinstance(argument, Constant)}

    def aggregate(group: pa.Table) -> pa.Table:
        values = []
        for index, argument in enumerate(arguments):
            if isinstance(argument, Aggregate):
                values.append(aggregate_values(argument.function, _values(group, argument)))
            else:
                values.append(constants[index] if index in constants else group.column(_variable(argument))[0].as_py())
        return pa.table({f"c{index}": [value] for index, value in enumerate(values)})

    return distinct.groupBy(*keys).applyInArrow(aggregate, schema)


def _values(group: pa.Table, aggregate: Aggregate) -> list[Value]:
    argument = aggregate.argument
    if argument is None:
        return [0] * group.num_rows
    if isinstance(argument, Constant):
        return [argument.value] * group.num_rows
    return list(group.column(_variable(argument)).to_pylist())
