"""The queries of a trial: sources, views and subscriptions, and what DuckDB is asked to know their answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

from skerry.catalog import Subscription
from skerry.testing.trial.settings import TrialSettings

__all__ = ["COLUMNS", "LONGEST_WINDOW_S", "TrialQueries", "TrialView", "make_queries"]

COLUMNS = {
    "road": {
        "segment": "INT",
        "lane": "INT",
        "speed": "DOUBLE",
        "flow": "INT",
        "length": "DOUBLE",
        "occupancy": "DOUBLE",
    },
    "field": {
        "pm25": "DOUBLE",
        "no2": "DOUBLE",
        "temperature": "DOUBLE",
        "humidity": "DOUBLE",
        "moisture": "DOUBLE",
        "conductivity": "DOUBLE",
    },
}
"""Of each source, beside sensor, time and number: what its kinds of sensors measure."""
LONGEST_WINDOW_S = 60
_WINDOWS_S = (5, 10, 20, LONGEST_WINDOW_S)
_STREAMS = {"traffic": "road", "air": "field", "soil": "field"}
_VIEWS_SHARE, _MOST_VIEWS = 20, 60
_JOIN_S = 2


@dataclass(frozen=True)
class TrialView:
    """A view, and the same question to DuckDB over tables of all readings."""

    name: str
    text: str
    twin: str
    concerned: tuple[tuple[str, str], ...]
    """By stream, which sensors it needs: a condition on their names."""


@dataclass(frozen=True)
class TrialQueries:
    """All queries of a trial."""

    views: tuple[TrialView, ...]
    subscriptions: tuple[Subscription, ...]

    @property
    def concerned(self) -> frozenset[tuple[str, str]]:
        """Which sensors any query needs: streams, and conditions on the names of their sensors."""
        asked = {(each.stream, each.predicate.partition(" AND (")[0]) for each in self.subscriptions}
        return frozenset(asked | {pair for view in self.views for pair in view.concerned})

    def write_script(self, url: str, delay_s: int) -> str:
        """The script: a source per fleet, a view of the beacon in each, and the views."""
        sources = [_write_source(name, url, delay_s) for name in COLUMNS]
        beacons = [
            f"CREATE MATERIALIZED VIEW beacon_{name} AS SELECT sensor, ts, seq FROM {name} WHERE sensor = 'beacon';"
            for name in COLUMNS
        ]
        views = [f"CREATE MATERIALIZED VIEW {view.name} AS {view.text};" for view in self.views]
        return "\n".join([*sources, *beacons, *views, ""])


def make_queries(settings: TrialSettings) -> TrialQueries:
    """Draw the queries of a trial from its seed. They name the sensors that are used, and no others."""
    dice, used = Random(settings.seed), settings.used
    count = min(max(settings.queries // _VIEWS_SHARE, 6), _MOST_VIEWS)
    views = tuple(islice(_draw_views(dice, used), count))
    subscriptions = tuple(_draw_subscription(dice, used, number) for number in range(settings.queries - count))
    return TrialQueries(views, subscriptions)


def _write_source(name: str, url: str, delay_s: int) -> str:
    columns = ", ".join(f"{column} {type_}" for column, type_ in COLUMNS[name].items())
    return (
        f"CREATE SOURCE {name} (sensor VARCHAR, ts TIMESTAMP, seq BIGINT, {columns},\n"
        f"  WATERMARK FOR ts AS ts - INTERVAL '{delay_s}' SECOND)\n"
        f"WITH (connector='mqtt', url='{url}', topic='{name}/{{sensor}}/data', sequence='seq');"
    )


def _draw_views(dice: Random, used: dict[str, int]) -> Iterator[TrialView]:
    """Views of all kinds by turns, for ever."""
    kinds = (_select, _count_per_sensor, _sum_over_road, _hop_over_air, _select_soil, _join)
    for number, kind in enumerate(cycle(kinds)):
        yield kind(f"view_{number:03d}", dice, used)


def _select(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    where = _among(dice, used, "traffic")
    text = f"SELECT sensor, ts, seq, speed * 2 AS twice FROM road WHERE {where} AND speed < {dice.randint(40, 60)}"
    return TrialView(name, text, text, (("road", where),))


def _select_soil(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    where = _among(dice, used, "soil")
    text = f"SELECT sensor, ts, seq, moisture FROM field WHERE {where}"
    return TrialView(name, text, text, (("field", where),))


def _count_per_sensor(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    kind = dice.choice(list(used))
    stream, size_s, where = _STREAMS[kind], dice.choice(_WINDOWS_S), _among(dice, used, kind)
    made = "COUNT(*) AS readings, MIN(seq) AS first, MAX(seq) AS last"
    text = f"SELECT sensor, window_start, {made} FROM TUMBLE({stream}, ts, INTERVAL '{size_s}' SECOND)"
    twin = f"SELECT sensor, {_bucket(size_s)} AS window_start, {made} FROM {stream}"
    group = f" WHERE {where} GROUP BY sensor, window_start"
    return TrialView(name, text + group, twin + group, ((stream, where),))


def _sum_over_road(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    size_s, where = dice.choice(_WINDOWS_S), _among(dice, used, "traffic")
    made = "SUM(flow) AS vehicles, AVG(flow) AS mean, MAX(speed) AS fastest, COUNT(DISTINCT sensor) AS sensors"
    text = f"SELECT segment, window_start, {made} FROM TUMBLE(road, ts, INTERVAL '{size_s}' SECOND)"
    twin = f"SELECT segment, {_bucket(size_s)} AS window_start, {made} FROM road"
    group = f" WHERE {where} GROUP BY segment, window_start"
    return TrialView(name, text + group, twin + group, (("road", where),))


def _hop_over_air(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    """Sums of doubles depend on their order in DuckDB, so dust is summed in tenths, which is what motes measure."""
    slide_s, windows = dice.choice((5, 10)), dice.choice((2, 3))
    where = _among(dice, used, "air")
    made = "SUM(CAST(round(pm25 * 10) AS INT)) AS dust, MIN(no2) AS least, MAX(humidity) AS dampest"
    hop = f"HOP(field, ts, INTERVAL '{slide_s}' SECOND, INTERVAL '{slide_s * windows}' SECOND)"
    text = f"SELECT window_start, {made} FROM {hop} WHERE {where} GROUP BY window_start"
    starts = f"{_bucket(slide_s)} - INTERVAL '{slide_s}' SECOND * n"
    twin = f"SELECT {starts} AS window_start, {made} FROM field, range({windows}) AS r(n)"
    return TrialView(name, text, f"{twin} WHERE {where} GROUP BY window_start", (("field", where),))


def _join(name: str, dice: Random, used: dict[str, int]) -> TrialView:
    """Each traffic loop with the air of the same number, within two seconds."""
    last = min(used["traffic"], used["air"], 10) - 1
    loops, air = (f"sensor BETWEEN '{_name(kind, 0)}' AND '{_name(kind, last)}'" for kind in ("traffic", "air"))
    where = f"r.{loops} AND f.{air} AND r.speed < {dice.randint(55, 65)}"
    key = "right(r.sensor, 4) = right(f.sensor, 4)"
    made = "SELECT r.sensor, r.ts, r.seq, f.sensor AS beside, f.ts AS beside_ts, f.seq AS beside_seq, f.pm25"
    text = f"{made} FROM SLIDING(road, ts, INTERVAL '{_JOIN_S}' SECOND) AS r"
    text += f" JOIN SLIDING(field, ts, INTERVAL '{_JOIN_S}' SECOND) AS f ON {key} WHERE {where}"
    within = f"abs(epoch_us(r.ts) - epoch_us(f.ts)) <= {_JOIN_S * 1_000_000}"
    twin = f"{made} FROM road AS r JOIN field AS f ON {key} WHERE {where} AND {within}"
    return TrialView(name, text, twin, (("road", loops), ("field", air)))


def _bucket(size_s: int) -> str:
    return f"time_bucket(INTERVAL '{size_s}' SECOND, ts, TIMESTAMP '1970-01-01')"


def _name(kind: str, index: int) -> str:
    return f"{kind}-{index:04d}"


def _among(dice: Random, used: dict[str, int], kind: str) -> str:
    """A range of sensors that are used."""
    first = dice.randrange(used[kind])
    last = min(first + max(used[kind] // 4, 2), used[kind] - 1)
    return f"sensor BETWEEN '{_name(kind, first)}' AND '{_name(kind, last)}'"


def _draw_subscription(dice: Random, used: dict[str, int], number: int) -> Subscription:
    kind = dice.choices(list(used), list(used.values()))[0]
    predicate = f"{_draw_sensors(dice, used, kind)} AND {_draw_condition(dice, kind)}"
    return Subscription(f"q{number}", _STREAMS[kind], predicate)


def _draw_sensors(dice: Random, used: dict[str, int], kind: str) -> str:
    """One sensor, some, or ten whose names begin alike."""
    form, index = dice.random(), dice.randrange(used[kind])
    if form < 0.6:
        return f"sensor = '{_name(kind, index)}'"
    if form < 0.9 or used[kind] < 10:
        names = ", ".join(f"'{_name(kind, dice.randrange(used[kind]))}'" for _ in range(3))
        return f"sensor IN ({names})"
    ten = dice.randrange(used[kind] // 10)
    return f"sensor LIKE '{kind}-{ten:03d}%'"


def _draw_condition(dice: Random, kind: str) -> str:
    choices = {
        "traffic": (
            f"speed < {dice.randint(50, 65)}",
            f"(flow = 0 OR occupancy > {dice.uniform(2.0, 10.0):.2f})",
            f"speed BETWEEN {dice.randint(40, 55)} AND {dice.randint(56, 70)}",
            f"NOT (speed > 60 AND flow < {dice.randint(1, 3)})",
            f"length > {dice.randint(15, 30)} AND lane <> {dice.randint(1, 4)}",
        ),
        "air": (
            f"pm25 > {dice.uniform(8.0, 20.0):.1f}",
            f"no2 BETWEEN {dice.randint(5, 15)} AND {dice.randint(16, 50)}",
            f"pm25 + no2 > {dice.randint(20, 60)}",
            f"humidity IS NOT NULL AND temperature < {dice.randint(10, 20)}",
        ),
        "soil": (
            f"moisture < {dice.randint(11, 30)}",
            f"conductivity > {dice.randint(200, 600)} OR temperature > {dice.randint(10, 18)}",
        ),
    }
    return f"({dice.choice(choices[kind])})"
