"""Which views came and went, in order, and what the runs of a project have made of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, delete, func, insert, select

__all__ = ["ViewLog", "ViewNews", "declare_view_log"]


@dataclass(frozen=True)
class ViewNews:
    """What a run has made of a view: it answers it from a batch on, has let go of it, or does not answer it."""

    view: str
    run: str
    batch: int
    event: str
    """``came``, ``went`` or ``refused``."""
    reason: str = ""


def declare_view_log(metadata: MetaData) -> tuple[Table, Table]:
    """The tables: the log of changes, and the last word of a run about each view."""
    log = Table(
        "view_log",
        metadata,
        Column("version", Integer, primary_key=True, autoincrement=True),
        Column("name", String, nullable=False),
    )
    news = Table(
        "view_news",
        metadata,
        Column("view", String, primary_key=True),
        Column("run", String, nullable=False),
        Column("batch", Integer, nullable=False),
        Column("event", String, nullable=False),
        Column("reason", String, nullable=False),
    )
    return log, news


class ViewLog:
    """The log of a catalogue. Changes belong to the transaction that its caller has open.

    >>> from skerry.catalog import Catalog, View
    >>> catalog = Catalog.in_memory()
    >>> catalog.add(View("slow", {}, "CREATE ..."))
    >>> catalog.view_log.since(0), catalog.view_log.version
    ({'slow': 1}, 1)
    """

    def __init__(self, connection: Connection, tables: tuple[Table, Table]) -> None:
        self._connection = connection
        self._log, self._news = tables

    @property
    def version(self) -> int:
        """How many changes there have been."""
        return int(self._connection.execute(select(func.max(self._log.c.version))).scalar() or 0)

    def note(self, name: str) -> None:
        """Note that a view came or went."""
        self._connection.execute(insert(self._log).values(name=name))

    def since(self, version: int) -> dict[str, int]:
        """The views that came or went after a version, in order, with the version of each one's last change."""
        last = func.max(self._log.c.version)
        chosen = select(self._log.c.name, last).where(self._log.c.version > version).group_by(self._log.c.name)
        return {str(row[0]): int(row[1]) for row in self._connection.execute(chosen.order_by(last))}

    def put_news(self, news: Iterable[ViewNews]) -> None:
        """Note what a run has made of some views, in place of what was noted of them before."""
        for each in news:
            self._connection.execute(delete(self._news).where(self._news.c.view == each.view))
            self._connection.execute(insert(self._news).values(vars(each)))

    def news_of(self, view: str) -> ViewNews | None:
        """What the last run that had to do with a view has made of it."""
        found = self._connection.execute(select(self._news).where(self._news.c.view == view)).one_or_none()
        return None if found is None else ViewNews(*found)
