"""From messages to a proposal: the source that would read them, and the sensors behind it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from skerry.catalog import Sensor
from skerry.model.time import MICROS, Micros, show_span
from skerry.sensors.discover.columns import SeenColumn, count_columns, guess_unit
from skerry.sensors.discover.quantities import is_measured
from skerry.sensors.discover.samples import VALUE, Reading, Sample, decode, read_state, split_readings
from skerry.sensors.discover.times import (
    EventTime,
    Values,
    find_event_time,
    find_sequence,
    guess_delay,
    guess_period,
    list_clocks_ahead,
)
from skerry.sensors.discover.topics import Levels, TopicGroup, group_topics
from skerry.sensors.messages import SensorState

__all__ = ["Proposal", "propose", "propose_source"]

_SENSOR = "sensor"
_KIND = "sensor"
"""The kind of a sensor that does not say of what kind it is."""
_ALIKE = 1.25
"""By how much periods may differ and be called the same."""
_ARRIVAL_DELAY_US = Micros(MICROS["SECOND"])
_FEW = 8
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Proposal:
    """A source that would read what was heard: columns with their SQL types, and what its options say."""

    name: str
    topic: str
    encoding: str
    columns: Mapping[str, str]
    event_time: EventTime | None = None
    delay_us: Micros | None = None
    sequence: str | None = None
    sample_period_us: Micros | None = None
    sensors: tuple[Sensor, ...] = ()
    notes: tuple[str, ...] = ()
    """What whoever reads the script should know."""
    readings: int = 0
    garbled: int = 0
    """How many messages could not be read."""
    value_column: str | None = None
    """The column that messages without keys fill."""
    has_arrival_time: bool = False
    """Whether the event time is that of arrival, for the readings say none."""
    max_ahead_us: Micros | None = None
    file_options: Mapping[str, str] = field(default_factory=dict)
    """What must be said of files."""


def propose(samples: Sequence[Sample]) -> list[Proposal]:
    """A proposal for each group of topics that carries readings alike.

    >>> heard = [Sample(f"i80/{n}/data", b'{"ts": 1700000000, "speed": 5.5}', Micros(n)) for n in range(2)]
    >>> [found] = propose(heard)
    >>> found.topic, dict(found.columns), found.event_time
    ('i80/{sensor}/data', {'sensor': 'VARCHAR', 'ts': 'TIMESTAMP', 'speed': 'DOUBLE'}, EventTime(name='ts', unit='s'))
    """
    topics: dict[Levels, _Topic] = defaultdict(_Topic)
    states: dict[Levels, SensorState] = {}
    for sample in samples:
        found = decode(sample.payload)
        if sample.is_state and found and (state := read_state(found[1])):
            states[sample.levels] = state
        elif sample.carries_readings:
            topics[sample.levels].add(sample, found)
    heard = {levels: topic for levels, topic in topics.items() if topic.readings}
    columns = {
        levels: {name: each.sort for name, each in count_columns(reading.values for reading in topic.readings).items()}
        for levels, topic in heard.items()
    }
    bare = {levels for levels, topic in heard.items() if topic.is_bare}
    proposals = []
    for group in group_topics(list(heard), list(states), columns, bare):
        mine = [levels for levels in heard if group.covers(levels) and (levels in bare) == (group.value is not None)]
        made = _propose_group(group, [heard[levels] for levels in mine], states)
        # Where nothing can be kept but the names in the topics, there are no readings.
        if len(made.columns) > len(group.wildcards):
            proposals.append(_stamp(made))
    return _name_apart(proposals)


class _Topic:
    """What was heard on one topic: readings that are objects, or values without keys, whichever are more."""

    def __init__(self) -> None:
        self._objects: list[Reading] = []
        self._values: list[Reading] = []
        self._messages: list[tuple[str | None, bool, bool]] = []

    def add(self, sample: Sample, found: tuple[str, Any] | None) -> None:
        """Take up a message, with its encoding and what it says, if it can be read."""
        readings = list(split_readings(sample, found[1])) if found else []
        self._objects += [each for each in readings if not each.is_bare]
        self._values += [each for each in readings if each.is_bare]
        has = any(not each.is_bare for each in readings), any(each.is_bare for each in readings)
        self._messages.append((found[0] if found else None, *has))

    @property
    def is_bare(self) -> bool:
        """Whether its messages have no keys."""
        return len(self._values) > len(self._objects)

    @property
    def readings(self) -> list[Reading]:
        """Its readings."""
        return self._values if self.is_bare else self._objects

    @property
    def encodings(self) -> Counter[str]:
        """How many of its messages were in which encoding; those without readings are garbled."""
        form = 2 if self.is_bare else 1
        return Counter(str(each[0]) if each[form] else "garbled" for each in self._messages)


def _propose_group(group: TopicGroup, topics: Sequence[_Topic], states: Mapping[Levels, SensorState]) -> Proposal:
    readings = sorted((each for topic in topics for each in topic.readings), key=lambda each: each.arrived_us)
    encodings = sum((topic.encodings for topic in topics), Counter[str]())
    if group.value is not None:
        name = group.value
        readings = [replace(each, values={name: each.values[VALUE]}) for each in readings]
    made = propose_source(group, readings, states)
    if group.value is not None:
        type_ = _agree_on_type([count_columns(each.values for each in topic.readings)[VALUE].type for topic in topics])
        made = replace(made, value_column=group.value, columns={**made.columns, group.value: type_}, event_time=None)
    return _name_encoding(made, encodings)


def _agree_on_type(types: Sequence[str]) -> str:
    """One type for bare values: numbers may have fractions though none was seen; what differs is text."""
    found = {"DOUBLE" if each == "BIGINT" else each for each in types}
    return found.pop() if len(found) == 1 and found <= {"DOUBLE", "BOOLEAN"} else "VARCHAR"


def _stamp(made: Proposal) -> Proposal:
    """Readings that say no time get that of their arrival."""
    if made.event_time is not None:
        return made
    taken = {name.lower() for name in made.columns}
    name = next(each for each in chain(("ts", "arrived"), map("arrived_{}".format, count(2))) if each not in taken)
    wildcards = {each: kind for each, kind in made.columns.items() if f"{{{each}}}" in made.topic.split("/")}
    columns = {**wildcards, name: "TIMESTAMP", **made.columns}
    note = f"no column looks like the time of measurement: {name} is that of arrival"
    return replace(
        made,
        columns=columns,
        event_time=EventTime(name),
        delay_us=_ARRIVAL_DELAY_US,
        has_arrival_time=True,
        notes=(note, *made.notes),
    )


def propose_source(group: TopicGroup, readings: Sequence[Reading], states: Mapping[Levels, SensorState]) -> Proposal:
    """What one group of topics carries."""
    seen = count_columns(each.values for each in readings)
    wildcards = group.wildcards
    said = {name: column for name, column in seen.items() if name.lower() not in wildcards}
    values: Values = [(_name_sensor(each, group, seen), each.arrived_us, each.values) for each in readings]
    # What the broker had kept says nothing about when and how often readings come.
    fresh = [value for value, each in zip(values, readings, strict=True) if not each.retained]
    time = find_event_time(list(said), values)
    sequence = _find_sequence(said, fresh or values, time)
    mine = _states_by_sensor(group, states)
    units = {name for state in mine.values() for name in state.units}
    columns = dict.fromkeys(wildcards, "VARCHAR")
    columns |= {name: _name_type(column, units) for name, column in said.items()}
    if sequence is not None:
        columns[sequence] = "BIGINT"
    columns |= _find_mixed(readings, said)
    if time is not None:
        columns[time.name] = "TIMESTAMP"
    timed = [(sensor, at, moment) for sensor, at, each in fresh if time and (moment := time.read(each)) is not None]
    sensors = _describe_sensors(group, values, fresh, time, mine, columns)
    ahead = list_clocks_ahead(timed)
    return Proposal(
        group.name,
        group.topic,
        "JSON",
        columns,
        time,
        guess_delay(timed) if time else None,
        sequence,
        _agree_on_period(sensors),
        sensors,
        tuple(_note(group, readings, said, sensors, ahead)),
        len(readings),
        max_ahead_us=Micros(MICROS["MINUTE"]) if ahead else None,
    )


def _name_type(column: SeenColumn, with_unit: Collection[str]) -> str:
    """The type of a column that measures something is DOUBLE, though only NULL or whole numbers were seen."""
    has_unit = column.name in with_unit or guess_unit(column.name) is not None
    is_whole = column.is_empty or column.type == "BIGINT"
    return "DOUBLE" if is_whole and (has_unit or is_measured(column.name)) else column.type


def _find_mixed(readings: Sequence[Reading], said: Mapping[str, SeenColumn]) -> dict[str, str]:
    """The columns that some topics fill with numbers, say, and others with texts: they are texts for all.

    What a few sensors send that are out of order does not count.
    """
    by_topic: dict[Levels, list[Mapping[str, Any]]] = defaultdict(list)
    for each in readings:
        by_topic[each.levels].append(each.values)
    if len(by_topic) < 2:
        return {}
    sorts: dict[str, Counter[str]] = defaultdict(Counter)
    for values in by_topic.values():
        for name, column in count_columns(values).items():
            if column.sort:
                sorts[name.lower()][column.sort] += len(values)
    shares = {name: max(counts.values()) / counts.total() for name, counts in sorts.items()}
    return {name: "VARCHAR" for name in said if shares.get(name.lower(), 1.0) < _NEARLY_ALL}


def _agree_on_period(sensors: Sequence[Sensor]) -> Micros | None:
    """How often all sensors measure; None if they differ, for then none should do what others do."""
    periods = sorted(each.sample_period_us for each in sensors if each.sample_period_us is not None)
    return periods[len(periods) // 2] if periods and periods[-1] <= _ALIKE * periods[0] else None


def _note(
    group: TopicGroup,
    readings: Sequence[Reading],
    said: Mapping[str, SeenColumn],
    sensors: Sequence[Sensor],
    ahead: Sequence[str],
) -> Iterator[str]:
    """What should be known of a source beside its declaration."""
    if readings and all(each.retained for each in readings):
        yield "all of it was kept by the broker from before: nothing new has come"
    if empty := [name for name, column in said.items() if column.is_empty]:
        yield f"of these only NULL was seen: {_list_names(empty)}"
    if nested := [name for name, column in said.items() if column.type == "JSON" and not column.is_empty]:
        yield f"lists and mappings are JSON; take values out with ->> '$.KEY': {_list_names(nested)}"
    periods = Counter(each.sample_period_us for each in sensors if each.sample_period_us is not None)
    if len(periods) > 1 and _agree_on_period(sensors) is None:
        found = ", ".join(f"{show_span(period)} ({count})" for period, count in sorted(periods.items()))
        yield f"sensors differ in how often they measure, so the source does not say it: {found}"
    if ahead:
        yield f"clocks that are ahead, whose readings max_ahead rejects: {_list_names(ahead)}"
    topics = len({each.levels for each in readings})
    if group.sensor_level is not None and topics > len(sensors) > 0:
        yield f"{topics} topics have {len(sensors)} names of sensors: other levels of the topic tell them apart"


def _list_names(names: Sequence[str]) -> str:
    shown = [" ".join(name.split()) for name in names[:_FEW]]
    return ", ".join([*shown, f"and {len(names) - _FEW} more"] if len(names) > _FEW else shown)


def _find_sequence(said: Mapping[str, SeenColumn], values: Values, time: EventTime | None) -> str | None:
    """The number that counts a sensor's readings.

    Readings without a time have none: a sensor that restarts and says the same as before would be taken for a double.
    What is measured may grow by one as well.
    """
    if time is None:
        return None
    whole = [
        name
        for name, column in said.items()
        if column.type == "BIGINT" and name != time.name and not is_measured(name) and not guess_unit(name)
    ]
    return find_sequence(whole, values)


def _name_sensor(reading: Reading, group: TopicGroup, seen: Mapping[str, SeenColumn]) -> str:
    if group.sensor_level is not None:
        return reading.levels[group.sensor_level]
    column = find_sensor_column(seen)
    return str(reading.values.get(column, "")) if column else ""


def find_sensor_column(seen: Mapping[str, SeenColumn]) -> str | None:
    """The column that names the sensor, where no level of a topic does."""
    known = ("sensor", "sensor_id", "device", "device_id", "station", "node", "mote", "name", "id")
    plain = {name: re.sub(r"\W+", "_", name.lower()).strip("_") for name in seen}
    by_name = {plain[name]: name for name, column in seen.items() if column.type in ("VARCHAR", "BIGINT")}
    return next((by_name[each] for each in known if each in by_name), None)


def _states_by_sensor(group: TopicGroup, states: Mapping[Levels, SensorState]) -> dict[str, SensorState]:
    """The states of a group's sensors: topics beside theirs."""
    level = group.sensor_level
    if level is None:
        return {}
    mine = {levels: state for levels, state in states.items() if len(levels) == level + 2}
    return {levels[level]: state for levels, state in mine.items() if _is_beside(group, levels, level)}


def _is_beside(group: TopicGroup, levels: Levels, sensor_level: int) -> bool:
    pairs = zip(group.pattern[:sensor_level], levels, strict=False)
    return all(mine in (other, "+") or mine.startswith("{") for mine, other in pairs)


def _describe_sensors(
    group: TopicGroup,
    values: Values,
    fresh: Values,
    time: EventTime | None,
    states: Mapping[str, SensorState],
    columns: Mapping[str, str],
) -> tuple[Sensor, ...]:
    by_sensor: dict[str, list[tuple[Micros, Mapping[str, Any]]]] = defaultdict(list)
    for name, at, each in values:
        by_sensor[name].append((at, each))
    moments: dict[str, list[Micros]] = defaultdict(list)
    for name, at, each in fresh:
        if (moment := time.read(each) if time else at) is not None:
            moments[name].append(moment)
    everything = [name for name in columns if name not in group.wildcards]
    found = []
    for name in sorted({*by_sensor, *states} - {""}):
        heard = by_sensor.get(name, [])
        period = guess_period(moments[name])
        said = {column.lower() for _, each in heard for column in each}
        mine = [column for column in everything if column.lower() in said]
        units = {column: unit for column in mine if (unit := guess_unit(column)) and (not time or column != time.name)}
        sensor = Sensor(name, group.name, _KIND, units=units, sample_period_us=period)
        # A sensor that fills all columns need not name them.
        sensor = replace(sensor, columns=() if not mine or mine == everything else tuple([*group.wildcards, *mine]))
        found.append(_add_state(sensor, states[name], mine) if name in states else sensor)
    return tuple(found)


def _add_state(sensor: Sensor, state: SensorState, columns: Sequence[str]) -> Sensor:
    """What a sensor says of itself counts more than what was guessed."""
    said = {name: unit for name, unit in state.units.items() if name in columns}
    return replace(
        sensor,
        kind=state.kind or sensor.kind,
        latitude=state.latitude if state.longitude is not None else None,
        longitude=state.longitude if state.latitude is not None else None,
        units={**sensor.units, **said},
        sample_period_us=state.setting.sample_period_us or sensor.sample_period_us,
        programs=state.programs,
    )


def _name_encoding(made: Proposal, counts: Counter[str]) -> Proposal:
    known = {name: count for name, count in counts.items() if name != "garbled"}
    return replace(made, encoding=max(known, key=lambda name: known[name]), garbled=counts["garbled"])


def _name_apart(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Give each a name of its own."""
    found: list[Proposal] = []
    for made in proposals:
        taken, name, number = {each.name for each in found}, made.name, 2
        while name in taken:
            name, number = f"{made.name}_{number}", number + 1
        found.append(replace(made, name=name, sensors=tuple(replace(each, source=name) for each in made.sensors)))
    return found
