"""Topics into patterns: which level names the sensor, and which topics belong to one source."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skerry.sensors.discover.quantities import names_quantity
from skerry.sensors.discover.samples import VALUE

__all__ = ["TopicGroup", "group_topics"]

Levels = tuple[str, ...]
Columns = Mapping[str, str]
"""Names of columns, and of what sort their values are: empty, if only NULL was seen."""
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
        said = [level for level in self.pattern if level[:1] not in ("{", "+") and level.lower() not in _GENERIC]
        found = re.sub(r"\W+", "_", said[-1].lower(), flags=re.ASCII).strip("_") if said else ""
        return found if found and not found[0].isdigit() else f"source_{found}".rstrip("_")

    def covers(self, levels: Levels) -> bool:
        """Whether a topic is one of this group."""
        return len(levels) == len(self.pattern) and all(
            mine in (other, "+") or mine.startswith("{") for mine, other in zip(self.pattern, levels, strict=True)
        )


def group_topics(
    topics: Collection[Levels],
    states: Iterable[Levels],
    columns: Mapping[Levels, Columns],
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
        apart
        for (is_bare, *_), found in sorted(families.items(), key=repr)
        for group in (_split_quantities(found, prefixes) if is_bare else _split(found, prefixes, columns))
        for apart in _keep_apart(group, found, set(topics).difference(found))
    ]


def _keep_apart(group: TopicGroup, family: Sequence[Levels], others: Collection[Levels]) -> list[TopicGroup]:
    """A group that would take in topics of other families, as several that do not, if a level tells them apart."""
    mine = [levels for levels in family if group.covers(levels)]
    foreign = [levels for levels in others if group.covers(levels)]
    for level in group.wildcards.values() if foreign else ():
        parts = _part(mine, level)
        if (
            level != group.sensor_level
            and len(parts) <= _MOST_SIBLINGS
            and parts.keys().isdisjoint(each[level] for each in foreign)
        ):
            return [_make_group(part, group.sensor_level, group.value) for part in parts.values()]
    return [group]


def _split_quantities(topics: Sequence[Levels], prefixes: set[Levels]) -> list[TopicGroup]:
    """One family of topics with bare values: by the level that says what is measured, if several sensors have it."""
    level = _find_quantity_level(topics)
    parts = _part(topics, level)
    if len(parts) > _MOST_SIBLINGS or not _has_several_owners(parts):
        own = _name_column(next(iter(parts))) if len(parts) == 1 else VALUE
        return [_make_group(topics, _find_sensor_level(topics, prefixes), own)]
    sensor = _find_sensor_level(topics, prefixes, level)
    return [_make_group(part, sensor, _name_column(name)) for name, part in parts.items()]


def _find_quantity_level(topics: Sequence[Levels]) -> int:
    """The last level that names quantities, or else the last that says something."""
    length = len(topics[0])
    named = [level for level in range(length) if _are_quantities({topic[level] for topic in topics})]
    telling = [n for n in range(length) if any(topic[n].lower() not in _NO_QUANTITY for topic in topics)]
    return max(named or telling, default=0)


def _are_quantities(values: Collection[str]) -> bool:
    """Whether at least half of the values of a level name what is measured."""
    return 2 * sum(map(names_quantity, values)) >= len(values)


def _part(topics: Sequence[Levels], level: int) -> dict[str, list[Levels]]:
    """Topics by their value of a level."""
    return {
        value: [topic for topic in topics if topic[level] == value]
        for value in sorted({topic[level] for topic in topics})
    }


def _has_several_owners(parts: Mapping[str, Sequence[Levels]]) -> bool:
    """Whether some value of a level stands in several topics: a name of one sensor would not."""
    return any(len(part) > 1 for part in parts.values())


def _name_column(level: str) -> str:
    """A name for the values of a topic."""
    found = re.sub(r"\W+", "_", level.lower(), flags=re.ASCII).strip("_")
    is_name = found and not found[0].isdigit() and not re.fullmatch(r"sensor|ts|level_\d+", found)
    return found if is_name else VALUE


def _split(topics: Sequence[Levels], prefixes: set[Levels], columns: Mapping[Levels, Columns]) -> list[TopicGroup]:
    """One family as one group, or as several if another level than the sensor's tells kinds apart."""
    kind = _find_kind_level(topics, prefixes, columns)
    if kind is not None:
        sensor = _find_sensor_level(topics, prefixes, kind)
        return [_make_group(part, sensor) for part in _part(topics, kind).values()]
    sensor = _find_sensor_level(topics, prefixes)
    for level in range(len(topics[0])):
        parts = _part(topics, level)
        if level == sensor or not 1 < len(parts) <= _MOST_SIBLINGS:
            continue
        if _do_differ([_merge(part, columns) for part in parts.values()]):
            return [group for part in parts.values() for group in _split(part, prefixes, columns)]
    return [_make_group(topics, sensor)]


def _find_kind_level(topics: Sequence[Levels], prefixes: set[Levels], columns: Mapping[Levels, Columns]) -> int | None:
    """The level whose values are kinds, each of several sensors: they name quantities, or carry columns of their own.

    site/a/temperature  site/b/temperature  site/a/humidity  site/b/humidity        the last one
    """
    for level in reversed(range(len(topics[0]))):
        parts = _part(topics, level)
        is_sensor = all(topic[:-2] in prefixes for topic in topics) and level == len(topics[0]) - 2
        if is_sensor or not 1 < len(parts) <= _MOST_SIBLINGS or not _has_several_owners(parts):
            continue
        is_uniform = not any(_do_differ([columns.get(topic, {}) for topic in part]) for part in parts.values())
        does_tell = is_uniform and _do_differ([_merge(part, columns) for part in parts.values()])
        if does_tell or _are_quantities(parts):
            return level
    return None


def _merge(topics: Sequence[Levels], columns: Mapping[Levels, Columns]) -> Columns:
    """All columns of some topics."""
    found: dict[str, str] = {}
    for topic in topics:
        for name, sort in columns.get(topic, {}).items():
            found[name] = found.get(name) or sort
    return found


def _do_differ(carried: Sequence[Columns]) -> bool:
    """Whether columns have other names, or values of other sorts as far as they are known."""
    merged: dict[str, str] = {}
    for each in carried:
        if each.keys() != carried[0].keys():
            return True
        if any(sort and merged.get(name, sort) != sort for name, sort in each.items()):
            return True
        merged |= {name: sort for name, sort in each.items() if sort}
    return False


def _find_sensor_level(topics: Sequence[Levels], prefixes: set[Levels], kind: int | None = None) -> int | None:
    """The level before the last where states say so; else the one that differs most, and of several the last.

    ``kind`` is a level that names something else.
    """
    length = len(topics[0])
    if all(topic[:-2] in prefixes for topic in topics) and length > 1:
        return length - 2
    counts = [len({topic[level] for topic in topics}) if level != kind else 0 for level in range(length)]
    if max(counts) > 1:
        return max(range(length), key=lambda level: (counts[level], level))
    return length - 2 if length > 1 and topics[0][-1].lower() in _GENERIC else None


def _make_group(topics: Sequence[Levels], sensor: int | None, value: str | None = None) -> TopicGroup:
    pattern = []
    for level, name in enumerate(topics[0]):
        differs = any(topic[level] != name for topic in topics)
        own = "+" if re.search("[{}]", name) else name  # braces are a column's to a source
        pattern.append("{sensor}" if level == sensor else f"{{level_{level + 1}}}" if differs else own)
    return TopicGroup(tuple(pattern), sensor, value)
