"""How much of a bounded input has been read."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import nextafter
from typing import Any

import numpy as np

from skerry.model.arrays import Int64s
from skerry.replay.replay import Position
from skerry.sources.source import Connector, Lane

__all__ = ["InputShare"]

_ALMOST_ALL = nextafter(1, 0)
"""Units without readings may be left where all readings have been read."""


class InputShare:
    r"""Tells from a position which share of all readings has been read, where all sources have an end.

    Lanes say how many readings a unit has, or guess it. Of a unit that is cut a part has been read: how much follows
    from how many readings of the source have come, which is no less than is in the units before and no more than with
    all of those that are cut. So the share never falls, and is 1 at the end alone. It is None if a source has no end,
    and from when a source comes that was not there at first: nobody had counted its readings.

    All units are counted when a share is asked for first, which takes 0.1 ms per file. After that each share costs a
    look at the lanes that are under way.

    >>> import pyarrow as pa, tempfile
    >>> from pathlib import Path
    >>> from skerry.catalog import Source
    >>> from skerry.sources.file import FileConnector
    >>> base = Path(tempfile.mkdtemp())
    >>> for day in (1, 2):
    ...     _ = (base / f"{day}.csv").write_text(f"ts\n2026-01-0{day} 00:00:00\n2026-01-0{day} 00:01:00\n")
    >>> road = Source("road", pa.schema({"ts": pa.timestamp("us")}), "file", {"path": "*.csv"}, event_time="ts")
    >>> share = InputShare([FileConnector.open(road, base)])
    >>> share.at({"done": False, "lanes": {"road": {"passed": 1, "open": {}}}}, {"road": 2})
    0.5
    """

    def __init__(self, connectors: Collection[Connector], lanes: Mapping[str, Sequence[Lane]] | None = None) -> None:
        """``lanes`` are those of the connectors, by source, if somebody has them: they remember what they have read."""
        self._connectors, self._lanes = tuple(connectors), dict(lanes) if lanes else None

    def at(self, position: Position, read: Mapping[str, int]) -> float | None:
        """The share at a position, with how many readings of each source have come until then."""
        records: Mapping[str, Mapping[str, Any]] = position["lanes"]
        if any(connector.live for connector in self._connectors) or not records.keys() <= self._sources.keys():
            return None
        if position["done"]:
            return 1.0
        total = sum(source.total for source in self._sources.values())
        found = sum(self._sources[name].count(record, read.get(name, 0)) for name, record in records.items())
        return min(found / total, _ALMOST_ALL) if total else None

    @cached_property
    def _sources(self) -> dict[str, "_Readings"]:
        lanes = self._lanes or {each.definition.name: each.lanes() for each in self._connectors}
        return {name: _Readings(found) for name, found in lanes.items()}


class _Readings:
    """How many readings the lanes of a source have: before each of their units, and before each of them."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._before_unit = [_add_up(lane) for lane in lanes]
        self._before_lane = list(accumulate((int(counts[-1]) for counts in self._before_unit), initial=0))

    @property
    def total(self) -> int:
        """All that there are."""
        return self._before_lane[-1]

    def count(self, record: Mapping[str, Any], read: int) -> int:
        """How many of them have been read where a position has the lanes."""
        least = most = self._before_lane[record["passed"]]
        for index, (unit, cut) in record["open"].items():
            before = self._before_unit[int(index)]
            least += int(before[unit])
            most += int(before[unit] if cut is None else before[unit + 1])
        return min(max(read, least), most)


def _add_up(lane: Lane) -> Int64s:
    """How many readings are before each unit of a lane, and in all of it."""
    return np.cumsum([0, *(lane.weight(unit) for unit in range(lane.count()))], dtype=np.int64)
