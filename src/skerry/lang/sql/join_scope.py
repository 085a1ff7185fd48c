"""The names that may be used where several relations are read."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.scalar import Scope
from skerry.lang.sql.statements import location_of

__all__ = ["JoinScope"]


class JoinScope(Scope):
    """The columns of several relations, each behind its relation's prefix; remembers which were named."""

    def __init__(self, reads: Sequence[From], prefixes: Sequence[str], merged: frozenset[str] = frozenset()) -> None:
        columns = [
            field.with_name(prefix + field.name)
            for read, prefix in zip(reads, prefixes, strict=True)
            for field in read.source.schema
        ]
        rewrites = {
            prefix + name: _behind(prefix, tree)
            for read, prefix in zip(reads, prefixes, strict=True)
            for name, tree in read.rewrites.items()
        }
        super().__init__(" joined with ".join(read.name for read in reads), pa.schema(columns), rewrites)
        self._reads, self._prefixes, self._merged = tuple(reads), tuple(prefixes), merged
        self.used: set[str] = set()

    def check_table(self, column: exp.Column) -> None:
        """A column may be written behind the name of any of the relations."""
        names = [read.name for read in self._reads]
        if column.table and column.table.lower() not in [name.lower() for name in names]:
            raise SqlError(f"unknown table {column.table!r}; the query reads {', '.join(names)}", location_of(column))

    def find(self, column: exp.Column) -> str:
        """The column behind the prefix of its relation."""
        position = self.owner(column)
        name = self._prefixes[position] + self._reads[position].scope.find(_bare(column))
        self.used.add(name)
        return name

    def owner(self, column: exp.Column) -> int:
        """Which relation a column belongs to; of columns that USING made one, the first."""
        self.check_table(column)
        if column.table:
            return next(p for p, read in enumerate(self._reads) if read.name.lower() == column.table.lower())
        positions = [position for position, read in enumerate(self._reads) if read.scope.has(_bare(column))]
        if not positions:
            raise UnknownColumn(column.name, self.name, self._list_columns(), location_of(column))
        if len(positions) > 1 and column.name.lower() not in self._merged:
            spelled = " or ".join(f"{self._reads[position].name}.{column.name}" for position in positions)
            raise SqlError(f"column {column.name!r} is ambiguous; write {spelled}", location_of(column))
        return positions[0]

    def owners(self, tree: exp.Expr) -> set[int]:
        """Which relations an expression speaks of."""
        return {self.owner(column) for column in tree.find_all(exp.Column)}

    def everything(self, table: str | None) -> list[tuple[str, str]]:
        """The columns of one relation, or of all, by the names they have outside and here."""
        found = [
            (name, prefix + name)
            for read, prefix in zip(self._reads, self._prefixes, strict=True)
            if table in (None, read.name.lower())
            for name in read.source.schema.names
        ]
        self.used |= {inner for _, inner in found}
        return found

    def _list_columns(self) -> list[str]:
        return [f"{read.name}.{name}" for read in self._reads for name in read.source.schema.names]


def _bare(column: exp.Column) -> exp.Column:
    bare = exp.Column(this=column.this.copy())
    bare.meta.update(column.meta)
    return bare


def _behind(prefix: str, tree: exp.Expr) -> exp.Expr:
    """An expression over a relation's columns, each behind a prefix."""
    return tree.copy().transform(
        lambda node: exp.column(prefix + node.name, quoted=True) if isinstance(node, exp.Column) else node
    )
