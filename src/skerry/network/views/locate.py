"""Which mote a reading is of."""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.arrays import Int64s
from skerry.network.views.deployment import Deployment

__all__ = ["locate_rows", "split_by_mote"]

_COLUMNS = ("mote", "node", "sensor")
"""Where the number of a reading's mote is looked for, if the source does not say."""


def locate_rows(source: Source, deployment: Deployment, readings: pa.RecordBatch) -> Int64s:
    """The mote of each reading; the base station, where a source is in no network.

    A mote is named by its number, or by a text that ends in it.
    """
    if not source.network:
        return np.full(readings.num_rows, deployment.base)
    column = readings.column(_find_mote_column(source))
    if not pa.types.is_integer(column.type):
        column = pc.struct_field(pc.extract_regex(column.cast(pa.string()), r"(?P<number>[0-9]{1,9})$"), "number")
    motes = column.cast(pa.int64())
    wrong = pc.or_kleene(
        pc.is_null(motes), pc.or_(pc.less(motes, 0), pc.greater_equal(motes, len(deployment.topology)))
    )
    wrong = pc.fill_null(wrong, True)
    if pc.any(wrong).as_py():
        row = wrong.index(pa.scalar(True)).as_py()
        value = readings.column(_find_mote_column(source))[row].as_py()
        raise InputError(f"source {source.name!r} has a reading of mote {value!r}; {deployment.describe_motes()}")
    return motes.to_numpy(zero_copy_only=False)


def _find_mote_column(source: Source) -> str:
    given = source.network.get("mote_column")
    for name in (given,) if given else _COLUMNS:
        if name in source.schema.names:
            return name
    looked_for = given or " or ".join(_COLUMNS)
    raise InputError(
        f"source {source.name!r} has no column {looked_for}; say where the number of the mote is: mote_column = '...'"
    )


def split_by_mote(
    source: Source, deployment: Deployment, readings: pa.RecordBatch, route: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """What each mote makes of its own readings, for motes that make anything of them."""
    motes = locate_rows(source, deployment, readings)
    order = np.argsort(motes, kind="stable")
    bounds = np.flatnonzero(np.diff(motes[order])) + 1
    for rows in np.split(order, bounds) if order.size else []:
        if (made := route(readings.take(pa.array(rows)))).num_rows:
            yield int(motes[rows[0]]), made
