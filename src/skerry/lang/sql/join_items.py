"""What each JOIN of a FROM clause says: its kind, and what it asks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import conjuncts
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.statements import location_of

__all__ = ["JoinItem", "Kind", "read_items"]


class Kind(StrEnum):
    """Which rows a join keeps that have no partner, and which partners a row has."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"
    ASOF = "ASOF JOIN"
    ASOF_LEFT = "ASOF LEFT JOIN"

    @property
    def is_asof(self) -> bool:
        """Whether a row has at most one partner, the latest."""
        return self in (Kind.ASOF, Kind.ASOF_LEFT)


@dataclass
class JoinItem:
    """One relation behind the first, and how it is joined with those before it."""

    position: int
    kind: Kind
    parts: list[exp.Expr]
    """What ON and USING ask, part by part."""
    merged: list[str] = field(default_factory=list)
    """Columns that are named without a table, since they are equal on both sides."""

    def nullifies(self, position: int) -> bool:
        """Whether rows of a relation may be missing, or be another choice of rows, in what the join gives."""
        is_own = position == self.position
        by_kind = {Kind.LEFT: is_own, Kind.RIGHT: position < self.position, Kind.FULL: position <= self.position}
        return by_kind.get(self.kind, self.kind.is_asof and is_own)

    def empties(self, position: int) -> bool:
        """Whether the columns of a relation may be NULL in what the join gives, where they were not before."""
        return self.nullifies(position) and self.kind is not Kind.ASOF


_KINDS = {
    (): Kind.INNER,
    ("INNER",): Kind.INNER,
    ("CROSS",): Kind.INNER,
    ("LEFT",): Kind.LEFT,
    ("RIGHT",): Kind.RIGHT,
    ("FULL",): Kind.FULL,
    ("ASOF",): Kind.ASOF,
    ("ASOF", "INNER"): Kind.ASOF,
    ("ASOF", "LEFT"): Kind.ASOF_LEFT,
}


def read_items(joins: Sequence[exp.Join], reads: Sequence[From]) -> list[JoinItem]:
    """What each JOIN says; ``reads`` are the relations, of which the first is in no JOIN."""
    return [_read_item(join, position, reads) for position, join in enumerate(joins, 1)]


def _read_item(join: exp.Join, position: int, reads: Sequence[From]) -> JoinItem:
    words = " ".join(str(join.args.get(part) or "") for part in ("method", "side", "kind")).upper().split()
    is_natural = "NATURAL" in words
    kind = _KINDS.get(tuple(word for word in words if word not in ("OUTER", "NATURAL")))
    if kind is None:
        known = "known are JOIN, LEFT, RIGHT, FULL, CROSS, ASOF, SEMI and ANTI JOIN"
        raise SqlError(f"{' '.join(words)} JOIN is not available; {known}", location_of(join))
    using = [identifier(column) for column in join.args.get("using") or []]
    if is_natural:
        using = _common_columns(position, reads, join)
    of_time = using.pop() if kind.is_asof and using else None
    item = JoinItem(position, kind, list(conjuncts(join.args.get("on"))), using)
    item.parts += [_compare(name, item, reads, exp.EQ, join) for name in using]
    item.parts += [_compare(of_time, item, reads, exp.GTE, join)] if of_time else []
    item.parts += _read_version(join, item, reads)
    return item


def _common_columns(position: int, reads: Sequence[From], join: exp.Join) -> list[str]:
    """The columns that NATURAL JOIN compares."""
    earlier = {name for read in reads[:position] for name in read.source.schema.names}
    found = [name for name in reads[position].source.schema.names if name in earlier]
    if not found:
        raise SqlError("NATURAL JOIN needs a column of one name on both sides; write ON", location_of(join))
    return found


def _compare(
    name: str, item: JoinItem, reads: Sequence[From], comparison: Callable[..., exp.Expr], join: exp.Expr
) -> exp.Expr:
    """What USING says of one column."""
    position = item.position
    earlier = next((read for read in reads[:position] if name in read.source.schema.names), None)
    if earlier is None or name not in reads[position].source.schema.names:
        raise SqlError(f"USING ({name}) needs the column on both sides", location_of(join))
    mine, other = (exp.column(name, read.name, quoted=True) for read in (earlier, reads[position]))
    return comparison(this=mine, expression=other)


def _read_version(join: exp.Join, item: JoinItem, reads: Sequence[From]) -> Iterator[exp.Expr]:
    """FOR SYSTEM_TIME AS OF a.ts: of a stream, its latest reading by then; a table is as it is."""
    version, read = join.this.args.get("version"), reads[item.position]
    if version is None or read.source.is_table:
        return
    if item.kind not in (Kind.INNER, Kind.LEFT) or not isinstance(version.expression, exp.Column):
        message = "FOR SYSTEM_TIME AS OF names the time of the stream before it: JOIN b FOR SYSTEM_TIME AS OF a.ts"
        raise SqlError(message, location_of(join))
    item.kind = Kind.ASOF if item.kind is Kind.INNER else Kind.ASOF_LEFT
    yield exp.GTE(this=version.expression.copy(), expression=exp.column(str(read.time), read.name, quoted=True))
