"""The names that may be used where several relations are read."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError, UnknownColumn
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.expression import Expression

__all__ = ["JoinScope"]

_MERGED = "#merged "
"""Before the name of a column that has its value from one relation or another."""


class JoinScope(Scope):
    """The columns of several relations, each behind its relation's prefix; remembers which were named.

    ``merged`` are columns that are equal in all relations that have them. They need no table before them: the first
    that is not ``nullable`` has the value, or else the first that is not NULL. ``added`` are columns of none of them.
    """

    def __init__(
        self,
        reads: Sequence[From],
        prefixes: Sequence[str],
        merged: frozenset[str] = frozenset(),
        nullable: frozenset[int] = frozenset(),
        added: Sequence[pa.Field] = (),
    ) -> None:
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
        super().__init__(" joined with ".join(read.name for read in reads), pa.schema([*columns, *added]), rewrites)
        self._reads, self._prefixes, self._merged = tuple(reads), tuple(prefixes), merged
        self._nullable = nullable
        self.used: set[str] = set()

    def check_table(self, column: exp.Column) -> None:
        """A column may be written behind the name of any of the relations."""
        names = [read.name for read in self._reads]
        if column.table and column.table.lower() not in [name.lower() for name in names]:
            raise SqlError(f"unknown table {column.table!r}; the query reads {', '.join(names)}", location_of(column))

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The expression a column stands for."""
        owners = self._owners_of(column)
        if len(owners) == 1:
            return super().resolve(column)
        named = [exp.column(column.this.copy(), self._reads[position].name, quoted=True) for position in owners]
        return exp.Anonymous(this="coalesce", expressions=[super(JoinScope, self).resolve(each) for each in named])

    def find(self, column: exp.Column) -> str:
        """The column behind the prefix of its relation."""
        position = self.owner(column)
        name = self._prefixes[position] + self._reads[position].scope.find(_bare(column))
        self.used.add(name)
        return name

    def owner(self, column: exp.Column) -> int:
        """Which relation a column belongs to; of columns that USING made one, the first."""
        return self._owners_of(column)[0]

    def _owners_of(self, column: exp.Column) -> list[int]:
        """The relations that a column may have its value from: several, if each of them may have no row."""
        self.check_table(column)
        if column.table:
            return [next(p for p, read in enumerate(self._reads) if read.name.lower() == column.table.lower())]
        positions = [position for position, read in enumerate(self._reads) if read.scope.has(_bare(column))]
        if not positions:
            known, is_quoted = self._list_columns(), column.this.quoted
            raise UnknownColumn(column.name, self.name, known, location_of(column), is_quoted=is_quoted)
        if len(positions) > 1 and column.name.lower() not in self._merged:
            spelled = " or ".join(f"{self._reads[position].name}.{column.name}" for position in positions)
            raise SqlError(f"column {column.name!r} is ambiguous; write {spelled}", location_of(column))
        kept = [position for position in positions if position not in self._nullable]
        return kept[:1] or positions

    def owners(self, tree: exp.Expr) -> set[int]:
        """Which relations an expression speaks of."""
        return {position for column in tree.find_all(exp.Column) for position in self._owners_of(column)}

    def owners_by_name(self, tree: exp.Expr) -> set[str]:
        """The names of the relations an expression speaks of."""
        return {self._reads[position].name for position in self.owners(tree)}

    def everything(self, table: str | None) -> list[tuple[str, str]]:
        """The columns of one relation, or of all, by the names they have outside and here; merged ones once."""
        found = [
            (name, prefix + name)
            for position, (read, prefix) in enumerate(zip(self._reads, self._prefixes, strict=True))
            if table in (None, read.name.lower())
            for name in read.source.schema.names
            if not name.startswith("#")
            if table or name not in self._merged or position == self.owner(exp.column(name, quoted=True))
        ]
        if table is None:  # a merged column is nobody's own where each relation that has it may have no row
            found = [(name, _MERGED + name if self._has_several(name) else inner) for name, inner in found]
        self.used |= {inner for _, inner in found if not inner.startswith(_MERGED)}
        return found

    def column(self, name: str) -> Expression:
        """A column by the name it has here."""
        if name.startswith(_MERGED):
            return scalar(exp.column(name.removeprefix(_MERGED), quoted=True), self)
        return super().column(name)

    def _has_several(self, name: str) -> bool:
        return name in self._merged and len(self._owners_of(exp.column(name, quoted=True))) > 1

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
