"""Semi-naive evaluation in rounds: each joins what is new with all there is, and keeps what was not there before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from skerry.deduce.aggregates import aggregate_values
from skerry.deduce.limits import too_many_tuples
from skerry.errors import RuleLimit
from skerry.model.term import Constant, Value, Variable
from skerry.plan.program import Aggregate, Atom, Checked, Class, Component, Rule
from skerry.spark.rules.bodies import Body, bindings, name_of
from skerry.spark.rules.supported import schema_of

__all__ = ["compute_model"]

_ROUNDS_PER_CHECKPOINT = 5
"""After so many rounds the frame of all tuples is checkpointed, so that its lineage stays short."""


def compute_model(
    spark: SparkSession,
    checked: Checked,
    facts: Mapping[str, DataFrame],
    unit: int = 1,
    watch: Callable[[str, int, int], None] | None = None,
) -> dict[str, DataFrame]:
    """What a program makes true of facts: a frame per predicate. ``watch`` gets predicate, round, tuples.

    The program must be one that ``supported.find_obstacle`` has nothing against.
    """
    rounds = _Rounds(spark, checked, dict(facts), unit, watch)
    try:
        for component in checked.components:
            rounds.settle(component)
    except PySparkException as error:
        if "ARITHMETIC_OVERFLOW" in str(error):
            raise RuleLimit("a whole number does not fit into 64 bits", "declare a limit, or use floats") from None
        raise
    return rounds.relations


class _Rounds:
    def __init__(
        self,
        spark: SparkSession,
        checked: Checked,
        relations: dict[str, DataFrame],
        unit: int,
        watch: Callable[[str, int, int], None] | None,
    ) -> None:
        self._spark, self._checked, self._unit, self._watch = spark, checked, unit, watch
        self.relations = relations
        self._counts: dict[str, int] = {}
        self._new: dict[str, int] = {}
        self._start = spark.range(1).select(F.lit(1).alias("v_"))

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
        self._recursive(component, own)

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
        new = fresh.localCheckpoint(eager=False)
        self._new[name] = new.count()
        self._counts[name] = before + self._new[name]
        most = self._checked.program.limits.tuples
        if most is not None and self._counts[name] > most:
            raise too_many_tuples(most, name)
        if self._watch:
            self._watch(name, number, self._counts[name])
        if self._new[name]:
            self.relations[name] = known.unionByName(new) if before else new
        if number % _ROUNDS_PER_CHECKPOINT == 0:
            parts = self._spark.sparkContext.defaultParallelism
            self.relations[name] = self.relations[name].coalesce(parts).localCheckpoint()
        return new


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
