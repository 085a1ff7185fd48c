"""From a predicate to its region: where it is true, in three-valued logic, as a union of boxes.

Each part of a predicate is read as two sets, where it is true and where it is false; where it is NULL it is
neither. NOT swaps them, AND intersects the true ones and unites the false ones, OR the other way round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from operator import or_

import pyarrow as pa
from sqlglot import exp

from skerry.errors import InputError
from skerry.index.constants import Evaluator, NotIndexable, evaluate_constants
from skerry.index.disjunctive_form import MOST_BOXES, Term, Terms, Truth, intersect, leave_to_duckdb, no_terms, unite
from skerry.index.domains import Domain, domain_of
from skerry.index.region import Box, Region
from skerry.index.value_sets import Span, ValueSet
from skerry.model.dialect import write_expression

__all__ = ["region_of"]

_MAX_DEPTH = 50

_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
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

    A part that no box can express is left to DuckDB, and so is one that would take too many boxes. If there are
    several boxes and a part is left, the whole predicate is left: a part that fails on a row then fails it as if
    it were evaluated in one piece.

    >>> import duckdb, sqlglot
    >>> schema = pa.schema({"speed": pa.int32(), "plate": pa.string()})
    >>> region_of(sqlglot.parse_one("speed > 30 AND plate LIKE '%7'"), schema, duckdb.connect).boxes
    (Box(sides={'speed': ValueSet(spans=((31, 2147483648),), null=False)}, residual="plate LIKE '%7'"),)
    """
    terms = _Reader(schema, evaluator).read(tree, 0).true()
    if len(terms) > 1 and any(term.residual for term in terms):
        terms = tuple(Term(term.sides, (tree,)) for term in terms)
    most = MOST_BOXES // max(len(terms), 1)
    narrowed = [_narrow(term, tree, schema, most) for term in terms]
    residuals = {term.residual: _to_sql(term.residual) for term in narrowed}
    return Region(tuple(box for term in narrowed for box in _make_boxes(term, residuals[term.residual], schema)))


def _to_sql(residual: tuple[exp.Expr, ...]) -> str:
    return write_expression(exp.and_(*residual, copy=True)) if residual else ""


def _narrow(term: Term, tree: exp.Expr, schema: pa.Schema, most: int) -> Term:
    """A term of ``most`` boxes at the most: if it has more, wider sides, and the whole predicate as residual."""
    sides, residual = dict(term.sides), term.residual
    counts = {name: len(_split_spans(values, schema.field(name).type)) for name, values in sides.items()}
    while prod(counts.values()) > most:
        widest = max(counts, key=lambda name: counts[name])
        sides[widest], residual = sides[widest].hull, (tree,)
        counts[widest] = len(_split_spans(sides[widest], schema.field(widest).type))
        if counts[widest] > 1:
            del sides[widest], counts[widest]
    return Term(sides, residual)


def _make_boxes(term: Term, residual: str, schema: pa.Schema) -> Iterable[Box]:
    pieces = [_split_spans(values, schema.field(name).type) for name, values in term.sides.items()]
    return [Box(dict(zip(term.sides, chosen, strict=True)), residual) for chosen in product(*pieces)]


def _split_spans(values: ValueSet, type_: pa.DataType) -> list[ValueSet]:
    """One set per span. NULL comes right below the least value, in a set of its own if that value is not included."""
    pieces = [ValueSet((span,)) for span in values.spans]
    if not values.null:
        return pieces
    if pieces and values.spans[0][0] == _domain(type_).low:
        return [ValueSet(pieces[0].spans, null=True), *pieces[1:]]
    return [ValueSet((), null=True), *pieces]


def _domain(type_: pa.DataType) -> Domain:
    found = domain_of(type_)
    if found is None:
        raise NotIndexable
    return found


class _Reader:
    """Reads predicates over the columns of one schema."""

    def __init__(self, schema: pa.Schema, evaluator: Evaluator) -> None:
        self._schema, self._evaluator = schema, evaluator

    def read(self, tree: exp.Expr, depth: int) -> Truth:
        """Where a predicate is true and where it is false."""
        bare = tree.unnest()
        try:
            if depth > _MAX_DEPTH:
                raise NotIndexable
            if isinstance(bare, exp.Not):
                return self.read(bare.this, depth + 1).negate()
            if isinstance(bare, exp.And | exp.Or):
                return self._read_connective(bare, depth)
            return _READERS[type(bare)](self, bare)
        except (KeyError, NotIndexable):
            return leave_to_duckdb(bare)

    def _read_connective(self, tree: exp.Expr, depth: int) -> Truth:
        parts = {part: self.read(part, depth + 1) for part in tree.flatten()}
        if isinstance(tree, exp.And):
            return _conjoin(tree, parts)
        negated: dict[exp.Expr, Truth] = {exp.not_(part, copy=True): truth.negate() for part, truth in parts.items()}
        return _conjoin(exp.not_(tree, copy=True), negated).negate()

    def find_column(self, tree: exp.Expr) -> tuple[str, Domain]:
        """The name of the column that an expression is, and its domain."""
        bare = tree.unnest()
        if not isinstance(bare, exp.Column):
            raise NotIndexable
        if bare.name not in self._schema.names:
            raise InputError(f"unknown column {bare.name!r}; there are", ", ".join(self._schema.names))
        return bare.name, _domain(self._schema.field(bare.name).type)

    def _evaluate(self, name: str, trees: Sequence[exp.Expr]) -> list[object]:
        """The values of constants that are compared with a column."""
        return evaluate_constants(trees, self._schema.field(name).type, self._evaluator)

    def read_comparison(self, tree: exp.Expr) -> Truth:
        """A comparison of a column with a constant, on either side of the sign."""
        kind, column, other = type(tree), tree.this, tree.expression
        if not isinstance(column.unnest(), exp.Column):
            kind, column, other = _MIRRORED[kind], other, column
        name, domain = self.find_column(column)
        (constant,) = self._evaluate(name, [other])
        if kind in (exp.NullSafeEQ, exp.NullSafeNEQ):
            truth = _truth_with_null(name, domain, _values_among(domain, [constant]))
            return truth if kind is exp.NullSafeEQ else truth.negate()
        if constant is None:
            return Truth(no_terms, no_terms)
        return _truth_of_values(name, domain, _values_beside(kind, domain, constant))

    def read_between(self, tree: exp.Expr) -> Truth:
        """A column between two constants, both ends in."""
        _check_arguments(tree, "low", "high")
        name, domain = self.find_column(tree.this)
        found = self._evaluate(name, [tree.args["low"], tree.args["high"]])
        ends = zip((exp.GTE, exp.LTE), found, strict=True)
        if None not in found:
            low, high = (_values_beside(kind, domain, constant) for kind, constant in ends)
            return _truth_of_values(name, domain, low & high)
        outside = [domain.values.without(_values_beside(kind, domain, each)) for kind, each in ends if each is not None]
        return Truth(no_terms, lambda: _make_terms(name, reduce(or_, outside, ValueSet(()))))

    def read_in(self, tree: exp.Expr) -> Truth:
        """A column in a list of constants."""
        _check_arguments(tree, "expressions")
        name, domain = self.find_column(tree.this)
        found = self._evaluate(name, tree.expressions)
        truth = _truth_of_values(name, domain, _values_among(domain, [each for each in found if each is not None]))
        return Truth(truth.true, no_terms if None in found else truth.false)

    def read_is(self, tree: exp.Expr) -> Truth:
        """A column that is NULL, or true, or false."""
        name, domain = self.find_column(tree.this)
        constant = tree.expression
        if not isinstance(constant, exp.Null | exp.Boolean):
            raise NotIndexable
        return _truth_with_null(name, domain, _values_among(domain, self._evaluate(name, [constant])))

    def read_column(self, tree: exp.Expr) -> Truth:
        """A column that is true or false itself."""
        name, domain = self.find_column(tree)
        return _truth_of_values(name, domain, _values_among(domain, [True]))

    def read_constant(self, tree: exp.Expr) -> Truth:
        """TRUE, FALSE or NULL by itself."""
        if isinstance(tree, exp.Null):
            return Truth(no_terms, no_terms)
        truth = Truth(lambda: (Term(),), no_terms)
        return truth if tree.this else truth.negate()

    def read_call(self, tree: exp.Expr) -> Truth:
        """A text with a given beginning; no other function says where its column is."""
        if tree.name.lower() not in ("prefix", "starts_with") or len(tree.expressions) != 2:
            raise NotIndexable
        return self._read_beginning(*tree.expressions)

    def read_starts_with(self, tree: exp.Expr) -> Truth:
        """The same as an operator."""
        _check_arguments(tree, "expression")
        return self._read_beginning(tree.this, tree.expression)

    def _read_beginning(self, column: exp.Expr, beginning: exp.Expr) -> Truth:
        name, domain = self.find_column(column)
        (text,) = self._evaluate(name, [beginning])
        if not isinstance(text, str) or not isinstance(domain.low, bytes):
            raise NotIndexable
        return _truth_of_values(name, domain, _values_with_prefix(domain, text))

    def read_like(self, tree: exp.Expr) -> Truth:
        """A pattern that is a text, or the beginning of one."""
        _check_arguments(tree, "expression", "negate")
        name, domain = self.find_column(tree.this)
        (pattern,) = self._evaluate(name, [tree.expression])
        if not isinstance(pattern, str) or not isinstance(domain.low, bytes):
            raise NotIndexable
        text = pattern.rstrip("%")
        if "%" in text or "_" in text or "\\" in text:
            raise NotIndexable
        truth = _truth_of_values(
            name, domain, _values_with_prefix(domain, text) if text != pattern else _values_among(domain, [text])
        )
        return truth.negate() if tree.args.get("negate") else truth


_READERS: Mapping[type[exp.Expr], Callable[[_Reader, exp.Expr], Truth]] = {
    **dict.fromkeys(_MIRRORED, _Reader.read_comparison),
    exp.Anonymous: _Reader.read_call,
    exp.Between: _Reader.read_between,
    exp.Boolean: _Reader.read_constant,
    exp.Column: _Reader.read_column,
    exp.In: _Reader.read_in,
    exp.Is: _Reader.read_is,
    exp.Like: _Reader.read_like,
    exp.Null: _Reader.read_constant,
    exp.StartsWith: _Reader.read_starts_with,
}


def _check_arguments(tree: exp.Expr, *known: str) -> None:
    """Refuse a node with an argument that is not known here: it would change the meaning."""
    if any(part for name, part in tree.args.items() if name != "this" and name not in known):
        raise NotIndexable


def _conjoin(tree: exp.Expr, parts: Mapping[exp.Expr, Truth]) -> Truth:
    """AND of parts: true where all are, false where one is."""
    return Truth(
        lambda: intersect([(part, truth.true()) for part, truth in parts.items()]),
        lambda: unite(exp.not_(tree, copy=True), [truth.false() for truth in parts.values()]),
    )


def _truth_of_values(name: str, domain: Domain, values: ValueSet) -> Truth:
    """True for some values of a column, false for the others, neither for NULL."""
    return Truth(lambda: _make_terms(name, values), lambda: _make_terms(name, domain.values.without(values)))


def _truth_with_null(name: str, domain: Domain, values: ValueSet) -> Truth:
    """True for some values of a column, which may include NULL, false for all others."""
    everything = ValueSet(domain.values.spans, null=True)
    return Truth(lambda: _make_terms(name, values), lambda: _make_terms(name, everything.without(values)))


def _make_terms(name: str, values: ValueSet) -> Terms:
    return (Term({name: values}),) if values else ()


def _find_cuts(domain: Domain, constant: object) -> tuple[object, object]:
    found = domain.cuts(constant)
    if found is None:
        raise NotIndexable
    return found


def _values_beside(kind: type[exp.Expr], domain: Domain, constant: object) -> ValueSet:
    """The values for which a comparison with a constant is true."""
    low, high = _find_cuts(domain, constant)
    spans: Mapping[type[exp.Expr], list[Span]] = {
        exp.LT: [(domain.low, low)],
        exp.LTE: [(domain.low, high)],
        exp.EQ: [(low, high)],
        exp.GTE: [(low, domain.high)],
        exp.GT: [(high, domain.high)],
        exp.NEQ: [(domain.low, low), (high, domain.high)],
    }
    return ValueSet.of(spans[kind])


def _values_among(domain: Domain, constants: Iterable[object]) -> ValueSet:
    """The set of some constants, of which NULL may be one."""
    found = list(constants)
    return ValueSet.of((_find_cuts(domain, each) for each in found if each is not None), null=None in found)


def _values_with_prefix(domain: Domain, text: str) -> ValueSet:
    """All texts that begin with one: up to the first that does not, which ends in a higher byte."""
    low = text.encode()
    return ValueSet.of([(low, low[:-1] + bytes([low[-1] + 1]) if low else domain.high)])
