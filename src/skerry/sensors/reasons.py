"""Why a sensor must deliver what it must: which query forces what, and what would change without it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from skerry.catalog import Source
from skerry.index.value_sets import Span
from skerry.model.time import Micros
from skerry.sensors.demand import Cost, SourceDemand
from skerry.sensors.messages import Setting
from skerry.sensors.tally import Wishes

__all__ = ["Forced", "Reasons", "explain_sensor", "explain_sensors", "settings_without"]

_NAMED = 3
"""So many queries are named; of the others it is said how many there are."""


@dataclass(frozen=True)
class Forced:
    """The queries that force something: the first few by name, and how many there are."""

    queries: tuple[str, ...] = ()
    count: int = 0

    @classmethod
    def by(cls, queries: Iterable[str]) -> "Forced":
        """By these, each counted once."""
        found = tuple(dict.fromkeys(queries))
        return cls(found[:_NAMED], len(found))

    @property
    def only(self) -> str | None:
        """The query without which it would be otherwise, if one alone forces it."""
        return self.queries[0] if self.count == 1 else None

    def __str__(self) -> str:
        """As in a sentence.

        >>> str(Forced.by(["view a", "view b", "view c", "view d"]))
        'view a, view b, view c and 1 more'
        """
        more = f" and {self.count - len(self.queries)} more" if self.count > len(self.queries) else ""
        return ", ".join(self.queries) + more


@dataclass(frozen=True)
class Reasons:
    """Who keeps a sensor awake, and who forces its rate, its columns, the ends of its ranges, its lifetime."""

    awake: Forced
    rate: Forced
    lifetime: Forced
    columns: tuple[tuple[str, Forced], ...]
    ends: tuple[tuple[str, tuple[tuple[Forced, Forced], ...]], ...]
    """By column, for each of its ranges in order: who wants the lowest value of it, and who the highest."""
    unbounded: tuple[tuple[str, Forced], ...]
    """By column that some queries bound, those that want all its values."""

    @property
    def decisive(self) -> frozenset[str]:
        """The queries that force something alone: without one of them, the sensor has less to do."""
        ends = [end for _, ranges in self.ends for both in ranges for end in both]
        forced = [self.awake, self.rate, *(each for _, each in (*self.columns, *self.unbounded)), *ends]
        return frozenset(each.only for each in forced if each.only is not None)


def explain_sensor(demand: SourceDemand, sensor: str) -> Reasons:
    """Why a sensor has its setting.

    >>> import pyarrow as pa
    >>> from skerry.catalog import Sensor, Subscription
    >>> road = Source("road", pa.schema({"sensor": pa.string(), "speed": pa.int32()}), "mqtt")
    >>> demand = SourceDemand(road, [Sensor("a", "road", "loop")])
    >>> for name, limit in (("q", 30), ("r", 45)):
    ...     demand.add(Subscription(name, "road", f"speed < {limit}"))
    >>> ((column, ((low, high),)),) = explain_sensor(demand, "a").ends
    >>> str(low), str(high)
    ('subscription q, subscription r', 'subscription r')
    """
    return explain_sensors(demand, [sensor])


def explain_sensors(demand: SourceDemand, sensors: Sequence[str]) -> Reasons:
    """Why sensors with the same setting have it: for each thing, the queries that force it on any of them."""
    wanted = demand.wanted(sensors[0])
    tallies = {id(tally): tally for sensor in sensors for tally in demand.wanted(sensor).tallies}.values()
    finder, spans = _Finder([tally.wishes for tally in tallies]), wanted.spans
    return Reasons(
        Forced.by(query for tally in tallies for query in tally.queries),
        finder.find_sampling("period_us", wanted.period_us),
        _find_lifetime(demand.source, finder, wanted.lifetime_us),
        tuple((name, finder.find_column(name)) for name in wanted.columns),
        tuple((name, tuple(finder.find_ends(name, span) for span in each)) for name, each in spans.items()),
        tuple((name, finder.find_unbounded(name)) for name in finder.list_bounded() if name not in spans),
    )


def settings_without(demand: SourceDemand, query: str) -> dict[str, tuple[Setting, Cost]]:
    """What the sensors that a query concerns would do without it, and what that would cost.

    The query is counted again afterwards.
    """
    pieces, concerned = demand.pieces_of(query), demand.list_concerned(query)
    demand.remove(query)
    try:
        found = demand.decisions(concerned)
    finally:
        demand.add_pieces(query, pieces)
    return {name: (setting, demand.cost(name, setting, choice)) for name, (setting, choice) in found.items()}


def _find_lifetime(source: Source, finder: "_Finder", lifetime_us: Micros | None) -> Forced:
    """Who asks for the longest lifetime: the source itself, or queries."""
    if lifetime_us is not None and source.battery_lifetime_us == lifetime_us:
        return Forced.by([f"source {source.name}"])
    return finder.find_sampling("lifetime_us", lifetime_us)


class _Finder:
    """Looks for the queries that want something of a sensor."""

    def __init__(self, wishes: Sequence[Wishes]) -> None:
        self._wishes = wishes

    def find_sampling(self, field: str, value: Micros | None) -> Forced:
        """Those that ask for a period or a lifetime."""
        if value is None:
            return Forced()
        found = (wishes.samplings.items() for wishes in self._wishes)
        return Forced.by(_join(queries for each in found for key, queries in each if getattr(key, field) == value))

    def find_column(self, name: str) -> Forced:
        """Those that want a column."""
        found = (wishes.columns.items() for wishes in self._wishes)
        return Forced.by(_join(queries for each in found for names, queries in each if name in names))

    def find_ends(self, column: str, span: Span) -> tuple[Forced, Forced]:
        """Those that want the lowest values of a span, and the highest."""
        low, high = span
        return (
            Forced.by(_join(wishes.lows.get((column, low), ()) for wishes in self._wishes)),
            Forced.by(_join(wishes.highs.get((column, high), ()) for wishes in self._wishes)),
        )

    def find_unbounded(self, column: str) -> Forced:
        """Those that want all values of a column."""
        found = (wishes.bounded.items() for wishes in self._wishes)
        return Forced.by(_join(queries for each in found for names, queries in each if column not in names))

    def list_bounded(self) -> list[str]:
        """The columns that any query bounds."""
        return list(dict.fromkeys(name for wishes in self._wishes for names in wishes.bounded for name in names))


def _join(parts: Iterable[Iterable[str]]) -> Iterable[str]:
    return chain.from_iterable(parts)
