"""Which sensors a query concerns: by their names, and by what a condition says about them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Sensor
from skerry.index.ask_duckdb import ask_duckdb, ask_type
from skerry.index.infallible import cannot_fail
from skerry.index.value_sets import ValueSet
from skerry.model.dialect import write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import names_in, rename_columns

__all__ = ["EVERY_SENSOR", "FACTS", "NAME", "Whose", "find_whose", "keep_known", "may_hold"]

NAME = "name"
FACTS = pa.schema(
    {NAME: pa.string(), "source": pa.string(), "kind": pa.string(), "lat": pa.float64(), "lon": pa.float64()}
)
"""What is known of a sensor without a reading, under the names that the catalogue's table has."""


class Whose(NamedTuple):
    """Sensors by name, from ``low`` up to and without ``high``, of which a condition may hold; None: no such bound.

    >>> Whose(b"i80-", b"i80.").has_name(b"i80-e-03-u")
    True
    """

    low: bytes | None = None
    high: bytes | None = None
    condition: str = ""

    @property
    def only(self) -> bytes | None:
        """The one name, if there is only one, and nothing else is asked."""
        is_point = self.low is not None and self.high == self.low + b"\0" and not self.condition
        return self.low if is_point else None

    def has_name(self, name: bytes) -> bool:
        """Whether a name lies within the bounds."""
        return (self.low is None or self.low <= name) and (self.high is None or name < self.high)


EVERY_SENSOR = Whose()


def find_whose(names: ValueSet | None, condition: str) -> list[Whose]:
    """The sensors with names of a set. A reading without a name may be of any."""
    if names is None or names.null:
        return [Whose(condition=condition)]
    return [Whose(low, high, condition) for low, high in names.spans]


def keep_known(predicate: exp.Expr, known: Mapping[str, str]) -> str:
    r"""What a predicate says about a sensor; empty if it says nothing. ``known`` are the columns that hold facts.

    A part that is about anything else is NULL, for it may be true or false. AND, OR and NOT over such parts are false
    only if the predicate is, whatever the readings.

    >>> from skerry.model.dialect import parse_expression
    >>> asked = parse_expression("sensor LIKE '%7' AND (speed < 30 OR upper(sensor) = 'A')")
    >>> keep_known(asked, {"sensor": "name"})
    '"name" LIKE \'%7\' AND (NULL OR UPPER("name") = \'A\')'
    """
    found = _keep(predicate, known)
    return write_expression(found) if names_in(found) else ""


def _keep(tree: exp.Expr, known: Mapping[str, str]) -> exp.Expr:
    if isinstance(tree, exp.And | exp.Or):
        return type(tree)(this=_keep(tree.this, known), expression=_keep(tree.expression, known))
    if isinstance(tree, exp.Not | exp.Paren):
        return type(tree)(this=_keep(tree.this, known))
    if not names_in(tree) or not names_in(tree) <= known.keys():
        return exp.null()
    part = rename_columns(tree.copy(), known)
    is_safe = cannot_fail(part, lambda each: ask_type(write_expression(each), FACTS, open_duckdb))
    return part if is_safe else exp.null()


def may_hold(condition: str, sensors: Sequence[Sensor]) -> list[bool]:
    """For each sensor, whether a condition is true or may be.

    >>> may_hold("name LIKE '%7' AND NULL", [Sensor("a7", "road", "loop"), Sensor("a8", "road", "loop")])
    [True, False]
    """
    facts = [(each.name, each.source, each.kind, each.latitude, each.longitude) for each in sensors]
    columns = [pa.array(column, field.type) for column, field in zip(zip(*facts, strict=True), FACTS, strict=True)]
    (found,) = ask_duckdb([condition], pa.record_batch(columns, schema=FACTS), open_duckdb)
    return [value is not False for value in found.to_pylist()]
