"""Subqueries in expressions, asked of a relation below: a query is left that reads that one instead.

    SELECT COUNT(*) FROM TUMBLE(a, ts, size) AS a              SELECT COUNT(*) FROM TUMBLE(x, ts, size) AS a
    WHERE a.v > 3 AND EXISTS (SELECT ... b.k = a.k)    ──►     where x: a, where v > 3, that has a partner in b

So they stand beside joins, aggregates and each other. A question about a table becomes columns that are looked up, and
may stand anywhere in an expression; one about a stream is a condition of its own in WHERE.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.ask_tables import TableQuestions
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.from_clause import From, call_name, read_from
from skerry.lang.sql.joins import conjuncts
from skerry.lang.sql.partners import StreamQuestion, find_partners
from skerry.lang.sql.relations import Bind
from skerry.lang.sql.scalar import Scope, condition
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import HIDDEN, Streams
from skerry.lang.sql.subquery import Subquery, list_asking, read_subquery
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.project import Project
from skerry.plan.rewrites.carry_changes import carry_changes
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan

__all__ = ["move_subqueries"]

_NOT_HERE = ("GATHER", "SILENCE")


def move_subqueries(tree: exp.Select, streams: Streams, bind: Bind, *, is_grouped: bool) -> bool:
    """Take the subqueries out of a query's expressions; say whether there were any."""
    _write_as_conditions(tree, streams)
    parts = [part for part in _list_parts(tree) if list_asking(part)]
    if not parts:
        return False
    mover = _Mover(tree, streams, bind, is_grouped)
    for part in parts:
        mover.take(part)
    mover.finish()
    return True


def _write_as_conditions(tree: exp.Select, streams: Streams) -> None:
    """SEMI JOIN and ANTI JOIN as what they mean: EXISTS and NOT EXISTS."""
    for join in list(tree.args.get("joins") or []):
        kind = str(join.args.get("kind") or "").upper()
        if kind not in ("SEMI", "ANTI"):
            continue
        first, other = (read_from(item, streams).name for item in (list_items(tree)[0].this, join.this))
        using = [
            exp.EQ(this=exp.column(each.name, other, quoted=True), expression=exp.column(each.name, first, quoted=True))
            for each in join.args.get("using") or []
        ]
        asked = [*conjuncts(join.args.get("on")), *using]
        where = exp.Where(this=reduce(exp.and_, [part.copy() for part in asked])) if asked else None
        query = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this.copy()), where=where)
        exists: exp.Expr = exp.Exists(this=query)
        tree.where(exp.Not(this=exists) if kind == "ANTI" else exists, copy=False)
        join.pop()


def _list_parts(tree: exp.Select) -> Iterator[exp.Expr]:
    """What may ask: conditions one by one, columns, and what is asked of groups."""
    where, having = tree.args.get("where"), tree.args.get("having")
    yield from conjuncts(where.this if where else None)
    yield from tree.selects
    if having:
        yield having.this


@dataclass
class _Asked:
    """A relation of FROM, and what is asked on behalf of its rows."""

    holder: exp.Expr
    read: From
    tables: TableQuestions
    streams: list[StreamQuestion] = field(default_factory=list)
    is_optional: bool = False
    """Whether it may have no row beside one of another relation."""


class _Mover:
    """Moves the subqueries of one query."""

    def __init__(self, tree: exp.Select, streams: Streams, bind: Bind, is_grouped: bool) -> None:
        self._tree, self._streams, self._bind, self._is_grouped = tree, streams, bind, is_grouped
        holders, joins = list_items(tree), tree.args.get("joins") or []
        optional = _find_optional(joins)
        self._relations = []
        for position, holder in enumerate(holders):
            _check_item(holder.this)
            read = read_from(holder.this, streams, alone=len(holders) == 1)
            questions = TableQuestions(Scan(read.source), read.scope, f"{position}_")
            self._relations.append(_Asked(holder, read, questions, is_optional=position in optional))
        self._waits = not joins and not is_grouped
        """Whether the window of a relation says how long its readings wait for partners."""

    def take(self, part: exp.Expr) -> None:
        """Take the subqueries out of one condition or column."""
        bare = part.unnest()
        in_where = _is_condition(part, self._tree)
        question = self._read_stream_question(bare) if in_where else None
        if question is not None:
            owner = self._find_owner(question.subquery, question.needles)
            owner.streams.append(question)
            part.replace(exp.true())
            return
        for asking in list_asking(part):
            self._ask_table(asking, known=in_where and _counts_as_asked(asking))

    def finish(self) -> None:
        """Let the query read what was asked of, in place of what was named."""
        for asked in self._relations:
            if asked.streams or asked.tables.added:
                self._replace(asked)

    def _read_stream_question(self, bare: exp.Expr) -> StreamQuestion | None:
        """A condition that asks a stream; None if it asks tables, or something else beside."""
        negated = isinstance(bare, exp.Not)
        inner = bare.this.unnest() if negated else bare
        if list_asking(inner) != [inner] or isinstance(inner, exp.Subquery):
            return None
        query, needles, is_not = _read_asking(inner)
        subquery = read_subquery(query, self._streams, self._bind)
        return None if subquery.reads_tables else StreamQuestion(subquery, needles, negated != is_not)

    def _ask_table(self, asking: exp.Expr, *, known: bool) -> None:
        query, needles, is_not = _read_asking(asking)
        subquery = read_subquery(query, self._streams, self._bind)
        if not subquery.reads_tables:
            message = "a subquery over a stream stands in WHERE, as a condition of its own: WHERE EXISTS (...) AND ..."
            raise SqlError(f"{message}; elsewhere, let a JOIN or a view compute it", location_of(asking))
        tables = self._find_owner(subquery, needles).tables
        if isinstance(asking, exp.Exists):
            answer = tables.ask_existence(subquery)
        elif needles:
            answer = tables.ask_membership(subquery, needles, known=known and not is_not)
        else:
            answer = tables.ask_value(subquery)
            if self._is_grouped and not _is_condition(asking, self._tree) and not asking.find_ancestor(exp.AggFunc):
                answer = exp.Max(this=answer)  # all rows of a group have it
        answer = exp.Not(this=answer) if is_not else answer
        if isinstance(asking.parent, exp.Select):
            answer = exp.alias_(answer, f"column{asking.parent.expressions.index(asking) + 1}")
        asking.replace(answer)

    def _find_owner(self, subquery: Subquery, needles: Sequence[exp.Expr]) -> _Asked:
        """The relation whose rows ask: the one that the subquery names, or else the first."""
        named = [*needles, *(outer for outer, _ in subquery.ties), *subquery.of_both]
        columns = [column for tree in named for column in tree.find_all(exp.Column)]
        outside = [column for column in columns if not subquery.has(column) or _is_in(column, needles)]
        owners = {self._find_relation(column) for column in outside}
        if len(owners) > 1:
            message = (
                "a subquery names columns of two relations outside; join those in a subquery of FROM, and ask that one"
            )
            raise SqlError(message, location_of(subquery.location))
        found = self._relations[owners.pop() if owners else self._find_first()]
        if found.is_optional:
            message = f"{found.read.name!r} may have no row there: ask it in a subquery of FROM"
            raise SqlError(message, location_of(subquery.location))
        return found

    def _find_first(self) -> int:
        streams = [
            n for n, each in enumerate(self._relations) if not each.read.source.is_table and not each.is_optional
        ]
        return streams[0] if streams else 0

    def _find_relation(self, column: exp.Column) -> int:
        named = [n for n, each in enumerate(self._relations) if each.read.name.lower() == column.table.lower()]
        bare = exp.Column(this=column.this.copy())
        found = named or [n for n, each in enumerate(self._relations) if not column.table and each.read.scope.has(bare)]
        if not found:
            self._relations[0].read.scope.check_table(column)
            self._relations[0].read.scope.find(column)
        return found[0]

    def _replace(self, asked: _Asked) -> None:
        """Put a relation in place of one that FROM names."""
        read, node = asked.read, asked.tables.node
        hidden = asked.tables.added
        if asked.streams:
            moved = [part for part in self._list_conditions() if self._is_about(part, asked)]
            if moved:
                scope = Scope(read.name, node.schema, read.rewrites)
                text = " AND ".join(write_expression(part) for part in moved)
                node = Select(node, condition(reduce(exp.and_, [part.copy() for part in moved]), scope), text)
            for part in moved:
                part.replace(exp.true())
            present = read if self._waits else replace(read, span_us=None)
            for question in asked.streams:
                node = find_partners(node, present, question, self._bind)
        names = [*read.source.schema.names, *hidden]
        columns = tuple((name, Expression.of(name, node.schema.field(name).type)) for name in names)
        name = self._streams.make_name(read.name)
        self._streams.add(ViewPlan(name, carry_changes(Project(node, columns), self._streams.plan)))
        _read_instead(asked.holder.this, name, read.name)
        where = self._tree.args.get("where")
        left = [part.copy() for part in conjuncts(where.this if where else None) if not isinstance(part, exp.Boolean)]
        self._tree.set("where", exp.Where(this=reduce(exp.and_, left)) if left else None)

    def _list_conditions(self) -> list[exp.Expr]:
        where = self._tree.args.get("where")
        found = conjuncts(where.this if where else None)
        return [part for part in found if not isinstance(part, exp.Boolean) and not list_asking(part)]

    def _is_about(self, part: exp.Expr, asked: _Asked) -> bool:
        """Whether a condition is about one relation alone, and not about its window."""
        columns = list(part.find_all(exp.Column))
        if any(column.name.lower() in (WINDOW_START, WINDOW_END) for column in columns):
            return False
        return bool(columns) and all(self._owns(asked, column) for column in columns)

    def _owns(self, asked: _Asked, column: exp.Column) -> bool:
        if column.name.startswith(HIDDEN):
            return column.name in asked.tables.added
        return self._relations[self._find_relation(column)] is asked


def _is_condition(part: exp.Expr, tree: exp.Select) -> bool:
    """Whether something stands in WHERE."""
    where = part.find_ancestor(exp.Where)
    return where is not None and where is tree.args.get("where")


def _counts_as_asked(asking: exp.Expr) -> bool:
    """Whether unknown is as good as no there: under AND and OR alone."""
    above = asking.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Where)


def _is_in(column: exp.Column, trees: Sequence[exp.Expr]) -> bool:
    return any(column is each for tree in trees for each in tree.find_all(exp.Column))


def _read_asking(asking: exp.Expr) -> tuple[exp.Expr, tuple[exp.Expr, ...], bool]:
    """The subquery that an expression asks, the values that it looks for, and whether they are not to be there."""
    if isinstance(asking, exp.Exists):
        return asking.this, (), False
    if isinstance(asking, exp.In):
        return asking.args["query"], _list_needles(asking.this), False
    if isinstance(asking, exp.Binary):
        how = exp.Any if isinstance(asking, exp.EQ) else exp.All
        if not isinstance(asking, exp.EQ | exp.NEQ) or not isinstance(asking.expression, how):
            message = "known are x = ANY (SELECT ...) and x <> ALL (SELECT ...)"
            raise SqlError(f"{message}; else compare with one value, x > (SELECT MAX(y) FROM t)", location_of(asking))
        return asking.expression.this, _list_needles(asking.this), isinstance(asking, exp.NEQ)
    return asking, (), False


def _list_needles(tree: exp.Expr) -> tuple[exp.Expr, ...]:
    bare = tree.unnest()
    return tuple(bare.expressions) if isinstance(bare, exp.Tuple) else (tree,)


def _check_item(item: exp.Expr) -> None:
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Func) and call_name(item.this) in _NOT_HERE:
        name = call_name(item.this)
        message = (
            f"a subquery beside {name} is not available; read it in a subquery: FROM (SELECT ... FROM {name}(...)) AS x"
        )
        raise SqlError(message, location_of(item))


def _find_optional(joins: Sequence[exp.Join]) -> set[int]:
    """The relations that outer joins give rows without."""
    found: set[int] = set()
    for position, join in enumerate(joins, 1):
        side = str(join.args.get("side") or "").upper()
        found |= {position} if side in ("LEFT", "FULL") else set()
        found |= set(range(position)) if side in ("RIGHT", "FULL") else set()
    return found


def _read_instead(item: exp.Expr, name: str, alias: str) -> None:
    """Let an item of FROM read another stream, under the name it had."""
    assert isinstance(item, exp.Table)
    if isinstance(item.this, exp.Func):
        item.this.expressions[0].replace(exp.column(name, quoted=True))
    else:
        item.set("this", exp.to_identifier(name, quoted=True))
        item.set("db", None)
    if not item.args.get("alias"):
        item.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
