"""Subqueries over tables: each becomes a lookup beside the stream, and an expression over what that finds.

    EXISTS (SELECT 1 FROM t WHERE t.k = a.k)       a lookup of a.k in the keys of t; found or not
    a.x IN (SELECT v FROM t)                       a lookup of a.x in the values of t; and whether one of them is NULL
    (SELECT MAX(v) FROM t WHERE t.k = a.k)         a lookup of a.k in the maxima by key

The tables are queries that DuckDB answers when a table has changed; a reading costs the lookups.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.scalar import Scope, condition
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import HIDDEN
from skerry.lang.sql.subquery import Subquery
from skerry.lang.sql.table_query import find_table
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.plan.derived_table import DerivedTable
from skerry.plan.first_lookup import FirstLookup
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.node import Node

__all__ = ["TableQuestions"]

_PLAIN = ("expressions", "kind", "from_", "from", "joins", "where", "distinct")
_FOUND, _VALUE, _HAS_NULL = "found", "value", "has_null"


@dataclass
class TableQuestions:
    """What is asked of tables on behalf of one relation: its rows, with more columns that begin with a hash."""

    node: Node
    scope: Scope
    prefix: str
    """Before the names of the columns that are added."""
    added: list[str] = field(default_factory=list)

    def ask_existence(self, subquery: Subquery) -> exp.Expr:
        """Whether a table has a row that is tied to this one."""
        if subquery.of_both:
            return self._ask_pairs(subquery, subquery.ties)
        asked = _list_inner(subquery) if subquery.ties else None
        table = _around(_choose(subquery, asked), len(subquery.ties), [(_FOUND, exp.true())])
        return _is_known(self._column(self._look_up(subquery, table, _list_outer(subquery)), _FOUND))

    def ask_membership(self, subquery: Subquery, needles: Sequence[exp.Expr], *, known: bool) -> exp.Expr:
        """Whether values are among those of a table; ``known`` says that unknown is as good as no."""
        values = [part.unalias() for part in subquery.tree.selects]
        if len(values) != len(needles) or subquery.tree.is_star:
            message = f"IN compares {len(needles)} with the columns of a subquery, which has {len(values)}: name them"
            raise SqlError(message, location_of(subquery.location))
        if subquery.of_both and known:
            return self._ask_pairs(subquery, [*subquery.ties, *zip(needles, values, strict=True)])
        inner, ties = _choose(subquery, [*_list_inner(subquery), *values]), len(subquery.ties)
        table = _around(inner, ties + len(values), [(_FOUND, exp.true())])
        mine = [*(outer for outer, _ in subquery.ties), *needles]
        is_found = _is_known(self._column(self._look_up(subquery, table, mine), _FOUND))
        if known:
            return is_found
        if len(needles) > 1:
            message = "NOT IN of several columns is not available; write NOT EXISTS (SELECT 1 FROM t WHERE t.a = a ...)"
            raise SqlError(message, location_of(subquery.location))
        has_null = exp.Anonymous(this="bool_or", expressions=[_is_null(exp.column(f"v{ties}"))])
        groups = _around(inner, ties, [(_HAS_NULL, has_null)], grouped=True)
        nulls = self._column(self._look_up(subquery, groups, _list_outer(subquery)), _HAS_NULL)
        return _in_three_values(is_found, needles[0], nulls)

    def ask_value(self, subquery: Subquery) -> exp.Expr:
        """The one value of a table that is tied to this row."""
        tree = subquery.tree
        if len(tree.selects) != 1 or tree.is_star:
            raise SqlError("a subquery that stands for a value has one column", location_of(subquery.location))
        value, limit = tree.selects[0].unalias(), tree.args.get("limit")
        is_one = value.find(exp.AggFunc) is not None and not tree.args.get("group")
        if not is_one and not subquery.ties and (limit is None or limit.expression.name != "1"):
            message = "a subquery that stands for a value gives one: write an aggregate, such as MAX(x), or LIMIT 1"
            raise SqlError(message, location_of(subquery.location))
        if subquery.ties:
            value = value if is_one else _only(value)
            table = _choose(subquery, [*_list_inner(subquery), value])
            names = [*(f"k{number}" for number in range(len(subquery.ties))), _VALUE]
            table.set("expressions", [exp.alias_(part, name) for part, name in zip(table.selects, names, strict=True)])
            table.set("group", _group_by(len(subquery.ties)))
        else:
            table = _around(_choose(subquery, [value]), 0, [(_VALUE, exp.column("v0"))])
        column = self._column(self._look_up(subquery, table, _list_outer(subquery)), _VALUE)
        counts = isinstance(value, exp.Count) and subquery.ties
        return exp.func("coalesce", column, exp.Literal.number(0)) if counts else column

    def _ask_pairs(self, subquery: Subquery, ties: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
        """Whether a table has a row that is tied to this one, and with which some conditions hold."""
        found = [each for part in subquery.of_both for each in part.find_all(exp.Column) if subquery.has(each)]
        columns = list({write_expression(each): each for each in found}.values())
        inner = _choose(subquery, [*(its for _, its in ties), *columns])
        beside = [(f"c{number}", exp.column(f"v{len(ties) + number}")) for number in range(len(columns))]
        table = find_table(_around(inner, len(ties), [*beside, (_FOUND, exp.true())]), subquery.streams)
        name = self._name_next()
        lookup = FirstLookup(self.node, table, name, self._bind_keys(subquery, table, [mine for mine, _ in ties]))
        names = {
            write_expression(each): exp.column(f"{name}.c{number}", quoted=True) for number, each in enumerate(columns)
        }
        asked = reduce(exp.and_, [part.copy() for part in subquery.of_both])
        asked = asked.transform(lambda node: names[written].copy() if (written := _name(node)) in names else node)
        scope = Scope(self.scope.name, lookup.schema, self.scope.rewrites)
        self.node = lookup.replace_fields(pair_condition=condition(asked, scope))
        return _is_known(self._column(name, _FOUND))

    def _look_up(self, subquery: Subquery, query: exp.Expr, mine: Sequence[exp.Expr]) -> str:
        """Look expressions up in the first columns of a query; give the name that the columns it finds are behind."""
        if subquery.of_both:
            part = subquery.of_both[0]
            message = f"a subquery compares by what is equal; {write_expression(part)} is something else"
            raise SqlError(f"{message}: JOIN the table, and ask in WHERE", location_of(part))
        table, name = find_table(query, subquery.streams), self._name_next()
        self.node = LeftLookup(self.node, table, name, self._bind_keys(subquery, table, mine))
        return name

    def _name_next(self) -> str:
        return f"{HIDDEN}{self.prefix}{len(self.added)}"

    def _bind_keys(
        self, subquery: Subquery, table: DerivedTable, mine: Sequence[exp.Expr]
    ) -> tuple[tuple[Expression, Expression], ...]:
        """What is looked up, and in which columns."""
        pairs, inner = [], Scope("subquery", table.schema)
        for number, tree in enumerate(mine):
            trees = [tree, exp.column(f"k{number}")]
            left, right = bring_to_one_type(trees, [self.scope, inner], subquery.location)
            pairs.append((left, right))
        return tuple(pairs)

    def _column(self, name: str, column: str) -> exp.Expr:
        self.added.append(f"{name}.{column}")
        return exp.column(f"{name}.{column}", self.scope.name, quoted=True)


def _list_inner(subquery: Subquery) -> list[exp.Expr]:
    return [inner for _, inner in subquery.ties]


def _list_outer(subquery: Subquery) -> list[exp.Expr]:
    """What is looked up; where nothing ties the two, a constant."""
    return [outer for outer, _ in subquery.ties] or [exp.Literal.number(1)]


def _choose(subquery: Subquery, columns: Sequence[exp.Expr] | None) -> exp.Select:
    """The subquery with other columns, if any are given."""
    made = subquery.tree.copy()
    extra = [name for name, part in made.args.items() if part and name not in _PLAIN]
    if subquery.ties and extra:
        message = f"{extra[0].rstrip('_').upper()} in a subquery that names the reading outside is not available"
        raise SqlError(f"{message}; JOIN the table instead", location_of(subquery.location))
    if columns is not None:
        named = [exp.alias_(each.copy(), f"v{number}") for number, each in enumerate(columns)]
        made.set("expressions", named)
    return made


def _around(
    inner: exp.Select, key_count: int, columns: Sequence[tuple[str, exp.Expr]], *, grouped: bool = False
) -> exp.Select:
    """A query around another: its first columns as keys, or a constant, each once; and something beside them."""
    asked = exp.Subquery(this=inner.copy(), alias=exp.TableAlias(this=exp.to_identifier("asked")))
    keys: list[exp.Expr] = [exp.column(f"v{number}") for number in range(key_count)]
    keys = keys or [exp.Literal.number(1)]
    named = [exp.alias_(key, f"k{number}") for number, key in enumerate(keys)]
    chosen = [*named, *(exp.alias_(part.copy(), name) for name, part in columns)]
    how = {"group": _group_by(len(keys))} if grouped else {"distinct": exp.Distinct()}
    return exp.Select(expressions=chosen, from_=exp.From(this=asked), **how)


def _only(value: exp.Expr) -> exp.Expr:
    """The value of a group that has one row; a table that has several rows of a key cannot be asked for one."""
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    message = exp.Literal.string("a subquery that stands for a value found several rows")
    failing = exp.Anonymous(this="error", expressions=[message])
    return exp.case().when(several, failing).else_(exp.Anonymous(this="first", expressions=[value.copy()]))


def _group_by(count: int) -> exp.Group:
    return exp.Group(expressions=[exp.Literal.number(number + 1) for number in range(count)])


def _in_three_values(is_found: exp.Expr, needle: exp.Expr, nulls: exp.Expr) -> exp.Expr:
    """Whether a value is among others; where it or one of them is not known, that may not be known either."""
    case = exp.case().when(is_found, exp.true()).when(_is_null(nulls.copy()), exp.false())
    return exp.paren(case.when(exp.or_(_is_null(needle.copy()), nulls), exp.null()).else_(exp.false()))


def _is_null(tree: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.paren(tree), expression=exp.null())


def _is_known(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column, expression=exp.null()))


def _name(node: exp.Expr) -> str | None:
    """A column as it is written."""
    return write_expression(node) if isinstance(node, exp.Column) else None
