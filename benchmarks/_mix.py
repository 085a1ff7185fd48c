"""Predicates as people write them, over traffic: drawn from a seed, in several mixes, and readings to ask them of."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

COLUMNS = "sensor VARCHAR, ts TIMESTAMP, segment INT, lane INT, speed DOUBLE, flow INT, occupancy DOUBLE, note VARCHAR"
SCHEMA = pa.schema(
    {
        "sensor": pa.string(),
        "ts": pa.timestamp("us"),
        "segment": pa.int32(),
        "lane": pa.int32(),
        "speed": pa.float64(),
        "flow": pa.int32(),
        "occupancy": pa.float64(),
        "note": pa.string(),
    }
)
SENSORS, SEGMENTS, LANES = 2_000, 400, 6
_WORDS = ("accident", "rain", "works", "ice", "closed lane", "event", "fog", "debris", "queue", "detour")
_NULLS = 0.03

Draw = Callable[[np.random.Generator], str]


def _number(random: np.random.Generator, low: float, high: float, digits: int = 1) -> str:
    return f"{random.uniform(low, high):.{digits}f}"


def _sensor(random: np.random.Generator) -> str:
    return f"'i80-{random.integers(SENSORS):05}'"


def _listed(random: np.random.Generator, least: int, most: int) -> str:
    return ", ".join(_sensor(random) for _ in range(random.integers(least, most)))


def _range(random: np.random.Generator) -> str:
    low = random.uniform(0, 35)
    return f"speed BETWEEN {low:.2f} AND {low + random.uniform(0.1, 4):.2f}"


def _road(random: np.random.Generator) -> str:
    return f"segment = {random.integers(SEGMENTS)} AND lane = {random.integers(LANES)}"


def _word(random: np.random.Generator) -> str:
    return f"{random.choice(_WORDS)} {random.integers(500)}"


_PEOPLE: Mapping[str, tuple[float, Draw]] = {
    "equality and range": (20, lambda r: f"sensor = {_sensor(r)} AND speed < {_number(r, 1, 12)}"),
    "two ranges": (12, lambda r: f"sensor = {_sensor(r)} AND {_range(r)} AND flow >= {r.integers(60)}"),
    "or of ranges": (8, lambda r: f"{_road(r)} AND (speed < {_number(r, 0, 3)} OR speed > {_number(r, 33, 36)})"),
    "or": (6, lambda r: f"sensor = {_sensor(r)} AND speed < 5 OR sensor = {_sensor(r)} AND flow = {r.integers(60)}"),
    "few listed": (8, lambda r: f"sensor IN ({_listed(r, 2, 8)}) AND speed < {_number(r, 1, 8)}"),
    "many listed": (2, lambda r: f"sensor IN ({_listed(r, 150, 400)}) AND speed < {_number(r, 0, 3)}"),
    "not listed": (2, lambda r: f"{_road(r)} AND sensor NOT IN ({_listed(r, 2, 6)})"),
    "prefix": (5, lambda r: f"sensor LIKE 'i80-{r.integers(SENSORS // 10):04}%' AND occupancy > {_number(r, 80, 99)}"),
    "contains": (5, lambda r: f"segment = {r.integers(SEGMENTS)} AND note LIKE '%{_word(r)}%'"),
    "contains alone": (1, lambda r: f"note LIKE '%{_word(r)}'"),
    "not": (6, lambda r: f"NOT (speed >= {_number(r, 1, 6)} OR sensor <> {_sensor(r)})"),
    "missing": (4, lambda r: f"sensor = {_sensor(r)} AND speed IS NULL"),
    "km/h": (8, lambda r: f"sensor = {_sensor(r)} AND speed * 3.6 > {_number(r, 100, 130)}"),
    "sum": (4, lambda r: f"{_road(r)} AND speed + flow > {_number(r, 70, 95)}"),
    "difference": (3, lambda r: f"segment = {r.integers(SEGMENTS)} AND abs(speed - occupancy) > {_number(r, 80, 99)}"),
    "upper case": (3, lambda r: f"upper(sensor) = {_sensor(r).upper()} AND flow > {r.integers(50, 60)}"),
    "box": (3, lambda r: f"{_range(r)} AND flow BETWEEN {(f := r.integers(58))} AND {f + 2} AND {_road(r)}"),
}
"""Each with its weight."""

_FREE: Mapping[str, tuple[float, Draw]] = {
    "road": (30, lambda r: f"{_road(r)} AND speed < {_number(r, 1, 12)}"),
    "box": (20, lambda r: f"{_range(r)} AND flow BETWEEN {(f := r.integers(58))} AND {f + 2}"),
    "small box": (15, lambda r: f"{_range(r)} AND occupancy BETWEEN {(o := r.uniform(0, 99)):.2f} AND {o + 0.5:.2f}"),
    "or": (10, lambda r: f"{_road(r)} AND ({_range(r)} OR flow = {r.integers(60)})"),
    "contains": (5, lambda r: f"segment = {r.integers(SEGMENTS)} AND note LIKE '%{_word(r)}%'"),
    "slow": (5, lambda r: f"speed * 2.237 < {_number(r, 0, 0.5, 3)} AND NOT lane = {r.integers(LANES)}"),
    "sum": (5, lambda r: f"speed + flow > {_number(r, 94.5, 96, 3)}"),
    "missing": (5, lambda r: f"speed IS NULL AND {_road(r)}"),
    "segments": (5, lambda r: f"segment IN ({', '.join(map(str, r.integers(0, SEGMENTS, 5)))}) AND {_range(r)}"),
}

_ARITHMETIC: Mapping[str, tuple[float, Draw]] = {
    "km/h": (25, lambda r: f"sensor = {_sensor(r)} AND speed * 3.6 > {_number(r, 100, 130)}"),
    "any factor": (15, lambda r: f"speed * {_number(r, 1.0, 4.0, 3)} < {_number(r, 0, 0.05, 3)}"),
    "factor here": (15, lambda r: f"sensor = {_sensor(r)} AND flow * {_number(r, 1, 9)} - 3 > {_number(r, 50, 400)}"),
    "sum": (10, lambda r: f"speed + flow > {_number(r, 94.5, 96, 3)}"),
    "sum here": (10, lambda r: f"{_road(r)} AND speed + flow > {_number(r, 70, 95)}"),
    "difference": (10, lambda r: f"abs(speed - occupancy) > {_number(r, 99.3, 100, 3)}"),
    "two factors": (
        5,
        lambda r: f"sensor = {_sensor(r)} AND {r.integers(2, 9)} * speed - occupancy > {_number(r, 50, 90)}",
    ),
    "whole": (5, lambda r: f"flow / 2 = {r.integers(30)} AND {_road(r)}"),
    "rest": (5, lambda r: f"flow % 7 = {r.integers(7)} AND sensor = {_sensor(r)}"),
}

MIXES = {"people": _PEOPLE, "free": _FREE, "arithmetic": _ARITHMETIC}


def make_predicates(mix: str, count: int, seed: int) -> list[str]:
    """So many predicates of a mix."""
    random, kinds = np.random.default_rng(seed), MIXES[mix]
    weights = np.array([weight for weight, _ in kinds.values()])
    drawn = random.choice(len(kinds), count, p=weights / weights.sum())
    draws = [draw for _, draw in kinds.values()]
    return [draws[kind](random) for kind in drawn.tolist()]


def make_readings(count: int, seed: int) -> pa.RecordBatch:
    """Readings, of which a few values are missing."""
    random = np.random.default_rng(seed)
    notes = [f"{word} {number}" for word in _WORDS for number in range(500)]
    columns = {
        "sensor": pa.array([f"i80-{number:05}" for number in random.integers(0, SENSORS, count).tolist()]),
        "ts": pa.array(1_767_225_600_000_000 + np.arange(count) * 1000, pa.timestamp("us")),
        "segment": random.integers(0, SEGMENTS, count),
        "lane": random.integers(0, LANES, count),
        "speed": random.random(count) * 36,
        "flow": random.integers(0, 60, count),
        "occupancy": random.random(count) * 100,
        "note": pa.array(notes).take(pa.array(random.integers(0, len(notes), count))),
    }
    missing = {name: name != "ts" and random.random(count) < _NULLS for name in columns}
    arrays = [pa.array(columns[field.name]).cast(field.type) for field in SCHEMA]
    masked = [
        array
        if field.name == "ts"
        else pa.array(array.to_pandas(), field.type, mask=missing[field.name], from_pandas=False)
        for field, array in zip(SCHEMA, arrays, strict=True)
    ]
    return pa.RecordBatch.from_arrays(masked, schema=SCHEMA)
