"""Topics into patterns: which level names the sensor, and which topics belong to one source."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from skerry.sensors.discover.samples import VALUE

__all__ = ["TopicGroup", "group_topics"]

Levels = tuple[str, ...]
_GENERIC = {"data", "readings", "reading", "telemetry", "events", "event", "up", "uplink", "measurements", "values"}
"""Levels at the end of a topic that say that readings follow."""
_NO_QUANTITY = _GENERIC | {"state", "value", "status", "stat", "current"}
"""Levels that do not say what is measured."""
_MOST_SIBLINGS = 20
"""How many values a level may have to be taken for kinds of sensors, each a source of its own."""


@dataclass(frozen=True)
class TopicGroup:
    """Topics of one source: all levels, those that differ by name in braces, and which of them names the sensor.

    ``value`` is what a message without keys says, None where messages have keys.
    """

    pattern: Levels
    sensor_level: int | None
    value: str | None = None

    @property
    def topic(self) -> str:
        """The pattern as a source has it."""
        return "/".join(self.pattern)

    @property
    def wildcards(self) -> dict[str, int]:
        """The columns that levels fill, by name."""
        return {level[1:-1]: number for number, level in enumerate(self.pattern) if level.startswith("{")}

    @property
    def name(self) -> str:
        """What the source may be called: after the last level that is the same for all and says something."""
        if self.value not in (None, VALUE):
            return str(self.value)
        said = [level for level in self.pattern if not level.startswith("{") and level.lower() not in _GENERIC]
        found = re.sub(r"\W+", "_", said[-1].lower(), flags=re.ASCII).strip("_") if said else ""
        return found if found and not found[0].isdigit() else f"source_{found}".rstrip("_")

    def covers(self, levels: Levels) -> bool:
        """Whether a topic is one of this group."""
        return len(levels) == len(self.pattern) and all(
            mine in (other,) or mine.startswith("{") for mine, other in zip(self.pattern, levels, strict=True)
        )


def group_topics(
    topics: Collection[Levels],
    states: Iterable[Levels],
    columns: dict[Levels, frozenset[str]],
    bare: Collection[Levels] = (),
) -> list[TopicGroup]:
    """Patterns for all topics: one for each length and, where they carry different columns, for each kind.

    ``states`` are the topics of states, whose second last level is the sensor. ``columns`` are those of each topic.
    ``bare`` are those whose messages are values without keys: there is a pattern for each quantity.

    >>> found = group_topics([("i80", "a", "data"), ("i80", "b", "data")], [], {})
    >>> [group.topic for group in found]
    ['i80/{sensor}/data']
    >>> topics = [("home", room, name) for room in ("bath", "hall") for name in ("humidity", "light")]
    >>> [(group.topic, group.value) for group in group_topics(topics, [], {}, bare=topics)]
    [('home/{sensor}/humidity', 'humidity'), ('home/{sensor}/light', 'light')]
    """
    prefixes = {levels[:-2] for levels in states if len(levels) > 1}
    families: dict[tuple[object, ...], list[Levels]] = defaultdict(list)
    for levels in topics:
        prefix = levels[:-2] if levels[:-2] in prefixes else None
        families[levels in bare, len(levels), prefix, levels[-1] if prefix is not None else None].append(levels)
    return [
        group
        for (is_bare, *_), found in sorted(families.items(), key=repr)
        for group in (_split_quantities(found, prefixes) if is_bare else _split(found, prefixes, columns))
    ]


def _split_quantities(topics: Sequence[Levels], prefixes: set[Levels]) -> list[TopicGroup]:
    """One family of topics with bare values: by the last level that says something, if several sensors have it."""
    length = len(topics[0])
    telling = [n for n in range(length) if any(topic[n].lower() not in _NO_QUANTITY for topic in topics)]
    level = telling[-1] if telling else 0
    owners: dict[str, set[Levels]] = defaultdict(set)
    for topic in topics:
        owners[topic[level]].add(topic[:level])
    if len(owners) > _MOST_SIBLINGS or all(len(each) < 2 for each in owners.values()):
        own = _name_column(next(iter(owners))) if len(owners) == 1 else VALUE
        return [_make_group(topics, _find_sensor_level(topics, prefixes), own)]
    counts = [len({topic[n] for topic in topics}) for n in range(level)]
    sensor = max(range(level), key=lambda n: (counts[n], n))
    parts = {name: [topic for topic in topics if topic[level] == name] for name in sorted(owners)}
    return [_make_group(part, sensor, _name_column(name)) for name, part in parts.items()]


def _name_column(level: str) -> str:
    """A name for the values of a topic."""
    found = re.sub(r"\W+", "_", level.lower(), flags=re.ASCII).strip("_")
    is_name = found and not found[0].isdigit() and not re.fullmatch(r"sensor|ts|level_\d+", found)
    return found if is_name else VALUE


def _split(topics: Sequence[Levels], prefixes: set[Levels], columns: dict[Levels, frozenset[str]]) -> list[TopicGroup]:
    """One family as one group, or as several if another level than the sensor's tells kinds apart."""
    sensor = _find_sensor_level(topics, prefixes)
    for level in range(len(topics[0])):
        values = {topic[level] for topic in topics}
        if level == sensor or not 1 < len(values) <= _MOST_SIBLINGS:
            continue
        parts = {value: [topic for topic in topics if topic[level] == value] for value in sorted(values)}
        carried = [
            frozenset[str]().union(*(columns.get(topic, frozenset()) for topic in part)) for part in parts.values()
        ]
        if len(set(carried)) > 1:
            return [group for part in parts.values() for group in _split(part, prefixes, columns)]
    return [_make_group(topics, sensor)]


def _find_sensor_level(topics: Sequence[Levels], prefixes: set[Levels]) -> int | None:
    """The level before the last where states say so; else the one that differs most, and of several the last."""
    length = len(topics[0])
    if all(topic[:-2] in prefixes for topic in topics) and length > 1:
        return length - 2
    counts = [len({topic[level] for topic in topics}) for level in range(length)]
    if max(counts) > 1:
        return max(range(length), key=lambda level: (counts[level], level))
    return length - 2 if length > 1 and topics[0][-1].lower() in _GENERIC else None


def _make_group(topics: Sequence[Levels], sensor: int | None, value: str | None = None) -> TopicGroup:
    pattern = []
    for level, name in enumerate(topics[0]):
        differs = any(topic[level] != name for topic in topics)
        pattern.append("{sensor}" if level == sensor else f"{{level_{level + 1}}}" if differs else name)
    return TopicGroup(tuple(pattern), sensor, value)
