"""Subscriptions: what somebody wants to hear of a stream, and every change to that, in order."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from skerry.catalog.counters import SUBSCRIPTION, QueryCounters
from skerry.catalog.insert_many import insert_many
from skerry.errors import CatalogError

__all__ = ["Subscription", "SubscriptionChange", "Subscriptions", "declare"]

_AT_ONCE = 500
"""How many names a statement takes: SQLite has a limit."""


@dataclass(frozen=True)
class Subscription:
    """A predicate over the readings of a stream. ``sink`` names the output of its answers, if it has one of its own."""

    id: str
    stream: str
    predicate: str
    sink: str | None = None


@dataclass(frozen=True)
class SubscriptionChange:
    """What came or went; ``version`` is that of the registry with it."""

    version: int
    subscription: Subscription
    removed: bool = False


def declare(metadata: MetaData) -> tuple[Table, Table, Table]:
    """The tables: what there is, the log of changes, and which batches saw which version."""
    there = Table(
        "subscriptions",
        metadata,
        Column("id", String, primary_key=True),
        *_about(),
    )
    log = Table(
        "subscription_log",
        metadata,
        Column("version", Integer, primary_key=True, autoincrement=True),
        Column("id", String, nullable=False),
        *_about(),
        Column("removed", Integer, nullable=False),
    )
    batches = Table(
        "subscription_batches",
        metadata,
        Column("run", String, primary_key=True),
        Column("batch", Integer, primary_key=True),
        Column("version", Integer, nullable=False),
    )
    return there, log, batches


def _about() -> list[Column[str]]:
    """What is said of a subscription beside its name."""
    return [
        Column("stream", String, nullable=False),
        Column("predicate", String, nullable=False),
        Column("sink", String),
    ]


class Subscriptions:
    """Those of a catalogue. Changes belong to the transaction that its caller has open.

    >>> from skerry.catalog import Catalog
    >>> found = Catalog.in_memory().subscriptions
    >>> found.add([Subscription("q1", "road", "speed < 30"), Subscription("q2", "road", "flow = 0")])
    >>> found.remove(["q1"])
    >>> [each.id for each in found.all()], found.version
    (['q2'], 3)
    """

    def __init__(self, connection: Connection, tables: tuple[Table, Table, Table], counters: QueryCounters) -> None:
        self._connection, self._counters = connection, counters
        self._there, self._log, self._batches = tables

    @property
    def version(self) -> int:
        """How many changes there have been."""
        return int(self._connection.execute(select(func.max(self._log.c.version))).scalar() or 0)

    def add(self, subscriptions: Iterable[Subscription]) -> None:
        """Enter some; their names must be free."""
        rows = [_to_row(subscription) for subscription in subscriptions]
        if not rows:
            return
        try:
            insert_many(self._connection, self._there, rows)
        except IntegrityError:
            raise CatalogError(f"there is a subscription {self._list_taken(rows)!r} already; remove it first") from None
        insert_many(self._connection, self._log, [{**row, "removed": 0} for row in rows])
        self._counters.forget(SUBSCRIPTION, [str(row["id"]) for row in rows])

    def remove(self, ids: Sequence[str]) -> None:
        """Strike some; all must be there."""
        found = {subscription.id: subscription for subscription in self.find(ids)}
        missing = [name for name in ids if name not in found]
        if missing:
            raise CatalogError(f"there is no subscription {missing[0]!r}; skerry queries list tells which there are")
        for some in _portions(ids):
            self._connection.execute(delete(self._there).where(self._there.c.id.in_(some)))
        self._counters.forget(SUBSCRIPTION, ids)
        if ids:
            rows = [{**_to_row(subscription), "removed": 1} for subscription in found.values()]
            insert_many(self._connection, self._log, rows)

    def forget_gone(self) -> None:
        """Strike the counters of those that are no more."""
        self._counters.forget_all_but(SUBSCRIPTION, select(self._there.c.id))

    def find(self, ids: Sequence[str]) -> list[Subscription]:
        """Those of these names that there are."""
        return [
            Subscription(*row)
            for some in _portions(ids)
            for row in self._connection.execute(select(self._there).where(self._there.c.id.in_(some)))
        ]

    def all(self, stream: str | None = None) -> list[Subscription]:
        """All, or those of one stream, by name."""
        chosen = select(self._there).order_by(self._there.c.id)
        if stream is not None:
            chosen = chosen.where(self._there.c.stream == stream)
        return [Subscription(*row) for row in self._connection.execute(chosen).all()]

    def streams(self) -> dict[str, int]:
        """How many there are to each stream, by name."""
        counted = select(self._there.c.stream, func.count()).group_by(self._there.c.stream).order_by("stream")
        return {row[0]: row[1] for row in self._connection.execute(counted)}

    def sinks(self) -> dict[str, str]:
        """The sinks that are named, and the stream whose answers each receives."""
        named = select(self._there.c.sink, self._there.c.stream).where(self._there.c.sink.is_not(None)).distinct()
        return {row[0]: row[1] for row in self._connection.execute(named)}

    def since(self, version: int) -> list[SubscriptionChange]:
        """What has changed after a version, in order."""
        rows = self._connection.execute(select(self._log).where(self._log.c.version > version).order_by("version"))
        return [SubscriptionChange(row[0], Subscription(*row[1:5]), bool(row[5])) for row in rows]

    def note_batch(self, run: str, batch: int, version: int) -> None:
        """Note from which batch on a run sees a version. The same batch noted again changes nothing."""
        mine = (self._batches.c.run == run) & (self._batches.c.batch == batch)
        self._connection.execute(delete(self._batches).where(mine))
        self._connection.execute(insert(self._batches).values(run=run, batch=batch, version=version))

    def batches(self, run: str) -> list[tuple[int, int]]:
        """The batches of a run with which another version came, and that version, in order."""
        chosen = select(self._batches.c.batch, self._batches.c.version).where(self._batches.c.run == run)
        return [(row[0], row[1]) for row in self._connection.execute(chosen.order_by(self._batches.c.batch))]

    def _list_taken(self, rows: Sequence[dict[str, str | None]]) -> str:
        """Which name is not free: one that is there, or one that is given twice."""
        names = [str(row["id"]) for row in rows]
        there = self.find(names)
        return there[0].id if there else Counter(names).most_common(1)[0][0]


def _to_row(subscription: Subscription) -> dict[str, Any]:
    """What a table holds of a subscription. ``asdict`` copies deeply, which took half of the time to enter many."""
    return dict(vars(subscription))


def _portions(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[first : first + _AT_ONCE] for first in range(0, len(names), _AT_ONCE)]
