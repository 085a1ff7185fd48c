"""The windows that lie over what a SELECT reads, where rows are given one by one: which columns are their ends."""

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From, call_name, read_from
from skerry.lang.sql.group_windows import find_step
from skerry.lang.sql.split_select import Below
from skerry.lang.sql.streams import Streams
from skerry.model.time import Micros
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.view import VIEW_CONNECTOR
from skerry.plan.window_ends import find_window_end

__all__ = ["OverTime", "WindowReads"]


@dataclass(frozen=True)
class OverTime:
    """The column below that rows go by, and the window that they are given together in, if any."""

    column: str
    window: Window | None = None


class WindowReads:
    """What FROM says of windows. Columns that are needed to go by them are pushed below."""

    def __init__(self, tree: exp.Select, streams: Streams, below: Below) -> None:
        self._tree, self._streams, self._below = tree, streams, below
        tables = [tree.args.get("from_") or tree.args.get("from"), *(tree.args.get("joins") or [])]
        self._tables = [table.this for table in tables if table is not None]
        self._reads = [read for table in self._tables if (read := self._read(table)) is not None]
        self._moments: dict[str, OverTime] = {}

    @cached_property
    def is_grouped(self) -> bool:
        """Whether what is below gives groups, and not rows one by one."""
        return self._below.is_grouped

    def find(self, name: str) -> OverTime | None:
        """The time of rows whose column below is an end of their window; None if it is none."""
        return self._moments.get(name)

    def note_key(self, tree: exp.Expr, name: str) -> None:
        """Note that a column below is made by an expression, which may be an end of a window."""
        if self.is_grouped:
            return
        read, step = self._find_read(tree), find_step(tree)
        if read is not None:
            self._moments[name] = self._push_time(read)
        elif step is not None:  # date_trunc('minute', ts) is the start of a window, if ts is the time
            window = Window(Micros(step), Micros(step))
            self._moments[name] = OverTime(self._below.push(next(tree.find_all(exp.Column))).name, window)

    def _push_time(self, read: From) -> OverTime:
        """Push the time of rows in a window: their own, or, where they are in several, the end of each."""
        assert isinstance(read.window, Window)
        column = str(read.time) if read.window.tumbling else WINDOW_END
        time = self._below.push(exp.column(column, read.name, quoted=True))
        return OverTime(time.name, read.window if read.window.tumbling else None)

    def push_end(self) -> str | None:
        """Push an end of the window that rows, or groups, are in; None if they are in none."""
        if self.is_grouped:
            return self._below.push(exp.column(WINDOW_START)).name
        if self._reads:
            column = exp.column(WINDOW_START, self._reads[0].name, quoted=True)
            name = self._below.push(column).name
            self.note_key(column, name)
            return name
        return next(
            (self._below.push(column).name for table in self._tables for column in self._view_ends(table)), None
        )

    def _find_read(self, tree: exp.Expr) -> From | None:
        """The window that an expression is an end of."""
        bare = tree.unnest()
        if not isinstance(bare, exp.Column) or not isinstance(bare.this, exp.Identifier):
            return None
        if identifier(bare) not in (WINDOW_START, WINDOW_END):
            return None
        return next((read for read in self._reads if bare.table.lower() in ("", read.name.lower())), None)

    def _read(self, table: exp.Expr) -> From | None:
        """A window in FROM whose rows are given with its ends."""
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Func):
            return None
        if call_name(table.this) not in ("TUMBLE", "HOP"):
            return None
        read = read_from(table, self._streams)
        return read if isinstance(read.window, Window) and read.time else None

    def _view_ends(self, table: exp.Expr) -> list[exp.Column]:
        """The columns of a view that are ends of its windows, and can be gone by."""
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return []
        source = self._streams.find(identifier(table))
        if source is None or source.connector != VIEW_CONNECTOR:
            return []
        root = self._streams.plan(source.name).root
        alias = identifier(table.args["alias"].this) if table.args.get("alias") else source.name
        ends = [name for name in root.time_columns if find_window_end(root, name)]
        return [exp.column(name, alias, quoted=True) for name in ends]
