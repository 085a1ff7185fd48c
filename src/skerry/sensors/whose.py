"""Which sensors a query concerns: by their names, and by what a condition says about them."""

from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from skerry.index.ask_duckdb import ask_duckdb, ask_type
from skerry.index.infallible import cannot_fail
from skerry.index.value_sets import ValueSet
from skerry.model.dialect import parse_expression, write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import names_in, rename_columns

__all__ = ["EVERY_SENSOR", "FACTS", "NAME", "Whose", "find_whose", "keep_known", "may_hold"]

NAME = "name"
FACTS = pa.schema({NAME: pa.string()})
"""What is known of a sensor without a reading."""


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


def keep_known(predicate: str, sensor: str) -> str:
    r"""What a predicate says about the name of a sensor, which is in column ``sensor``; empty if it says nothing.

    A part that is about anything else is NULL, for it may be true or false. AND, OR and NOT over such parts are false
    only if the predicate is, whatever the readings.

    >>> keep_known("sensor LIKE '%7' AND (speed < 30 OR upper(sensor) = 'A')", "sensor")
    '"name" LIKE \'%7\' AND (NULL OR UPPER("name") = \'A\')'
    """
    known = _keep(parse_expression(predicate), sensor)
    return write_expression(known) if names_in(known) else ""


def _keep(tree: exp.Expr, sensor: str) -> exp.Expr:
    if isinstance(tree, exp.And | exp.Or):
        return type(tree)(this=_keep(tree.this, sensor), expression=_keep(tree.expression, sensor))
    if isinstance(tree, exp.Not | exp.Paren):
        return type(tree)(this=_keep(tree.this, sensor))
    if names_in(tree) != {sensor}:
        return exp.null()
    part = rename_columns(tree.copy(), {sensor: NAME})
    is_safe = cannot_fail(part, lambda each: ask_type(write_expression(each), FACTS, open_duckdb))
    return part if is_safe else exp.null()


def may_hold(condition: str, names: list[str]) -> list[bool]:
    """For each sensor, whether a condition is true or may be.

    >>> may_hold("name LIKE '%7' AND NULL", ["a7", "a8"])
    [True, False]
    """
    (found,) = ask_duckdb([condition], pa.record_batch([pa.array(names, pa.string())], schema=FACTS), open_duckdb)
    return [value is not False for value in found.to_pylist()]
