"""What each standing query in an index has come to: how often it was true, when last, and what it has cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Select,
    String,
    Subquery,
    Table,
    bindparam,
    delete,
    func,
    select,
)
from sqlalchemy.dialects.sqlite import insert

__all__ = ["SUBSCRIPTION", "VIEW", "QueryCounter", "QueryCounters", "declare_counters"]

SUBSCRIPTION, VIEW = "subscription", "view"
"""The kinds of queries that are counted."""

_NO_TIME = -(2**63)
"""Before all times: of a query that was true for readings without one."""


@dataclass(frozen=True)
class QueryCounter:
    """Of one query: ``last_us`` is the event time of the newest reading for which it was true."""

    kind: str
    """A view or a subscription."""
    id: str
    stream: str
    matches: int
    last_us: int | None
    cost_ns: int
    cost_share: float
    """Its part in what all queries of its kind have cost the index of their stream."""


def declare_counters(metadata: MetaData) -> tuple[Table, Table]:
    """The tables: the counters, and for each run the last batch that is in them."""
    counters = Table(
        "query_counters",
        metadata,
        Column("kind", String, primary_key=True),
        Column("id", String, primary_key=True),
        Column("stream", String, nullable=False),
        Column("matches", BigInteger, nullable=False),
        Column("last_us", BigInteger, nullable=False),
        Column("cost_ns", BigInteger, nullable=False),
    )
    batches = Table(
        "counted_batches",
        metadata,
        Column("run", String, primary_key=True),
        Column("batch", Integer, nullable=False),
    )
    return counters, batches


class QueryCounters:
    """Those of a catalogue. Changes belong to the transaction that its caller has open.

    >>> from skerry.catalog import Catalog
    >>> counters = Catalog.in_memory().counters
    >>> row = {"kind": "subscription", "id": "q1", "stream": "road", "matches": 2, "last_us": 5, "cost_ns": 10}
    >>> counters.add("run", 0, [row])
    >>> counters.add("run", 1, [row])
    >>> counters.of("subscription", "q1").matches, counters.last_batch("run")
    (4, 1)
    """

    def __init__(self, connection: Connection, tables: tuple[Table, Table]) -> None:
        self._connection = connection
        self._counters, self._batches = tables

    def last_batch(self, run: str) -> int:
        """The last batch of a run that is in the counters; -1 if none is."""
        chosen = select(self._batches.c.batch).where(self._batches.c.run == run)
        found = self._connection.execute(chosen).scalar_one_or_none()
        return -1 if found is None else int(found)

    def add(self, run: str, batch: int, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add what the batches of a run after ``last_batch`` and up to one have come to."""
        mine, counters = insert(self._counters), self._counters.c
        add = mine.on_conflict_do_update(
            index_elements=["kind", "id"],
            set_={
                "stream": mine.excluded.stream,
                "matches": counters.matches + mine.excluded.matches,
                "last_us": func.max(counters.last_us, mine.excluded.last_us),
                "cost_ns": counters.cost_ns + mine.excluded.cost_ns,
            },
        )
        seen = insert(self._batches).values(run=run, batch=batch)
        self._connection.execute(seen.on_conflict_do_update(index_elements=["run"], set_={"batch": batch}))
        given = [dict(row) | {"last_us": _NO_TIME if row["last_us"] is None else row["last_us"]} for row in rows]
        if given:
            self._connection.execute(add, given)

    def all(self, stream: str | None = None) -> list[QueryCounter]:
        """All, or those of one stream, the busiest first."""
        shares = self._with_shares()
        chosen = select(shares).order_by(shares.c.matches.desc(), shares.c.kind, shares.c.id)
        if stream is not None:
            chosen = chosen.where(shares.c.stream == stream)
        return [_counter(*row) for row in self._connection.execute(chosen)]

    def of(self, kind: str, id_: str) -> QueryCounter | None:
        """That of one query, if it has been asked."""
        shares = self._with_shares()
        chosen = select(shares).where(shares.c.kind == kind, shares.c.id == id_)
        found = self._connection.execute(chosen).one_or_none()
        return _counter(*found) if found else None

    def forget(self, kind: str, ids: Sequence[str]) -> None:
        """Strike the counters of queries that are no more."""
        counters = self._counters.c
        chosen = (counters.kind == kind) & (counters.id == bindparam("gone"))
        has_any = self._connection.execute(select(counters.id).where(counters.kind == kind).limit(1)).first()
        if ids and has_any:
            self._connection.execute(delete(self._counters).where(chosen), [{"gone": id_} for id_ in ids])

    def forget_all_but(self, kind: str, ids: Select[tuple[str]]) -> None:
        """Strike the counters of all queries of a kind but some."""
        chosen = (self._counters.c.kind == kind) & self._counters.c.id.not_in(ids)
        self._connection.execute(delete(self._counters).where(chosen))

    def _with_shares(self) -> Subquery:
        """All counters, each with what all of its kind and stream have cost."""
        table = self._counters.c
        whole = func.sum(table.cost_ns).over(partition_by=[table.kind, table.stream])
        return select(self._counters, whole.label("whole")).subquery()


def _counter(kind: str, id_: str, stream: str, matches: int, last_us: int, cost_ns: int, whole: int) -> QueryCounter:
    last = None if last_us == _NO_TIME else last_us
    return QueryCounter(kind, id_, stream, matches, last, cost_ns, cost_ns / whole if whole else 0.0)
