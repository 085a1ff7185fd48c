"""From a predicate to its region: where it is true, in three-valued logic, as a union of boxes.

Each part of a predicate is read as two sets, where it is true and where it is false; where it is NULL it is
neither. NOT swaps them, AND meets the true ones and joins the false ones, OR the other way round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from operator import or_

import pyarrow as pa
from sqlglot import exp

from skerry.errors import InputError
from skerry.index.constants import Evaluator, Unlike, constants
from skerry.index.disjunctive_form import MOST_BOXES, Term, Terms, Truth, left, met, nowhere, united
from skerry.index.domains import Domain, domain_of
from skerry.index.region import Box, Region
from skerry.index.value_sets import Span, Values

__all__ = ["region_of"]

_DEEPEST = 50

_TURNED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.NullSafeEQ: exp.NullSafeEQ,
    exp.NullSafeNEQ: exp.NullSafeNEQ,
}


def region_of(tree: exp.Expr, schema: pa.Schema, evaluator: Evaluator) -> Region:
    """The region of a predicate over bound columns.

    A part that no box can say is left to DuckDB, as is what would take too many boxes. If there are several
    boxes and a part is left, the whole predicate is, so that a part that fails on a row makes it fail
    as if evaluated in one piece.

    >>> import duckdb, sqlglot
    >>> schema = pa.schema({"speed": pa.int32(), "plate": pa.string()})
    >>> region_of(sqlglot.parse_one("speed > 30 AND plate LIKE '%7'"), schema, duckdb.connect).boxes
    (Box(sides={'speed': Values(spans=((31, 2147483648),), null=False)}, residual="plate LIKE '%7'"),)
    """
    terms = _Reader(schema, evaluator).read(tree, 0).true()
    if len(terms) > 1 and any(term.residual for term in terms):
        terms = tuple(Term(term.sides, (tree,)) for term in terms)
    most = MOST_BOXES // max(len(terms), 1)
    narrowed = [_narrowed(term, tree, schema, most) for term in terms]
    told = {term.residual: _sql(term.residual) for term in narrowed}
    return Region(tuple(box for term in narrowed for box in _boxes(term, told[term.residual], schema)))


def _sql(residual: tuple[exp.Expr, ...]) -> str:
    return exp.and_(*residual, copy=True).sql("duckdb") if residual else ""


def _narrowed(term: Term, tree: exp.Expr, schema: pa.Schema, most: int) -> Term:
    """A term of ``most`` boxes at the most: if it has more, wider sides, and the whole predicate as residual."""
    sides, residual = dict(term.sides), term.residual
    counts = {name: len(_pieces(values, schema.field(name).type)) for name, values in sides.items()}
    while prod(counts.values()) > most:
        widest = max(counts, key=lambda name: counts[name])
        sides[widest], residual = sides[widest].hull, (tree,)
        counts[widest] = len(_pieces(sides[widest], schema.field(widest).type))
        if counts[widest] > 1:
            del sides[widest], counts[widest]
    return Term(sides, residual)


def _boxes(term: Term, residual: str, schema: pa.Schema) -> Iterable[Box]:
    pieces = [_pieces(values, schema.field(name).type) for name, values in term.sides.items()]
    return [Box(dict(zip(term.sides, chosen, strict=True)), residual) for chosen in product(*pieces)]


def _pieces(values: Values, type_: pa.DataType) -> list[Values]:
    """One set a span; NULL stands right below the least value, by itself if that is not in."""
    pieces = [Values((span,)) for span in values.spans]
    if not values.null:
        return pieces
    if pieces and values.spans[0][0] == _domain(type_).low:
        return [Values(pieces[0].spans, null=True), *pieces[1:]]
    return [Values((), null=True), *pieces]


def _domain(type_: pa.DataType) -> Domain:
    found = domain_of(type_)
    if found is None:
        raise Unlike
    return found


class _Reader:
    """Reads predicates over the columns of one schema."""

    def __init__(self, schema: pa.Schema, evaluator: Evaluator) -> None:
        self._schema, self._evaluator = schema, evaluator

    def read(self, tree: exp.Expr, depth: int) -> Truth:
        """Where a predicate is true and where it is false."""
        bare = tree.unnest()
        try:
            if depth > _DEEPEST:
                raise Unlike
            if isinstance(bare, exp.Not):
                return self.read(bare.this, depth + 1).swapped()
            if isinstance(bare, exp.And | exp.Or):
                return self._joined(bare, depth)
            return _READERS[type(bare)](self, bare)
        except (KeyError, Unlike):
            return left(bare)

    def _joined(self, tree: exp.Expr, depth: int) -> Truth:
        parts = {part: self.read(part, depth + 1) for part in tree.flatten()}
        if isinstance(tree, exp.And):
            return _all(tree, parts)
        negated: dict[exp.Expr, Truth] = {exp.not_(part, copy=True): truth.swapped() for part, truth in parts.items()}
        return _all(exp.not_(tree, copy=True), negated).swapped()

    def column(self, tree: exp.Expr) -> tuple[str, Domain]:
        """The column an expression is, and its domain."""
        bare = tree.unnest()
        if not isinstance(bare, exp.Column):
            raise Unlike
        if bare.name not in self._schema.names:
            raise InputError(f"unknown column {bare.name!r}; there are", ", ".join(self._schema.names))
        return bare.name, _domain(self._schema.field(bare.name).type)

    def constants(self, name: str, trees: Sequence[exp.Expr]) -> list[object]:
        """Constants beside a column."""
        return constants(trees, self._schema.field(name).type, self._evaluator)

    def compared(self, tree: exp.Expr) -> Truth:
        """A column beside a constant, on either side."""
        kind, column, other = type(tree), tree.this, tree.expression
        if not isinstance(column.unnest(), exp.Column):
            kind, column, other = _TURNED[kind], other, column
        name, domain = self.column(column)
        (constant,) = self.constants(name, [other])
        if kind in (exp.NullSafeEQ, exp.NullSafeNEQ):
            truth = _decided(name, domain, _equal(domain, [constant]))
            return truth if kind is exp.NullSafeEQ else truth.swapped()
        if constant is None:
            return Truth(nowhere, nowhere)
        return _leaf(name, domain, _beside(kind, domain, constant))

    def between(self, tree: exp.Expr) -> Truth:
        """A column between two constants, both ends in."""
        _check_arguments(tree, "low", "high")
        name, domain = self.column(tree.this)
        found = self.constants(name, [tree.args["low"], tree.args["high"]])
        ends = zip((exp.GTE, exp.LTE), found, strict=True)
        if None not in found:
            low, high = (_beside(kind, domain, constant) for kind, constant in ends)
            return _leaf(name, domain, low & high)
        outside = [domain.values.without(_beside(kind, domain, each)) for kind, each in ends if each is not None]
        return Truth(nowhere, lambda: _term(name, reduce(or_, outside, Values(()))))

    def among(self, tree: exp.Expr) -> Truth:
        """A column in a list of constants."""
        _check_arguments(tree, "expressions")
        name, domain = self.column(tree.this)
        found = self.constants(name, tree.expressions)
        truth = _leaf(name, domain, _equal(domain, [each for each in found if each is not None]))
        return Truth(truth.true, nowhere if None in found else truth.false)

    def being(self, tree: exp.Expr) -> Truth:
        """A column that is NULL, or true, or false."""
        name, domain = self.column(tree.this)
        constant = tree.expression
        if not isinstance(constant, exp.Null | exp.Boolean):
            raise Unlike
        return _decided(name, domain, _equal(domain, self.constants(name, [constant])))

    def holding(self, tree: exp.Expr) -> Truth:
        """A column that is true or false itself."""
        name, domain = self.column(tree)
        return _leaf(name, domain, _equal(domain, [True]))

    def constant(self, tree: exp.Expr) -> Truth:
        """TRUE, FALSE or NULL by itself."""
        if isinstance(tree, exp.Null):
            return Truth(nowhere, nowhere)
        truth = Truth(lambda: (Term(),), nowhere)
        return truth if tree.this else truth.swapped()

    def starting(self, tree: exp.Expr) -> Truth:
        """A text with a given beginning."""
        _check_arguments(tree, "expression")
        name, domain = self.column(tree.this)
        (text,) = self.constants(name, [tree.expression])
        if not isinstance(text, str) or not isinstance(domain.low, bytes):
            raise Unlike
        return _leaf(name, domain, _begun(domain, text))

    def like(self, tree: exp.Expr) -> Truth:
        """A pattern that is a text, or the beginning of one."""
        _check_arguments(tree, "expression", "negate")
        name, domain = self.column(tree.this)
        (pattern,) = self.constants(name, [tree.expression])
        if not isinstance(pattern, str) or not isinstance(domain.low, bytes):
            raise Unlike
        text = pattern.rstrip("%")
        if "%" in text or "_" in text or "\\" in text:
            raise Unlike
        truth = _leaf(name, domain, _begun(domain, text) if text != pattern else _equal(domain, [text]))
        return truth.swapped() if tree.args.get("negate") else truth


_READERS: Mapping[type[exp.Expr], Callable[[_Reader, exp.Expr], Truth]] = {
    **dict.fromkeys(_TURNED, _Reader.compared),
    exp.Between: _Reader.between,
    exp.Boolean: _Reader.constant,
    exp.Column: _Reader.holding,
    exp.In: _Reader.among,
    exp.Is: _Reader.being,
    exp.Like: _Reader.like,
    exp.Null: _Reader.constant,
    exp.StartsWith: _Reader.starting,
}


def _check_arguments(tree: exp.Expr, *known: str) -> None:
    """An argument we do not know would change what it means."""
    if any(part for name, part in tree.args.items() if name != "this" and name not in known):
        raise Unlike


def _all(tree: exp.Expr, parts: Mapping[exp.Expr, Truth]) -> Truth:
    """Parts that hold together: true where all are, false where one is."""
    return Truth(
        lambda: met([(part, truth.true()) for part, truth in parts.items()]),
        lambda: united(exp.not_(tree, copy=True), [truth.false() for truth in parts.values()]),
    )


def _leaf(name: str, domain: Domain, values: Values) -> Truth:
    """True for some values of a column, false for the others, neither for NULL."""
    return Truth(lambda: _term(name, values), lambda: _term(name, domain.values.without(values)))


def _decided(name: str, domain: Domain, values: Values) -> Truth:
    """True for some values of a column, which may include NULL, false for all others."""
    everything = Values(domain.values.spans, null=True)
    return Truth(lambda: _term(name, values), lambda: _term(name, everything.without(values)))


def _term(name: str, values: Values) -> Terms:
    return (Term({name: values}),) if values else ()


def _cuts(domain: Domain, constant: object) -> tuple[object, object]:
    found = domain.cuts(constant)
    if found is None:
        raise Unlike
    return found


def _beside(kind: type[exp.Expr], domain: Domain, constant: object) -> Values:
    """The values that stand in some relation to a constant."""
    low, high = _cuts(domain, constant)
    spans: Mapping[type[exp.Expr], list[Span]] = {
        exp.LT: [(domain.low, low)],
        exp.LTE: [(domain.low, high)],
        exp.EQ: [(low, high)],
        exp.GTE: [(low, domain.high)],
        exp.GT: [(high, domain.high)],
        exp.NEQ: [(domain.low, low), (high, domain.high)],
    }
    return Values.of(spans[kind])


def _equal(domain: Domain, constants: Iterable[object]) -> Values:
    """Some values, NULL where it is one of them."""
    found = list(constants)
    return Values.of((_cuts(domain, each) for each in found if each is not None), null=None in found)


def _begun(domain: Domain, text: str) -> Values:
    """All texts that begin with one: up to the first that does not, which ends in a higher byte."""
    low = text.encode()
    return Values.of([(low, low[:-1] + bytes([low[-1] + 1]) if low else domain.high)])
