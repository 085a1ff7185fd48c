"""Lines as Arrow: the columns a simulated source can be declared with, and dead letters."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.arrays import Int64s
from skerry.model.types import TIMESTAMP, sql_name
from skerry.sources.sim.traffic.channel import Lines
from skerry.sources.sim.traffic.road import POSITIONS, SIDES, Road
from skerry.sources.source import REJECTS, Decoded

__all__ = ["COLUMNS", "check_columns", "decode"]

Column: TypeAlias = "pa.Array[Any]"

COLUMNS: Mapping[str, tuple[pa.DataType, Callable[[Lines, Road], Column]]] = {
    "sensor": (pa.string(), lambda lines, road: _to_words(road.names, lines.station)),
    "ts": (TIMESTAMP, lambda lines, road: pa.array(lines.time_us.view("datetime64[us]"))),
    "segment": (pa.int32(), lambda lines, road: _to_int32(road.segments[lines.station])),
    "side": (pa.string(), lambda lines, road: _to_words(SIDES, road.sides[lines.station])),
    "position": (pa.string(), lambda lines, road: _to_words(POSITIONS, road.positions[lines.station])),
    "lane": (pa.int32(), lambda lines, road: _to_int32(lines.road_lane)),
    "speed": (pa.float64(), lambda lines, road: pa.array(lines.speed, mask=lines.flow == 0)),
    "flow": (pa.int32(), lambda lines, road: _to_int32(lines.flow)),
    "length": (pa.float64(), lambda lines, road: pa.array(lines.length, mask=lines.flow == 0)),
    "occupancy": (pa.float64(), lambda lines, road: pa.array(lines.occupancy)),
    "latitude": (pa.float64(), lambda lines, road: pa.array(road.latitudes[lines.station])),
    "longitude": (pa.float64(), lambda lines, road: pa.array(road.longitudes[lines.station])),
}
"""Each column's type and how it is made."""


def check_columns(definition: Source) -> None:
    """Refuse a declaration with a column that loops do not report, or with another type than they report it in."""
    for field in definition.schema:
        if field.name not in COLUMNS:
            known = ", ".join(f"{name} {sql_name(type_)}" for name, (type_, _) in COLUMNS.items())
            raise SourceError(f"unknown column {field.name!r} of simulated source {definition.name}; it has {known}")
        type_, _ = COLUMNS[field.name]
        if field.type != type_:
            column = f"column {field.name} of simulated source {definition.name} is {sql_name(type_)}"
            raise SourceError(f"{column}; it was declared {sql_name(field.type)}")


def decode(lines: Lines, road: Road, schema: pa.Schema) -> Decoded:
    """Turn whole lines into readings and garbled ones into dead letters."""
    whole = lines.keep(~lines.garbled)
    columns = [COLUMNS[name][1](whole, road) for name in schema.names]
    return Decoded(pa.RecordBatch.from_arrays(columns, schema=schema), _reject(lines.keep(lines.garbled), road))


def _reject(lines: Lines, road: Road) -> pa.RecordBatch:
    """Write lines as they came: time, road lane, station, speed, flow, with a character of the speed broken."""
    station = _to_words(road.names, lines.station)
    speed = _garble(_to_text(COLUMNS["speed"][1](lines, road)))
    moment = _to_text(COLUMNS["ts"][1](lines, road))
    reason = _concatenate("speed is garbled: '", speed, "'")
    reading = _concatenate(moment, ",", _to_text(lines.road_lane), ",", station, ",", speed, ",", _to_text(lines.flow))
    location = _concatenate(station, " tick ", _to_text(lines.period))
    return pa.RecordBatch.from_arrays([reason, reading, location], schema=REJECTS)


def _garble(texts: Any) -> Any:
    """Break the second character, or put one where there was no speed to send."""
    return pc.utf8_replace_slice(pc.fill_null(texts, ""), 1, 2, "#")


def _to_text(values: Any) -> Any:
    return pc.cast(pa.array(values), pa.string())


def _concatenate(*parts: Any) -> Column:
    joined: Column = pc.binary_join_element_wise(*parts, "")
    return joined


def _to_words(words: tuple[str, ...], which: Int64s) -> Column:
    return pa.DictionaryArray.from_arrays(which.astype(np.int32), pa.array(words)).cast(pa.string())


def _to_int32(numbers: Int64s) -> Column:
    return pa.array(numbers.astype(np.int32))
