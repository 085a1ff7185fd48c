"""From messages to a proposal: the source that would read them, and the sensors behind it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skerry.catalog import Sensor
from skerry.model.time import Micros
from skerry.sensors.discover.columns import SeenColumn, count_columns, guess_unit
from skerry.sensors.discover.samples import Reading, Sample, decode, read_state, split_readings
from skerry.sensors.discover.times import EventTime, Values, find_event_time, find_sequence, guess_delay, guess_period
from skerry.sensors.discover.topics import Levels, TopicGroup, group_topics
from skerry.sensors.messages import SensorState

__all__ = ["Proposal", "propose", "propose_source"]

_SENSOR = "sensor"
_KIND = "sensor"
"""The kind of a sensor that does not say of what kind it is."""


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
    left_out: tuple[str, ...] = ()
    """What the readings have and no column can hold."""
    readings: int = 0
    garbled: int = 0
    """How many messages could not be read."""


def propose(samples: Sequence[Sample]) -> list[Proposal]:
    """A proposal for each group of topics that carries readings alike.

    >>> heard = [Sample(f"i80/{n}/data", b'{"ts": 1700000000, "speed": 5.5}', Micros(n)) for n in range(2)]
    >>> [found] = propose(heard)
    >>> found.topic, dict(found.columns), found.event_time
    ('i80/{sensor}/data', {'sensor': 'VARCHAR', 'ts': 'TIMESTAMP', 'speed': 'DOUBLE'}, EventTime(name='ts', unit='s'))
    """
    encodings: dict[Levels, Counter[str]] = defaultdict(Counter)
    readings: dict[Levels, list[Reading]] = defaultdict(list)
    states: dict[Levels, SensorState] = {}
    for sample in samples:
        found = decode(sample.payload)
        if sample.is_state and found and (state := read_state(found[1])):
            states[sample.levels] = state
        elif sample.carries_readings:
            encodings[sample.levels][found[0] if found else "garbled"] += 1
            readings[sample.levels] += split_readings(sample, found[1]) if found else ()
    readings = {levels: each for levels, each in readings.items() if each}
    columns = {levels: frozenset(count_columns(each.values for each in found)) for levels, found in readings.items()}
    proposals = []
    for group in group_topics(list(readings), list(states), columns):
        mine = [levels for levels in readings if group.covers(levels)]
        heard = sorted((each for levels in mine for each in readings[levels]), key=lambda each: each.arrived_us)
        encoding = sum((encodings[levels] for levels in mine), Counter[str]())
        made = propose_source(group, heard, states)
        # Where nothing can be kept but the names in the topics, there are no readings.
        if len(made.columns) > len(group.wildcards):
            proposals.append(_name_encoding(made, encoding))
    return _name_apart(proposals)


def propose_source(group: TopicGroup, readings: Sequence[Reading], states: Mapping[Levels, SensorState]) -> Proposal:
    """What one group of topics carries."""
    seen = count_columns(each.values for each in readings)
    wildcards = group.wildcards
    said = {name: column for name, column in seen.items() if name.lower() not in wildcards}
    values: Values = [(_name_sensor(each, group, seen), each.arrived_us, each.values) for each in readings]
    time = find_event_time(list(said), values)
    sequence = _find_sequence(said, values, time)
    columns = dict.fromkeys(wildcards, "VARCHAR")
    columns |= {name: column.type for name, column in said.items() if column.type is not None}
    if time is not None:
        columns[time.name] = "TIMESTAMP"
    timed = [(sensor, at, moment) for sensor, at, each in values if time and (moment := time.read(each)) is not None]
    sensors = _describe_sensors(group, values, time, _states_by_sensor(group, states), columns)
    periods = sorted(each.sample_period_us for each in sensors if each.sample_period_us is not None)
    return Proposal(
        group.name,
        group.topic,
        "JSON",
        columns,
        time,
        guess_delay(timed) if time else None,
        sequence,
        periods[len(periods) // 2] if periods else None,
        sensors,
        tuple(name for name, column in said.items() if column.type is None),
        len(readings),
    )


def _find_sequence(said: Mapping[str, SeenColumn], values: Values, time: EventTime | None) -> str | None:
    """The number that counts a sensor's readings."""
    whole = [name for name, column in said.items() if column.type == "BIGINT" and (time is None or name != time.name)]
    return find_sequence(whole, values)


def _name_sensor(reading: Reading, group: TopicGroup, seen: Mapping[str, SeenColumn]) -> str:
    if group.sensor_level is not None:
        return reading.levels[group.sensor_level]
    column = find_sensor_column(seen)
    return str(reading.values.get(column, "")) if column else ""


def find_sensor_column(seen: Mapping[str, SeenColumn]) -> str | None:
    """The column that names the sensor, where no level of a topic does."""
    known = ("sensor", "sensor_id", "device", "device_id", "station", "node", "mote", "name", "id")
    by_name = {name.lower(): name for name, column in seen.items() if column.type in ("VARCHAR", "BIGINT")}
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
    return all(mine == other or mine.startswith("{") for mine, other in pairs)


def _describe_sensors(
    group: TopicGroup,
    values: Values,
    time: EventTime | None,
    states: Mapping[str, SensorState],
    columns: Mapping[str, str],
) -> tuple[Sensor, ...]:
    by_sensor: dict[str, list[tuple[Micros, Mapping[str, Any]]]] = defaultdict(list)
    for name, at, each in values:
        by_sensor[name].append((at, each))
    everything = [name for name in columns if name not in group.wildcards]
    found = []
    for name in sorted({*by_sensor, *states} - {""}):
        heard = by_sensor.get(name, [])
        moments = [time.read(each) if time else at for at, each in heard]
        period = guess_period([moment for moment in moments if moment is not None])
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
