"""What all queries together want of one group of sensors, kept as counts, so that a query can leave again."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa

from skerry.index.value_sets import Span, ValueSet
from skerry.model.sampling import Sampling
from skerry.model.time import Micros
from skerry.sensors.pieces import Piece
from skerry.sensors.ranges import limit_spans

__all__ = ["Tally", "Wishes"]

_MOST_SPANS = 64
"""How many spans of a column a group has on its way to the few that a sensor is told."""


class Tally:
    """Counts of what pieces want: columns, rates, lifetimes, spans of values.

    To add or remove a piece costs the same however many there are. Where the last piece with a span goes, the union of
    that column's spans is made anew when it is asked for.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._queries: dict[str, list[Piece]] = {}
        self._count = 0
        self._columns: Counter[frozenset[str]] = Counter()
        self._samplings: Counter[Sampling] = Counter()
        self._bounded: Counter[str] = Counter()
        self._spans: dict[str, Counter[Span]] = {}
        self._unions: dict[str, tuple[Span, ...]] = {}
        self._wishes: Wishes | None = None

    def __bool__(self) -> bool:
        """Whether anything is wanted."""
        return self._count > 0

    def add(self, query: str, piece: Piece) -> None:
        """Count one more."""
        self._queries.setdefault(query, []).append(piece)
        self._change(piece, 1)

    def remove(self, query: str, piece: Piece) -> None:
        """Count one less."""
        pieces = self._queries[query]
        pieces.remove(piece)
        if not pieces:
            del self._queries[query]
        self._change(piece, -1)

    @property
    def columns(self) -> frozenset[str]:
        """Those that any piece wants."""
        return frozenset().union(*self._columns)

    @property
    def period_us(self) -> Micros | None:
        """The shortest that any piece asks for."""
        return min((each.period_us for each in self._samplings if each.period_us is not None), default=None)

    @property
    def lifetime_us(self) -> Micros | None:
        """The longest that any piece asks for."""
        return max((each.lifetime_us for each in self._samplings if each.lifetime_us is not None), default=None)

    @property
    def spans(self) -> Mapping[str, tuple[Span, ...]]:
        """By column that every piece bounds, the values that any of them wants."""
        return {name: self._unite(name) for name, count in self._bounded.items() if count == self._count}

    @property
    def queries(self) -> Collection[str]:
        """All that have pieces here."""
        return self._queries.keys()

    @property
    def wishes(self) -> "Wishes":
        """Who wants what, found when it is asked for and kept until the next change."""
        if self._wishes is None:
            self._wishes = Wishes((query, piece) for query, pieces in self._queries.items() for piece in pieces)
        return self._wishes

    def _unite(self, column: str) -> tuple[Span, ...]:
        if column not in self._unions:
            spans = ValueSet.of(self._spans.get(column, ())).spans
            self._unions[column] = limit_spans(spans, self._schema.field(column).type, _MOST_SPANS)
        return self._unions[column]

    def _change(self, piece: Piece, by: int) -> None:
        self._count += by
        self._wishes = None
        _count(self._columns, piece.columns, by)
        _count(self._samplings, piece.sampling, by)
        for column, spans in piece.sides:
            _count(self._bounded, column, by)
            counts = self._spans.setdefault(column, Counter())
            is_other = [_count(counts, span, by) for span in spans]
            if any(is_other):
                self._unions.pop(column, None)


class Wishes:
    """The queries behind pieces: by columns, by what they ask of sampling, by bounded columns, by ends of spans."""

    def __init__(self, pieces: Iterable[tuple[str, Piece]]) -> None:
        self.columns: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        self.samplings: defaultdict[Sampling, list[str]] = defaultdict(list)
        self.bounded: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        self.lows: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self.highs: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for query, piece in pieces:
            self.columns[piece.columns].append(query)
            self.samplings[piece.sampling].append(query)
            self.bounded[tuple(name for name, _ in piece.sides)].append(query)
            for name, spans in piece.sides:
                for low, high in spans:
                    self.lows[name, low].append(query)
                    self.highs[name, high].append(query)


def _count(counts: Counter[Any], key: Any, by: int) -> bool:
    """Count; say whether a key has come or gone."""
    before = counts[key]
    counts[key] = before + by
    if not counts[key]:
        del counts[key]
    return not before or not before + by
