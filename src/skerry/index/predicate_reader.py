"""Reads the parts of a predicate: where each is true, in three-valued logic, as sets of values of its operands.

Each part is read as two sets, where it is true and where it is false; where it is NULL it is neither. NOT swaps them,
AND intersects the true ones and unites the false ones, OR the other way round. A form is read once, and the sets are
made for the constants that it holds when they are asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from skerry.index.constants import Evaluator, NotIndexable, evaluate_constants, evaluate_literals
from skerry.index.disjunctive_form import Part, Term, Terms, Truth, intersect, leave_to_duckdb, no_terms, unite
from skerry.index.domains import Domain
from skerry.index.form import Form
from skerry.index.operands import Operands, Read
from skerry.index.region import Operand
from skerry.index.value_sets import Span, ValueSet

__all__ = ["PredicateReader"]

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


class _Sets(NamedTuple):
    """The values of an operand for which a part is true, and those for which it is false."""

    operand: Operand
    true: ValueSet
    false: Callable[[], ValueSet]

    def negate(self) -> "_Sets":
        false = self.false()
        return _Sets(self.operand, false, lambda: self.true)


_Find = Callable[[], _Sets]
"""Makes sets of the present constants."""


class PredicateReader:
    """Reads the predicates of one form."""

    def __init__(self, form: Form, operands: Operands, evaluator: Evaluator) -> None:
        self._form, self._operands, self._evaluator = form, operands, evaluator

    def read(self, tree: exp.Expr, depth: int = 0) -> Truth:
        """Where a predicate is true and where it is false."""
        bare = tree.unnest()
        try:
            if depth > _MAX_DEPTH:
                raise NotIndexable
            if isinstance(bare, exp.Not):
                return self.read(bare.this, depth + 1).negate()
            if isinstance(bare, exp.And | exp.Or):
                return self._read_connective(bare, depth)
            if isinstance(bare, exp.Boolean | exp.Null):
                return _read_truth_value(bare)
            return _to_truth(Part(bare), _READERS[type(bare)](self, bare))
        except (KeyError, NotIndexable):
            return self._leave(Part(bare))

    def _read_connective(self, tree: exp.Expr, depth: int) -> Truth:
        parts = [(Part(part), self.read(part, depth + 1)) for part in tree.flatten()]
        if isinstance(tree, exp.And):
            return _conjoin(Part(tree), parts)
        negated = [(part.negate(), truth.negate()) for part, truth in parts]
        return _conjoin(Part(tree, negated=True), negated).negate()

    def _leave(self, part: Part) -> Truth:
        """A part that no set can express, unless so many predicates have it that the index computes it."""
        derived = self._operands.find_condition(part.tree)
        return _to_truth(part, lambda: _split(derived(), [True])) if derived else leave_to_duckdb(part)

    def _find_constants(self, trees: Sequence[exp.Expr]) -> Callable[[pa.DataType], list[object]]:
        """What evaluates constants beside an operand of a type: those of the form at that time."""
        indexes = [self._form.index_of(tree.unnest()) for tree in trees]
        if None not in indexes:
            return lambda type_: evaluate_literals(self._list_texts(indexes), type_, self._evaluator)
        if any(tree.find(exp.Column, exp.Query) for tree in trees):
            raise NotIndexable

        def evaluate(type_: pa.DataType) -> list[object]:
            self._form.write()
            return evaluate_constants(trees, type_, self._evaluator)

        return evaluate

    def _list_texts(self, indexes: Sequence[int | None]) -> list[str]:
        found: list[str] = []
        for index in indexes:
            constant = self._form.constants[index or 0]
            found.extend([constant] if isinstance(constant, str) else constant)
        return found

    def read_comparison(self, tree: exp.Expr) -> _Find:
        """A comparison of an operand with a constant, on either side of the sign."""
        kind, operand, other = type(tree), tree.this, tree.expression
        if not operand.find(exp.Column):
            kind, operand, other = _MIRRORED[kind], other, operand
        find, evaluate = self._operands.find(operand), self._find_constants([other])

        def sets() -> _Sets:
            read = find()
            (constant,) = evaluate(read.type)
            if kind in (exp.NullSafeEQ, exp.NullSafeNEQ):
                found = _split_with_null(read, [constant])
                return found if kind is exp.NullSafeEQ else found.negate()
            if constant is None:
                return _Sets(read.operand, ValueSet(()), _no_values)
            return _split_values(read, _values_beside(kind, read.domain, constant))

        return sets

    def read_between(self, tree: exp.Expr) -> _Find:
        """An operand between two constants, both ends in."""
        _check_arguments(tree, "low", "high")
        find, evaluate = self._operands.find(tree.this), self._find_constants([tree.args["low"], tree.args["high"]])

        def sets() -> _Sets:
            read = find()
            found = evaluate(read.type)
            ends = [(exp.GTE, found[0]), (exp.LTE, found[1])]
            if None not in found:
                low, high = (_values_beside(kind, read.domain, constant) for kind, constant in ends)
                return _split_values(read, low & high)
            beside = [_values_beside(kind, read.domain, each) for kind, each in ends if each is not None]
            outside = reduce(or_, (read.domain.values.without(each) for each in beside), ValueSet(()))
            return _Sets(read.operand, ValueSet(()), lambda: outside)

        return sets

    def read_in(self, tree: exp.Expr) -> _Find:
        """An operand in a list of constants."""
        _check_arguments(tree, "expressions")
        find, evaluate = self._operands.find(tree.this), self._find_constants(tree.expressions)

        def sets() -> _Sets:
            read = find()
            found = evaluate(read.type)
            split = _split(read, [each for each in found if each is not None])
            return split._replace(false=_no_values) if None in found else split

        return sets

    def read_is(self, tree: exp.Expr) -> _Find:
        """An operand that is NULL, or true, or false."""
        if not isinstance(tree.expression, exp.Null | exp.Boolean):
            raise NotIndexable
        find, evaluate = self._operands.find(tree.this), self._find_constants([tree.expression])

        def sets() -> _Sets:
            read = find()
            return _split_with_null(read, evaluate(read.type))

        return sets

    def read_column(self, tree: exp.Expr) -> _Find:
        """A column that is true or false itself."""
        find = self._operands.find(tree)
        return lambda: _split(find(), [True])

    def read_call(self, tree: exp.Expr) -> _Find:
        """A text with a given beginning; no other function says where its operand is."""
        if tree.name.lower() not in ("prefix", "starts_with") or len(tree.expressions) != 2:
            raise NotIndexable
        operand, beginning = tree.expressions
        return self._read_pattern(operand, beginning, _take_as_prefix)

    def read_starts_with(self, tree: exp.Expr) -> _Find:
        """The same as an operator."""
        _check_arguments(tree, "expression")
        return self._read_pattern(tree.this, tree.expression, _take_as_prefix)

    def read_like(self, tree: exp.Expr) -> _Find:
        """A pattern that is a text, or the beginning of one."""
        _check_arguments(tree, "expression", "negate")
        find = self._read_pattern(tree.this, tree.expression, _split_pattern)
        return (lambda: find().negate()) if tree.args.get("negate") else find

    def _read_pattern(self, operand: exp.Expr, pattern: exp.Expr, split: Callable[[str], tuple[str, bool]]) -> _Find:
        """A text that is another, or begins with it."""
        find, evaluate = self._operands.find(operand), self._find_constants([pattern])

        def sets() -> _Sets:
            read = find()
            (text,) = evaluate(read.type)
            if not isinstance(text, str) or not isinstance(read.domain.low, bytes):
                raise NotIndexable
            text, is_prefix = split(text)
            return _split_values(read, _values_with_prefix(read.domain, text)) if is_prefix else _split(read, [text])

        return sets


_READERS: Mapping[type[exp.Expr], Callable[[PredicateReader, exp.Expr], _Find]] = {
    **dict.fromkeys(_MIRRORED, PredicateReader.read_comparison),
    exp.Anonymous: PredicateReader.read_call,
    exp.Between: PredicateReader.read_between,
    exp.Column: PredicateReader.read_column,
    exp.In: PredicateReader.read_in,
    exp.Is: PredicateReader.read_is,
    exp.Like: PredicateReader.read_like,
    exp.StartsWith: PredicateReader.read_starts_with,
}


def _take_as_prefix(text: str) -> tuple[str, bool]:
    return text, True


def _read_truth_value(tree: exp.Expr) -> Truth:
    """TRUE, FALSE or NULL by itself."""
    if isinstance(tree, exp.Null):
        return Truth(no_terms, no_terms)
    truth = Truth(lambda: (Term(),), no_terms)
    return truth if tree.this else truth.negate()


def _check_arguments(tree: exp.Expr, *known: str) -> None:
    """Refuse a node with an argument that is not known here: it would change the meaning."""
    if any(part for name, part in tree.args.items() if name != "this" and name not in known):
        raise NotIndexable


def _conjoin(whole: Part, parts: Sequence[tuple[Part, Truth]]) -> Truth:
    """AND of parts: true where all are, false where one is."""
    return Truth(
        lambda: intersect([(part, truth.true()) for part, truth in parts]),
        lambda: unite(whole.negate(), [truth.false() for _, truth in parts]),
    )


def _to_truth(part: Part, find: _Find) -> Truth:
    """The truth of a part over one operand; with constants that cannot be compared as keys, it is left to DuckDB."""

    def make(choose: Callable[[_Sets], ValueSet], otherwise: Callable[[], Terms]) -> Terms:
        try:
            sets = find()
        except NotIndexable:
            return otherwise()
        values = choose(sets)
        return (Term({sets.operand: values}),) if values else ()

    left = leave_to_duckdb(part)
    return Truth(lambda: make(lambda sets: sets.true, left.true), lambda: make(lambda sets: sets.false(), left.false))


def _no_values() -> ValueSet:
    return ValueSet(())


def _split_values(read: Read, values: ValueSet) -> _Sets:
    """True for some values, false for the others, neither for NULL."""
    return _Sets(read.operand, values, lambda: read.domain.values.without(values))


def _split(read: Read, constants: Sequence[object]) -> _Sets:
    """True for some constants."""
    return _split_values(read, ValueSet.of(_find_cuts(read.domain, each) for each in constants))


def _split_with_null(read: Read, constants: Sequence[object]) -> _Sets:
    """True for some constants, of which NULL may be one, false for all others."""
    cuts = (_find_cuts(read.domain, each) for each in constants if each is not None)
    values, everything = ValueSet.of(cuts, null=None in constants), ValueSet(read.domain.values.spans, null=True)
    return _Sets(read.operand, values, lambda: everything.without(values))


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


def _split_pattern(pattern: str) -> tuple[str, bool]:
    """The text of a pattern without wildcards but at its end, and whether it has one there."""
    text = pattern.rstrip("%")
    if "%" in text or "_" in text or "\\" in text:
        raise NotIndexable
    return text, text != pattern


def _values_with_prefix(domain: Domain, text: str) -> ValueSet:
    """All texts that begin with one: up to the first that does not, which ends in a higher byte."""
    low = text.encode()
    return ValueSet.of([(low, low[:-1] + bytes([low[-1] + 1]) if low else domain.high)])
