"""Rows by predicate, found by the values of some of their columns."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from skerry.deduce.values import Row, key, row_key
from skerry.model.term import Value
from skerry.plan.program import Predicate, Type

__all__ = ["Tables"]

_OWN_KEYS = {Type.INT, Type.TIME, Type.STRING, Type.NODE}
"""Values of these columns are their own keys."""


class Tables:
    """Sets of rows, with an index for every choice of columns that was asked for.

    A value is looked up as its column holds it: the whole number 1 finds 1.0 in a column of floats.
    """

    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        self._types = {name: tuple(column.type for column in each.columns) for name, each in predicates.items()}
        self._own_keys = {name for name, types in self._types.items() if _OWN_KEYS.issuperset(types)}
        self._rows: dict[str, dict[object, Row]] = defaultdict(dict)
        self._indexes: dict[str, dict[tuple[int, ...], dict[object, list[Row]]]] = defaultdict(dict)

    def add(self, predicate: str, row: Row) -> bool:
        """Add a row; return whether it is new."""
        rows, found = self._rows[predicate], row if predicate in self._own_keys else row_key(row)
        if found in rows:
            return False
        rows[found] = row
        for columns, index in self._indexes[predicate].items():
            index.setdefault(tuple(key(row[column]) for column in columns), []).append(row)
        return True

    def keys(self, predicate: str) -> Mapping[object, Row]:
        """The rows of a predicate by their keys."""
        return self._rows[predicate]

    def rows(self, predicate: str) -> Collection[Row]:
        """The rows of a predicate."""
        return self._rows[predicate].values()

    def holds(self, predicate: str, row: Row) -> bool:
        """Whether a row is there."""
        return tuple(map(_fit_key, row, self._types[predicate])) in self._rows[predicate]

    def matching(self, predicate: str, columns: tuple[int, ...], values: Sequence[Value]) -> Collection[Row]:
        """The rows that have the values given in the columns given."""
        if not columns:
            return self.rows(predicate)
        types = self._types[predicate]
        wanted = tuple(_fit_key(value, types[column]) for column, value in zip(columns, values, strict=True))
        if len(columns) == len(types):
            found = self._rows[predicate].get(wanted)
            return () if found is None else (found,)
        indexes = self._indexes[predicate]
        if columns not in indexes:
            indexes[columns] = self._build_index(predicate, columns)
        return indexes[columns].get(wanted, ())

    def _build_index(self, predicate: str, columns: tuple[int, ...]) -> dict[object, list[Row]]:
        index: dict[object, list[Row]] = {}
        for row in self.rows(predicate):
            index.setdefault(tuple(key(row[column]) for column in columns), []).append(row)
        return index


def _fit_key(value: Value, kind: Type) -> object:
    """The key of a number as its column would hold it."""
    if kind == Type.FLOAT and type(value) is int:
        return key(float(value))
    if kind in (Type.INT, Type.TIME) and isinstance(value, float) and value.is_integer():
        return int(value)
    return key(value)
