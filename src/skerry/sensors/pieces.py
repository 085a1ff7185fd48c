"""What a query wants of a source, in pieces: of some sensors, some columns of readings with some values.

    WHERE sensor = 'a' AND speed < 30 OR flow = 0        of a: speed below 30; of every sensor: flow is 0

A piece never holds less than the query needs. What its predicate says beyond values of columns is left out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

from skerry.catalog import Source, Subscription
from skerry.index.operands import derive_nothing
from skerry.index.region import Box, Region
from skerry.index.region_from_predicate import region_of
from skerry.index.regions import Regions
from skerry.index.value_sets import Span, ValueSet
from skerry.lang.sql.predicates import Predicates
from skerry.model.dialect import parse_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import names_in
from skerry.model.options import Owner
from skerry.model.sampling import SAMPLE_PERIOD, Sampling
from skerry.model.time import Micros, span
from skerry.plan.lookup import Lookup
from skerry.plan.node import Conditions, Node, Stateful
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan
from skerry.sensors.whose import EVERY_SENSOR, FACTS, NAME, Whose, find_whose, keep_known

__all__ = ["Piece", "Pieces", "find_sensor_column", "find_sequence_column", "is_ranged", "period_of"]

Sides = tuple[tuple[str, tuple[Span, ...]], ...]
"""By column, the keys of the values that are wanted."""


@dataclass(frozen=True)
class Piece:
    """What is wanted of some sensors: columns, of readings with some values, so often, for so long."""

    whose: Whose
    columns: frozenset[str]
    sides: Sides = ()
    sampling: Sampling = field(default_factory=Sampling)


def find_sensor_column(source: Source) -> str | None:
    """The column that names the sensor of a reading: ``sensor``, or the one that the topic fills."""
    filled = re.findall(r"\{(\w+)\}", source.options.get("topic", ""))
    found = "sensor" if "sensor" in source.schema.names else filled[0] if len(filled) == 1 else None
    is_text = found in source.schema.names and kinds.is_string(source.schema.field(found).type)
    return found if is_text else None


def find_sequence_column(source: Source) -> str | None:
    """The column with a sensor's own number of a reading, by which doubles are found."""
    found = source.options.get("sequence", "seq")
    return found if found in source.schema.names else None


def period_of(source: Source) -> Micros | None:
    """How often the source says that its sensors sample."""
    declared: Micros | None = getattr(source, "sample_period_us", None)
    return declared or span(source.options.get(SAMPLE_PERIOD.name, ""))


def is_ranged(type_: pa.DataType) -> bool:
    """Whether ranges can be told to a sensor: of numbers."""
    return bool(kinds.is_integer(type_) or kinds.is_floating(type_))


class Pieces:
    """Makes the pieces of queries over one source. Subscriptions that differ in their constants are read once.

    >>> road = Source("road", pa.schema({"sensor": pa.string(), "speed": pa.int32(), "flow": pa.int32()}), "mqtt")
    >>> (piece,) = Pieces(road).of_subscription(Subscription("q", "road", "sensor = 'a' AND speed < 30"))
    >>> piece.whose.only, piece.sides, sorted(piece.columns)
    (b'a', (('speed', ((-2147483648, 30),)),), ['flow', 'sensor', 'speed'])
    """

    def __init__(self, source: Source) -> None:
        self.source, self._sensor = source, find_sensor_column(source)
        self._predicates = Predicates({source.name: source})
        self._regions = Regions(source.schema, open_duckdb, derive_nothing)
        self._all = frozenset(source.schema.names)
        known = (self._sensor, source.event_time, find_sequence_column(source))
        self._always = frozenset(name for name in known if name)
        self._own = Sampling(period_of(source))
        self._conditions: dict[str, str] = {}

    def of_subscription(self, subscription: Subscription) -> list[Piece]:
        """Of every reading that it is true for, all columns: they are its answers."""
        region = self._regions.make(self._predicates.form(subscription))
        return self._cut(region, self._all, self._own, narrows=True)

    def of_view(self, view: ViewPlan) -> list[Piece]:
        """Of each way from the view's answers down to the source."""
        asked = Sampling.parse(view.options, Owner(f"view {view.name!r}"))
        sampling = Sampling(asked.period_us or self._own.period_us, asked.lifetime_us)
        if "late_to" in view.options:  # late readings are given whole, whatever the view selects
            return [Piece(EVERY_SENSOR, self._find_stored(self._all), sampling=sampling)]
        reads = _find_reads(view.root, frozenset(view.root.schema.names), (), narrows=True)
        mine = [read for read in reads if read.source == self.source.name]
        found = [
            self._cut(self._find_region(read.conditions), read.columns, sampling, read.narrows, read.about)
            for read in mine
        ]
        return list(dict.fromkeys(piece for pieces in found for piece in pieces))

    def _find_region(self, conditions: Conditions) -> Region:
        if not conditions:
            return Region((Box(),))
        return region_of(exp.and_(*conditions), self.source.schema, open_duckdb)

    def _cut(
        self, region: Region, columns: frozenset[str], sampling: Sampling, narrows: bool, about: tuple[str, ...] = ()
    ) -> list[Piece]:
        """A piece per box and group of sensors; ``about`` are conditions on what the catalogue knows of them."""
        columns = self._find_stored(columns | self._always)
        found = []
        for box in region.boxes:
            values = _values_of(box)
            sides = self._find_sides(values) if narrows else ()
            found += [Piece(whose, columns, sides, sampling) for whose in self._find_sensors(box, values, about)]
        return found

    def _find_stored(self, columns: frozenset[str]) -> frozenset[str]:
        """What sensors send: of a column that is generated, those that it is computed from."""
        for name, sql in self.source.generated:
            if name in columns:
                columns = (columns - {name}) | names_in(parse_expression(sql))
        return columns

    def _find_sides(self, values: Mapping[str, ValueSet]) -> Sides:
        stored = self.source.stored_schema
        return tuple(
            (name, each.spans)
            for name, each in values.items()
            if name in stored.names and is_ranged(stored.field(name).type)
        )

    def _find_sensors(self, box: Box, values: Mapping[str, ValueSet], about: tuple[str, ...]) -> Iterable[Whose]:
        if self._sensor is None:
            return [EVERY_SENSOR]
        conditions = [*about, self._find_condition(box, self._sensor)]
        return find_whose(values.get(self._sensor), " AND ".join(f"({each})" for each in conditions if each))

    def _find_condition(self, box: Box, sensor: str) -> str:
        """What the residual of a box says about the names of sensors."""
        if box.residual is None or sensor not in box.residual.columns:
            return ""
        predicate = box.residual.sql
        if predicate not in self._conditions:
            self._conditions[predicate] = keep_known(parse_expression(predicate), {sensor: NAME})
        return self._conditions[predicate]


def _values_of(box: Box) -> dict[str, ValueSet]:
    """The sets of values that a box says of columns."""
    found = {operand: values for operand, values in box.sides.items() if isinstance(operand, str)}
    listed, values = box.listed or (None, ValueSet(()))
    if isinstance(listed, str):
        found[listed] = found[listed] & values if listed in found else values
    return found


@dataclass(frozen=True)
class _Read:
    """One way down to a source: the columns and rows of it that count, and what must hold of their sensors."""

    source: str
    columns: frozenset[str]
    conditions: Conditions
    narrows: bool
    about: tuple[str, ...] = ()


def _find_reads(
    node: Node, wanted: frozenset[str], conditions: Conditions, *, narrows: bool, about: tuple[str, ...] = ()
) -> Iterable[_Read]:
    """What a plan reads. Conditions above a state say nothing about what it is made of."""
    if isinstance(node, Scan):
        yield _Read(node.source.name, wanted, conditions, narrows, about)
    below = node.conditions_below(conditions)
    if isinstance(node, Stateful):
        about, narrows = (), narrows and not node.needs_every_reading
    else:
        about = (*about, *_find_facts(node, conditions))
    for position, each in enumerate(node.inputs):
        columns = node.columns_below(position, wanted)
        yield from _find_reads(each, columns, below, narrows=narrows, about=about)


def _find_facts(node: Node, conditions: Conditions) -> list[str]:
    """What conditions say about sensors, where each reading stands beside its sensor in the catalogue."""
    if type(node) is not Lookup or not _is_of_sensors(node.table):
        return []
    base: Node = node.input
    while isinstance(base, Select | Lookup):
        base = base.input
    sensor = find_sensor_column(base.source) if isinstance(base, Scan) else None
    if sensor is None or (sensor, NAME) not in [(mine.column, other.column) for mine, other in node.keys]:
        return []
    known = {sensor: NAME, **{f"{node.name}.{fact}": fact for fact in FACTS.names}}
    return [fact for each in conditions if (fact := keep_known(each, known))]


def _is_of_sensors(table: Source) -> bool:
    """Whether a table is the catalogue's, of sensors."""
    return table.connector == "catalog" and table.options.get("table") == "sensors"
