"""What the sensors of a source must deliver, computed from all queries over it.

A query is cut into pieces (``pieces``), which are counted by the sensors they concern (``tally``). A sensor must
deliver what the pieces want that concern it, and sleeps if there are none. Where a query is not understood it concerns
every sensor and every value, so no sensor is ever told to leave out what some query needs.

    queries ── pieces ──┬── of sensor 'a':   counts ──┐
                        ├── of 'i80-*':      counts ──┼── setting of 'a', and the reasons for it
                        └── of every sensor: counts ──┘

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, section 4.2.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skerry.catalog import Sensor, Source, Subscription
from skerry.errors import CatalogError
from skerry.index.value_sets import Span, ValueSet
from skerry.model.time import Micros
from skerry.plan.view import ViewPlan
from skerry.sensors.choose_program import Choice, PowerEstimate, choose_program
from skerry.sensors.forecast import Forecast
from skerry.sensors.messages import Setting
from skerry.sensors.pieces import Piece, Pieces
from skerry.sensors.program import Program
from skerry.sensors.ranges import limit_spans, to_ranges
from skerry.sensors.sensor_forecasts import SensorForecasts
from skerry.sensors.tally import Tally
from skerry.sensors.whose import Whose, may_hold

__all__ = ["Cost", "ProgramsOf", "SourceDemand", "Wanted", "compute_demand", "name_query"]

ProgramsOf = Callable[[Sensor], Sequence[Program]]
"""The programs that a sensor knows."""


def name_query(query: ViewPlan | Subscription) -> str:
    """A query as reasons name it: views and subscriptions may have the same names."""
    return f"subscription {query.id}" if isinstance(query, Subscription) else f"view {query.name}"


def _know_no_program(sensor: Sensor) -> Sequence[Program]:
    return ()


@dataclass(frozen=True)
class Cost:
    """Mean power, and how long a full battery lasts with it, where they are known."""

    power_mw: float | None = None
    life_us: Micros | None = None


class Wanted:
    """What some tallies want together."""

    def __init__(self, tallies: Sequence[Tally], source: Source) -> None:
        self.tallies, self._source = tallies, source

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that any wants, in the order of the source."""
        found = frozenset().union(*(tally.columns for tally in self.tallies))
        return tuple(name for name in self._source.schema.names if name in found)

    @property
    def period_us(self) -> Micros | None:
        """The shortest."""
        return min((found for tally in self.tallies if (found := tally.period_us) is not None), default=None)

    @property
    def lifetime_us(self) -> Micros | None:
        """The longest; that of the source counts too."""
        asked = [self._source.battery_lifetime_us, *(tally.lifetime_us for tally in self.tallies)]
        return max((found for found in asked if found is not None), default=None)

    @property
    def spans(self) -> dict[str, tuple[Span, ...]]:
        """By column that all bound, the values that any wants, as few spans."""
        first, *others = [tally.spans for tally in self.tallies]
        shared = [name for name in self.columns if name in first and all(name in other for other in others)]
        found = {}
        for name in shared:
            union = ValueSet.of(span for spans in (first, *others) for span in spans[name]).spans
            found[name] = limit_spans(union, self._source.schema.field(name).type)
        return found


class SourceDemand:
    """What the sensors of one source must deliver; queries come and go.

    >>> import pyarrow as pa
    >>> road = Source("road", pa.schema({"sensor": pa.string(), "speed": pa.float64()}), "mqtt")
    >>> demand = SourceDemand(road, [Sensor("a", "road", "loop"), Sensor("b", "road", "loop")])
    >>> demand.add(Subscription("q", "road", "sensor = 'a' AND speed < 30"))
    >>> demand.setting("a").ranges, demand.setting("b").asleep
    ({'speed': ((None, 29.999999999999996),)}, True)
    """

    def __init__(
        self,
        source: Source,
        sensors: Iterable[Sensor] = (),
        programs_of: ProgramsOf = _know_no_program,
        estimate: PowerEstimate | None = None,
        forecasts: SensorForecasts | None = None,
    ) -> None:
        self.source, self._programs_of, self._estimate = source, programs_of, estimate
        self._forecasts = forecasts
        self._pieces = Pieces(source)
        self._queries: dict[str, list[Piece]] = {}
        self._named: dict[bytes, Tally] = {}
        """What is wanted of one sensor, by its name."""
        self._grouped: dict[Whose, Tally] = {}
        """What is wanted of several."""
        self._sensors: dict[str, Sensor] = {}
        self._entries: list[Sensor] = []
        """All of the catalogue: a sensor of another source may have the same name."""
        self._meeting: dict[str, frozenset[str]] = {}
        """By condition, the names of sensors that may meet it."""
        self.put_sensors(sensors)

    @property
    def sensors(self) -> Mapping[str, Sensor]:
        """Those that are known, by name."""
        return self._sensors

    @property
    def queries(self) -> Sequence[str]:
        """Those that are counted."""
        return tuple(self._queries)

    def put_sensors(self, sensors: Iterable[Sensor]) -> None:
        """Take other sensors, or more, than before: all of the catalogue, or those of the source."""
        self._entries, self._meeting = list(sensors), {}
        self._sensors = {sensor.name: sensor for sensor in self._entries if sensor.source == self.source.name}

    def add(self, query: ViewPlan | Subscription) -> None:
        """Count a query in."""
        if isinstance(query, Subscription):
            self.add_pieces(name_query(query), self._pieces.of_subscription(query))
        else:
            self.add_pieces(name_query(query), self._pieces.of_view(query))

    def add_pieces(self, name: str, pieces: Sequence[Piece]) -> None:
        """Count a query in that is cut up already."""
        if name in self._queries:
            raise CatalogError(f"{name} is counted already; remove it first")
        self._queries[name] = list(pieces)
        for piece in pieces:
            self._find_tally(piece.whose).add(name, piece)

    def remove(self, name: str) -> None:
        """Count a query out."""
        for piece in self.pieces_of(name):
            self._find_tally(piece.whose).remove(name, piece)
            self._forget_empty(piece.whose)
        del self._queries[name]

    def pieces_of(self, name: str) -> Sequence[Piece]:
        """What a query wants."""
        if name not in self._queries:
            raise CatalogError(f"{name} is not counted; known are {', '.join(list(self._queries)[:5]) or 'none'}")
        return self._queries[name]

    def list_concerned(self, name: str) -> frozenset[str]:
        """The known sensors that a query concerns: their settings may change when it comes or goes."""
        found: set[str] = set()
        for whose in {piece.whose for piece in self.pieces_of(name)}:
            if whose.only is not None:
                found |= {whose.only.decode()} & self._sensors.keys()
            else:
                found |= {name for name in self._sensors if self._is_concerned(whose, name, name.encode())}
        return frozenset(found)

    def wanted(self, sensor: str) -> Wanted:
        """What all queries that concern a sensor want together."""
        key = sensor.encode()
        named = [self._named[key]] if key in self._named else []
        grouped = [tally for whose, tally in self._grouped.items() if self._is_concerned(whose, sensor, key)]
        return Wanted([*named, *grouped], self.source)

    def setting(self, sensor: str) -> Setting:
        """What a sensor is to do. It may be one that is not known yet."""
        return self.decide(sensor, self.wanted(sensor))[0]

    def settings(self) -> dict[str, Setting]:
        """What every known sensor is to do."""
        return {name: setting for name, (setting, _) in self.decisions().items()}

    def decisions(self, names: Iterable[str] | None = None) -> dict[str, tuple[Setting, Choice]]:
        """Settings of sensors, and what they cost. Sensors that are alike are decided on once."""
        known: dict[object, tuple[Setting, Choice]] = {}
        found = {}
        for name in self._sensors if names is None else names:
            wanted, sensor = self.wanted(name), self._sensors.get(name)
            kind = (sensor.kind, sensor.columns, sensor.programs, sensor.sample_period_us) if sensor else ()
            key = (*map(id, wanted.tallies), kind)
            if key not in known:
                known[key] = self.decide(name, wanted)
            found[name] = known[key]
        return found

    def decide(self, name: str, wanted: Wanted) -> tuple[Setting, Choice]:
        """What a sensor is to do, if so much is wanted of it."""
        if not wanted.tallies:
            return Setting(asleep=True), Choice()
        sensor = self._sensors.get(name)
        filled = set(sensor.columns) if sensor and sensor.columns else None
        columns = tuple(column for column in wanted.columns if filled is None or column in filled)
        programs = self._programs_of(sensor) if sensor else ()
        usual_us = sensor.sample_period_us if sensor else None
        lifetime_us = wanted.lifetime_us
        choice = choose_program(programs, frozenset(columns), wanted.period_us, lifetime_us, self._estimate, usual_us)
        schema = self.source.schema
        ranges = {name: to_ranges(spans, schema.field(name).type) for name, spans in wanted.spans.items()}
        return Setting(choice.program, choice.period_us, columns, ranges), choice

    def forecast(self, name: str, setting: Setting) -> Forecast | None:
        """What a setting will cost a sensor, where its programs are known."""
        sensor = self._sensors.get(name)
        if sensor is None or self._forecasts is None:
            return None
        return self._forecasts.forecast(sensor, self._programs_of(sensor), setting)

    def cost(self, name: str, setting: Setting, choice: Choice) -> Cost:
        """What a decision costs a sensor: by forecast, or else as its program was chosen."""
        forecast = self.forecast(name, setting)
        if forecast is None or self._forecasts is None:
            return Cost(choice.power_mw, choice.life_us)
        return Cost(forecast.total_mw, self._forecasts.find_life(forecast.total_mw))

    def _find_tally(self, whose: Whose) -> Tally:
        if whose.only is not None:
            return self._named.setdefault(whose.only, Tally(self.source.schema))
        return self._grouped.setdefault(whose, Tally(self.source.schema))

    def _forget_empty(self, whose: Whose) -> None:
        if not self._find_tally(whose):
            if whose.only is not None:
                del self._named[whose.only]
            else:
                del self._grouped[whose]

    def _is_concerned(self, whose: Whose, sensor: str, key: bytes) -> bool:
        return whose.has_name(key) and (not whose.condition or self._meets(whose.condition, sensor))

    def _meets(self, condition: str, sensor: str) -> bool:
        if sensor not in self._sensors:
            return may_hold(condition, [Sensor(sensor, self.source.name, "")])[0]
        if condition not in self._meeting:
            marks = zip(self._entries, may_hold(condition, self._entries), strict=True)
            self._meeting[condition] = frozenset(each.name for each, mark in marks if mark)
        return sensor in self._meeting[condition]


def compute_demand(
    views: Iterable[ViewPlan],
    subscriptions: Iterable[Subscription],
    sources: Iterable[Source],
    sensors: Sequence[Sensor],
    programs_of: ProgramsOf = _know_no_program,
    estimate: PowerEstimate | None = None,
    forecasts: SensorForecasts | None = None,
) -> dict[str, SourceDemand]:
    """What the sensors of all sources must deliver, by source. Of a source without sensors nothing is said."""
    carrying = {sensor.source for sensor in sensors}
    demands = {
        source.name: SourceDemand(source, sensors, programs_of, estimate, forecasts)
        for source in sources
        if source.name in carrying
    }
    for view in views:
        for source in view.sources:
            if source.name in demands:
                demands[source.name].add(view)
    for subscription in subscriptions:
        if subscription.stream in demands:
            demands[subscription.stream].add(subscription)
    return demands
