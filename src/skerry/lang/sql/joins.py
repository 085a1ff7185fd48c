"""JOIN: which conditions are keys, which belong to one stream alone, and which are left for the combinations.

A table without a window belongs to the stream that an equality ties it to, and is looked up beside
that stream's source, before streams are joined with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From, read_from
from skerry.lang.sql.join_scope import JoinScope
from skerry.lang.sql.join_window import check_ends, find_window, keep_for_window, keep_within_window
from skerry.lang.sql.left_join import check_join_kind, check_left_stream, check_table_condition
from skerry.lang.sql.scalar import Scope, condition, scalar
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.arrival import STAMPS
from skerry.model.expression import Expression
from skerry.model.types import sql_name
from skerry.model.window import WINDOW_END, WINDOW_START, GroupWindow
from skerry.plan.join import Join
from skerry.plan.left_join import LeftJoin
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.side import Side

__all__ = ["JoinBinder", "common_type", "conjuncts", "from_of"]

_MOST_STREAMS = 64


@dataclass(frozen=True)
class _Term:
    """One end of an equality: an expression over one stream, and the tables looked up beside it."""

    home: int
    tree: exp.Expr
    bound: Expression

    @property
    def name(self) -> tuple[int, str]:
        return self.home, self.bound.sql


class JoinBinder:
    """Bind FROM and WHERE of a SELECT over several relations. ``scope`` is what its columns may name.

    ``grouped`` says that combinations are gathered by a window, the one that ``find_window`` finds. ``present`` is the
    first relation where that is not what stands in FROM.
    """

    def __init__(
        self, tree: exp.Select, streams: Streams, *, grouped: bool = False, present: From | None = None
    ) -> None:
        self._tree = tree
        joins = tree.args.get("joins") or []
        self._reads = [present or read_from(from_of(tree), streams), *(read_from(join.this, streams) for join in joins)]
        self._merged: set[str] = set()
        self._left: dict[int, list[exp.Expr]] = {}
        """By relation that is joined by LEFT JOIN, what ON says."""
        conditions = list(self._conditions(joins))
        self._homes = {position: position for position, read in enumerate(self._reads) if not _is_lookup(read)}
        if grouped:
            self._lay_window()
        self._check_reads()
        self._everywhere = self._over(range(len(self._reads)))
        self._ties: dict[int, list[tuple[exp.Expr, exp.Expr]]] = {}
        conditions = self._tie_tables(conditions)
        self.scope = self._over(range(len(self._reads)), joined=self.joins_streams)
        self._own: dict[int, list[exp.Expr]] = {home: [] for home in self._streams}
        self._rest: list[exp.Expr] = []
        self._residual: list[exp.Expr] = []
        """What else ON asks of partners, where a stream is joined by LEFT JOIN."""
        self._equalities: list[tuple[_Term, _Term, exp.Expr]] = []
        self._left_stream = check_left_stream(self._reads, self._streams, self._homes, self._left, tree)
        for part in self._left.get(self._left_stream, ()) if self._left_stream is not None else ():
            self._classify_on(part)
        for part in conditions:
            self._classify(part)
        if grouped and self.joins_streams:
            self._rest += keep_within_window([self._reads[home] for home in self._streams], tree)
        self._keys = self._find_keys() if len(self._streams) > 1 else []

    def node(self, technique: str, limit: int) -> Node:
        """The relations, and what is left to ask of their combinations; all columns named so far are in it."""
        residual = condition(reduce(exp.and_, self._rest), self.scope) if self._rest else None
        on = condition(reduce(exp.and_, self._residual), self.scope) if self._residual else None
        sides = [self._side(home) for home in self._streams] if len(self._streams) > 1 else []
        node = self._build_beside(self._streams[0])
        relations = tuple(node for node, _ in sides)
        if self.is_left:
            text, (first, second) = _write_conditions(self._residual), [side for _, side in sides]
            node = LeftJoin(relations, (first, second), on, text, technique, limit)
        elif sides:
            node = Join(relations, tuple(side for _, side in sides), technique, limit)
        if residual:
            node = Select(node, residual, _write_conditions(self._rest))
        return node

    def partners(self) -> tuple[list[Expression], Node, Side]:
        """Of two streams that are only compared by keys: what the first has for keys, and the second."""
        if not self.joins_streams:
            message = "a table is not available there; write SLIDING over a stream"
            raise SqlError(f"NOT EXISTS asks for a reading of a stream: {message}", location_of(self._tree))
        others = [*self._own[self._streams[0]], *self._rest]
        if others:
            message = (
                f"NOT EXISTS compares two streams by what is equal; {_write_conditions(others[:1])} is something else"
            )
            raise SqlError(message, location_of(others[0]) or location_of(self._tree))
        first, second = self._streams
        if self._reads[second].last_rows is not None:
            raise SqlError("NOT EXISTS goes by time: write SLIDING in place of LAST_ROWS", location_of(self._tree))
        return [of_streams[first] for of_streams in self._keys], *self._side(second)

    @property
    def window(self) -> tuple[GroupWindow, str]:
        """The window that combinations are gathered by, and the time that it goes by."""
        read = find_window(self._reads, self._tree)
        assert read.window is not None
        return read.window, self.scope.find(exp.column(str(read.time), read.name, quoted=True))

    @property
    def joins_streams(self) -> bool:
        """Whether streams meet, and not only a stream and tables."""
        return len(self._streams) > 1

    @property
    def is_left(self) -> bool:
        """Whether two streams meet by LEFT JOIN."""
        return self._left_stream is not None

    @property
    def _streams(self) -> list[int]:
        return [position for position, home in self._homes.items() if position == home]

    def _over(self, positions: Sequence[int], *, joined: bool = False) -> JoinScope:
        """The names of some relations: tables' columns behind the table's name; once joined, behind the stream's."""
        reads = [self._reads[position] for position in positions]
        prefixes = [f"{read.name}." if _is_lookup(read) else "" for read in reads]
        if joined:
            streams = [self._reads[self._homes[position]].name for position in positions]
            prefixes = [f"{stream}.{prefix}" for stream, prefix in zip(streams, prefixes, strict=True)]
        return JoinScope(reads, prefixes, frozenset(self._merged))

    def _side_scope(self, home: int) -> JoinScope:
        return self._over([home, *(position for position, of in self._homes.items() if of == home != position)])

    def _lay_window(self) -> None:
        """Let the streams of a window stay as long as it lasts, where they meet others; its ends are one for all."""
        check_ends(self._reads, self._tree)
        self._merged |= {WINDOW_START, WINDOW_END}
        if self.joins_streams:
            self._reads = [keep_for_window(read, self._tree) for read in self._reads]

    def _check_reads(self) -> None:
        names = [read.name.lower() for read in self._reads]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise SqlError(
                f"two relations are called {twice[0]!r}; name one otherwise with AS", location_of(self._tree)
            )
        if len(names) > _MOST_STREAMS:
            raise SqlError(f"a join takes up to {_MOST_STREAMS} relations, got {len(names)}", location_of(self._tree))
        if not self._streams:
            raise SqlError("a join needs a stream; these are all tables without a window", location_of(self._tree))
        for home in self._streams if self.joins_streams else []:
            self._check_window(self._reads[home])

    def _check_window(self, read: From) -> None:
        if read.span_us is None and read.last_rows is None:
            message = f"SLIDING({read.source.name}, {read.time or 'time'}, INTERVAL '1' MINUTE)"
            raise SqlError(f"a stream is joined over a window: {message} AS {read.name}", location_of(self._tree))
        if read.time is None:
            message = f"stream {read.source.name!r} needs a time to be joined: declare WATERMARK FOR"
            raise SqlError(message, location_of(self._tree))

    def _conditions(self, joins: Sequence[exp.Join]) -> Iterator[exp.Expr]:
        """All that must hold, part by part."""
        for position, join in enumerate(joins, 1):
            using = [self._using(position, column) for column in join.args.get("using") or []]
            parts = [*conjuncts(join.args.get("on")), *using]
            if check_join_kind(join):
                self._left[position] = parts
            else:
                yield from parts
        where = self._tree.args.get("where")
        yield from conjuncts(where.this if where else None)

    def _using(self, position: int, column: exp.Expr) -> exp.Expr:
        name = identifier(column)
        earlier = next((read for read in self._reads[:position] if name in read.source.schema.names), None)
        if earlier is None or name not in self._reads[position].source.schema.names:
            raise SqlError(f"USING ({name}) needs the column on both sides", location_of(column))
        self._merged.add(name)
        mine, other = (exp.column(name, read.name, quoted=True) for read in (earlier, self._reads[position]))
        return exp.EQ(this=mine, expression=other)

    def _tie_tables(self, conditions: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Find the stream each table is looked up beside; give the conditions that are left."""
        left = list(conditions)
        waiting = [position for position, read in enumerate(self._reads) if _is_lookup(read)]
        while waiting:
            parts = {table: self._left.get(table, left) for table in waiting}
            ties_found = ((table, tie) for table in waiting for part in parts[table] if (tie := self._tie(table, part)))
            found = next(ties_found, None)
            if found is None:
                message = f"table {self._reads[waiting[0]].name!r} needs a column that equals one of a stream"
                if waiting[0] not in self._left and self._left:
                    name = self._reads[waiting[0]].name
                    message = f"which rows of table {name!r} have no reading is never settled; name the stream first"
                    message = f"{message}: FROM stream LEFT JOIN {name}"
                raise SqlError(message, location_of(self._tree))
            table, (home, _, _) = found
            ties = [(part, tie) for part in parts[table] if (tie := self._tie(table, part)) and tie[0] == home]
            self._ties[table] = [(mine, other) for _, (_, mine, other) in ties]
            self._homes[table] = home
            waiting.remove(table)
            others = [part for part in parts[table] if not any(part is tied for tied, _ in ties)]
            if table in self._left:
                self._left[table] = others
            else:
                left = others
        return left

    def _tie(self, table: int, part: exp.Expr) -> tuple[int, exp.Expr, exp.Expr] | None:
        """The stream that an equality ties a table to, the stream's end of it, and the table's."""
        if not isinstance(part, exp.EQ):
            return None
        for mine, other in ((part.left, part.right), (part.right, part.left)):
            homes = {self._homes.get(position) for position in self._everywhere.owners(mine)}
            if self._everywhere.owners(other) == {table} and len(homes) == 1 and None not in homes:
                (home,) = homes
                assert home is not None
                return home, mine, other
        return None

    def _home(self, tree: exp.Expr) -> set[int]:
        return {self._homes[position] for position in self._everywhere.owners(tree)}

    def _classify_on(self, part: exp.Expr) -> None:
        """What ON of a LEFT JOIN says: keys, conditions on the second stream, and what else partners must agree on."""
        if pair := self._pair(part):
            self._equalities.append((*pair, part))
        elif self._home(part) == {self._left_stream}:
            self._own[self._streams[1]].append(part)
        else:
            self._residual.append(part)

    def _classify(self, part: exp.Expr) -> None:
        """What WHERE says, or ON of a JOIN. What names the second stream of a LEFT JOIN is asked of its answers."""
        homes = self._home(part)
        if not self.is_left and (pair := self._pair(part)):
            self._equalities.append((*pair, part))
        elif len(homes) == 1 and homes != {self._left_stream}:
            self._own[homes.pop()].append(part)
        else:
            self._rest.append(part)

    def _pair(self, part: exp.Expr) -> tuple[_Term, _Term] | None:
        """The two ends of an equality, if each is of one stream, and not of the same."""
        if not isinstance(part, exp.EQ):
            return None
        left, right = self._home(part.left), self._home(part.right)
        is_pair = len(left) == len(right) == 1 and left != right
        return (self._term(part.left), self._term(part.right)) if is_pair else None

    def _term(self, tree: exp.Expr) -> _Term:
        (home,) = self._home(tree)
        return _Term(home, tree, scalar(tree, self._side_scope(home)))

    def _find_keys(self) -> list[dict[int, Expression]]:
        """What all streams agree on: for each key, an expression a stream. Other equalities are left for later."""
        classes: list[dict[tuple[int, str], _Term]] = []
        for left, right, _ in self._equalities:
            pair = {term.name: term for term in (left, right)}
            touched = [found for found in classes if found.keys() & pair.keys()]
            merged = {name: term for found in [*touched, pair] for name, term in found.items()}
            classes = [*(found for found in classes if found not in touched), merged]
        everywhere = [found for found in classes if {home for home, _ in found} == set(self._streams)]
        if not everywhere:
            message = "the streams of a join share a key: each must be equal to the others in some column"
            raise SqlError(f"{message}; streams that meet by different keys need a view each", location_of(self._tree))
        chosen = [[_first(found, home) for home in self._streams] for found in everywhere]
        implied = [{term.name for term in terms} for terms in chosen]
        for left, right, part in self._equalities:
            if not any({left.name, right.name} <= known for known in implied):
                (self._residual if self.is_left else self._rest).append(part)
        return [self._bring_to_one_type(terms) for terms in chosen]

    def _bring_to_one_type(self, terms: Sequence[_Term]) -> dict[int, Expression]:
        """Keys brought to one type."""
        scopes = [self._side_scope(term.home) for term in terms]
        bound = _in_common_type([term.tree for term in terms], scopes, self._tree)
        return {term.home: expression for term, expression in zip(terms, bound, strict=True)}

    def _build_beside(self, home: int) -> Node:
        """What runs beside a stream's source: its own conditions, and its tables."""
        read = self._reads[home]
        node: Node = Scan(read.source)
        first = [part for part in self._own[home] if self._everywhere.owners(part) <= {home}]
        later = [part for part in self._own[home] if part not in first]
        if first:
            node = Select(node, condition(reduce(exp.and_, first), read.scope), _write_conditions(first))
        scope = self._side_scope(home)
        for table, ties in self._ties.items():
            if self._homes[table] == home:
                node = self._look_up(node, table, ties, scope)
        return Select(node, condition(reduce(exp.and_, later), scope), _write_conditions(later)) if later else node

    def _look_up(self, node: Node, table: int, ties: Sequence[tuple[exp.Expr, exp.Expr]], scope: Scope) -> Node:
        read = self._reads[table]
        pairs = []
        for mine, other in ties:
            left, right = _in_common_type([mine, other], [scope, read.scope], self._tree)
            pairs.append((left, right))
        if table not in self._left:
            return Lookup(node, read.source, read.name, tuple(pairs))
        for part in self._left[table]:
            check_table_condition(part, self._everywhere.owners(part), table, read.name)
        asked = condition(reduce(exp.and_, self._left[table]), read.scope) if self._left[table] else None
        return LeftLookup(node, read.source, read.name, tuple(pairs), asked)

    def _side(self, home: int) -> tuple[Node, Side]:
        read = self._reads[home]
        node = self._build_beside(home)
        assert read.time is not None
        used = [name for name in node.schema.names if name == read.time or f"{read.name}.{name}" in self.scope.used]
        columns = {name: Expression.of(name, node.schema.field(name).type) for name in used}
        keys = []
        for number, of_streams in enumerate(self._keys):
            key = of_streams[home]
            keys.append(key.column or f"#{number}")
            columns.setdefault(keys[-1], key)
        if any(other.last_rows for other in self._reads):
            columns |= {stamp.name: Expression.of(stamp.name, stamp.type) for stamp in STAMPS}
        projected = Project(node, tuple(columns.items()))
        return projected, Side(read.name, projected.schema, tuple(keys), read.time, read.span_us, read.last_rows)


def common_type(types: Sequence[pa.DataType]) -> pa.DataType | None:
    """The type in which values of several types are compared, if they can be.

    >>> common_type([pa.int32(), pa.int64()]), common_type([pa.int64(), pa.string()])
    (DataType(int64), None)
    """
    if len(set(types)) == 1:
        return types[0]
    if all(pa.types.is_integer(type_) for type_ in types):
        return pa.int64()
    if any(pa.types.is_decimal(type_) for type_ in types) and not any(map(pa.types.is_floating, types)):
        return _common_decimal(types)
    if all(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_) for type_ in types):
        return pa.float64()
    return None


def _common_decimal(types: Sequence[pa.DataType]) -> pa.DataType | None:
    """The decimals that hold all of some whole numbers and decimals, if 38 digits are enough."""
    if not all(pa.types.is_integer(type_) or pa.types.is_decimal(type_) for type_ in types):
        return None
    sizes = [(type_.precision, type_.scale) if pa.types.is_decimal(type_) else (19, 0) for type_ in types]
    scale = max(scale for _, scale in sizes)
    whole = max(precision - scale for precision, scale in sizes)
    return pa.decimal128(38, scale) if whole + scale <= 38 else None


def _in_common_type(trees: Sequence[exp.Expr], scopes: Sequence[Scope], whole: exp.Expr) -> list[Expression]:
    bound = [scalar(tree, scope) for tree, scope in zip(trees, scopes, strict=True)]
    wanted = common_type([expression.type for expression in bound])
    if wanted is None:
        ends = zip(trees, bound, strict=True)
        message = " and ".join(f"{tree.sql('risingwave')} ({sql_name(expression.type)})" for tree, expression in ends)
        raise SqlError(f"{message} cannot be compared; cast one", location_of(trees[0]) or location_of(whole))
    return [
        expression if expression.type == wanted else scalar(exp.cast(tree.copy(), _cast_name(wanted)), scope)
        for expression, tree, scope in zip(bound, trees, scopes, strict=True)
    ]


def _cast_name(type_: pa.DataType) -> str:
    return f"DECIMAL({type_.precision}, {type_.scale})" if pa.types.is_decimal(type_) else sql_name(type_)


def _is_lookup(read: From) -> bool:
    """Whether a relation is a table as it is now, and not a stream."""
    return read.source.is_table and read.span_us is None and read.last_rows is None and read.window is None


def _first(found: Mapping[tuple[int, str], _Term], home: int) -> _Term:
    return next(term for term in found.values() if term.home == home)


def _write_conditions(parts: Sequence[exp.Expr]) -> str:
    return " AND ".join(part.sql("risingwave") for part in parts)


def from_of(tree: exp.Select) -> exp.Expr:
    """What stands in FROM."""
    clause = tree.args.get("from_") or tree.args.get("from")
    if clause is None:
        raise SqlError("a view needs FROM", location_of(tree))
    found: exp.Expr = clause.this
    return found


def conjuncts(predicate: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold."""
    if predicate is None:
        return
    bare = predicate.unnest()
    if isinstance(bare, exp.And):
        yield from conjuncts(bare.left)
        yield from conjuncts(bare.right)
    else:
        yield bare
