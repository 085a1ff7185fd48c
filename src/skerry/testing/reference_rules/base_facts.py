"""The base facts there are: what was inserted, less what was deleted and what has left its window."""

from collections.abc import Iterable, Mapping

from skerry.deduce.rule_text import write_value
from skerry.deduce.values import Row, coerce, row_key
from skerry.errors import InputError
from skerry.plan.program import SINCE, Predicate, in_units

__all__ = ["BaseFacts"]

_LEAST = -(2**63)


class BaseFacts:
    """Facts by predicate, in the order of arrival. A fact inserted while it is there is no new arrival."""

    def __init__(self, predicates: Mapping[str, Predicate], unit: int) -> None:
        self._predicates = {name: each for name, each in predicates.items() if each.base}
        self._unit = unit
        self.rows: dict[str, dict[object, Row]] = {name: {} for name in self._predicates}

    def copy(self) -> "BaseFacts":
        """The same facts, to be changed on their own."""
        copied = BaseFacts(self._predicates, self._unit)
        copied.rows = {name: dict(rows) for name, rows in self.rows.items()}
        return copied

    def expire(self, now: int | None, silent: bool) -> None:
        """Take away what has left the windows of the predicates that expire silently, or of the others."""
        for name, predicate in self._predicates.items():
            if predicate.silent == silent:
                self.rows[name] = {
                    found: row for found, row in self.rows[name].items() if not self._has_expired(predicate, row, now)
                }

    def move_windows(self, now: int | None, predicates: Mapping[str, Predicate]) -> None:
        """Note where the windows of derived predicates begin; without a time they begin where they did, or nowhere."""
        for name, each in predicates.items():
            if each.window_us is not None and not each.base:
                held = self.rows[f"{SINCE}{name}"]
                begin = _LEAST if now is None else max(now - in_units(each.window_us, self._unit), _LEAST)
                if now is not None or not held:
                    self.rows[f"{SINCE}{name}"] = {(begin,): (begin,)}

    def delete(self, predicate: str, rows: Iterable[Row]) -> None:
        """Take facts away; one that is not there is no loss."""
        for row in rows:
            self.rows[predicate].pop(row_key(self._entering(predicate, row)), None)

    def insert(self, predicate: str, rows: Iterable[Row], now: int | None) -> None:
        """Add facts that are within their window."""
        declared = self._predicates[predicate]
        for row in rows:
            entering = self._entering(predicate, row)
            if not self._has_expired(declared, entering, now):
                self.rows[predicate].setdefault(row_key(entering), entering)
        if declared.window_rows is not None:
            kept = list(self.rows[predicate].items())[-declared.window_rows :]
            self.rows[predicate] = dict(kept)

    def _has_expired(self, predicate: Predicate, row: Row, now: int | None) -> bool:
        if now is None or predicate.time is None or predicate.window_us is None:
            return False
        start = row[predicate.time]
        return isinstance(start, int) and now - start > in_units(predicate.window_us, self._unit)

    def _entering(self, predicate: str, row: Row) -> Row:
        columns = self._predicates[predicate].columns
        if len(row) != len(columns):
            raise InputError(f"a fact of {predicate!r} has {len(columns)} values, got {len(row)}")
        entering = []
        for value, column in zip(row, columns, strict=True):
            fitted = coerce(value, column.type)
            if fitted is None:
                raise InputError(f"{column.name!r} of {predicate!r} is of type {column.type}, got {write_value(value)}")
            entering.append(fitted)
        return tuple(entering)
