"""Routes over a grid: along the row first, then along the column. A mote needs nothing but the grid's size for it."""

from dataclasses import dataclass

from skerry.errors import InputError

__all__ = ["GridRouter"]


@dataclass(frozen=True)
class GridRouter:
    """What mote ``mote`` of a grid does with a message for another.

    >>> router = GridRouter(rows=3, columns=4, mote=5)
    >>> router.next_hop(11), router.next_hop(9), router.next_hop(1), router.next_hop(5)
    (6, 9, 1, None)
    >>> router.row, router.column
    (range(4, 8), range(1, 13, 4))
    """

    rows: int
    columns: int
    mote: int

    def __post_init__(self) -> None:
        """Refuse a mote that is not in the grid."""
        if not 0 <= self.mote < self.rows * self.columns:
            raise InputError(f"a grid of {self.rows} x {self.columns} has no mote {self.mote}")

    def next_hop(self, target: int) -> int | None:
        """The neighbour that is next; None if this is the target, or there is no such mote."""
        if target == self.mote or not 0 <= target < self.rows * self.columns:
            return None
        here_row, here_column = divmod(self.mote, self.columns)
        row, column = divmod(target, self.columns)
        if column != here_column:
            return self.mote + (1 if column > here_column else -1)
        return self.mote + (self.columns if row > here_row else -self.columns)

    @property
    def row(self) -> range:
        """The motes of this mote's row, from left to right."""
        first = self.mote - self.mote % self.columns
        return range(first, first + self.columns)

    @property
    def column(self) -> range:
        """The motes of this mote's column, from the first row to the last."""
        first = self.mote % self.columns
        return range(first, first + self.rows * self.columns, self.columns)
