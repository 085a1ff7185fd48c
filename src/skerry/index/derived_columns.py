"""Derived columns: expressions that many predicates are about, computed once for each reading.

An expression becomes a column of the index when some predicates have asked for it. There are only so many: each costs
time on every reading, whether a predicate asks or not. None of them can fail on a reading (``infallible``).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import pyarrow as pa

from skerry.index.ask_duckdb import ask_duckdb, ask_type
from skerry.index.constants import Evaluator
from skerry.index.domains import domain_of
from skerry.index.region import Derived

__all__ = ["DerivedColumns"]

_WANTED = 8
"""After so many predicates have asked for an expression, it is computed for the next."""
_MOST = 48
_MOST_COUNTED = 100_000
_NEVER = -(2**60)


class DerivedColumns:
    """The expressions that an index computes.

    >>> import duckdb
    >>> columns = DerivedColumns(pa.schema({"speed": pa.float64(), "flow": pa.int32()}), duckdb.connect)
    >>> found = [columns.find("speed + flow") for _ in range(9)]
    >>> found[0], found[8]
    (None, Derived(sql='speed + flow', type=DataType(double)))
    """

    def __init__(self, schema: pa.Schema, evaluator: Evaluator, known: Iterable[Derived] = ()) -> None:
        self._schema, self._evaluator = schema, evaluator
        self._known = {derived.sql: derived for derived in known}
        self._wanted: Counter[str] = Counter()

    def find(self, sql: str, weight: int = 1) -> Derived | None:
        """An expression as a column; None if it is not computed here. So many predicates are about it."""
        found = self._known.get(sql)
        if found is not None or len(self._known) >= _MOST:
            return found
        self._wanted[sql] += weight
        if self._wanted[sql] > _WANTED:
            return self._begin(sql)
        if len(self._wanted) > _MOST_COUNTED:
            self._wanted.clear()
        return None

    def is_known(self, sql: str) -> bool:
        """Whether an expression is computed here."""
        return sql in self._known

    def compute(self, batch: pa.RecordBatch, wanted: Sequence[Derived]) -> dict[Derived, pa.Array]:
        """The values of expressions."""
        return dict(zip(wanted, ask_duckdb([derived.sql for derived in wanted], batch, self._evaluator), strict=True))

    def _begin(self, sql: str) -> Derived | None:
        """Compute an expression from now on, if its values have an order."""
        type_ = ask_type(sql, self._schema, self._evaluator)
        if type_ is None or domain_of(type_) is None:
            self._wanted[sql] = _NEVER
            return None
        return self._known.setdefault(sql, Derived(sql, type_))
