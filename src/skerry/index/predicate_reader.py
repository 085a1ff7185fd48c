"""Reads the parts of a predicate: where each is true, in three-valued logic, as sets of values of its operands.

Each part is read as two sets, where it is true and where it is false; where it is NULL it is neither. NOT swaps them,
AND intersects the true ones and unites the false ones, OR the other way round. A form is read once, and the sets are
made for the constants that it holds when they are asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_

import pyarrow as pa
from sqlglot import exp

from skerry.index.constants import Evaluator, NotIndexable, evaluate_constants, evaluate_literals
from skerry.index.disjunctive_form import Part, Term, Truth, intersect, leave_to_duckdb, no_terms, unite
from skerry.index.form import Form
from skerry.index.operand_sets import (
    FindSets,
    Sets,
    no_values,
    split_points,
    split_values,
    split_with_null,
    values_beside,
    values_with_prefix,
)
from skerry.index.operands import Operands
from skerry.index.remembered_sets import RememberedSets
from skerry.index.value_sets import ValueSet

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
            return self._to_truth(Part(bare), _READERS[type(bare)](self, bare))
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
        return self._to_truth(part, lambda: split_points(derived(), [True])) if derived else leave_to_duckdb(part)

    def _to_truth(self, part: Part, find: FindSets) -> Truth:
        """The truth of a part over one operand."""
        return RememberedSets(self._form, part, find).truth

    def _find_constants(self, trees: Sequence[exp.Expr]) -> Callable[[pa.DataType], list[object]]:
        """What evaluates constants beside an operand of a type: those of the form at that time."""
        indexes = list(dict.fromkeys(self._form.index_of(tree.unnest()) for tree in trees))
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

    def read_comparison(self, tree: exp.Expr) -> FindSets:
        """A comparison of an operand with a constant, on either side of the sign."""
        kind, operand, other = type(tree), tree.this, tree.expression
        if not operand.find(exp.Column):
            kind, operand, other = _MIRRORED[kind], other, operand
        find, evaluate = self._operands.find(operand), self._find_constants([other])

        def sets() -> Sets:
            read = find()
            (constant,) = evaluate(read.type)
            if kind in (exp.NullSafeEQ, exp.NullSafeNEQ):
                found = split_with_null(read, [constant])
                return found if kind is exp.NullSafeEQ else found.negate()
            if constant is None:
                return Sets(read.operand, ValueSet(()), no_values)
            return split_values(read, values_beside(kind, read.domain, constant))

        return sets

    def read_between(self, tree: exp.Expr) -> FindSets:
        """An operand between two constants, both ends in."""
        _check_arguments(tree, "low", "high")
        find, evaluate = self._operands.find(tree.this), self._find_constants([tree.args["low"], tree.args["high"]])

        def sets() -> Sets:
            read = find()
            found = evaluate(read.type)
            ends = [(exp.GTE, found[0]), (exp.LTE, found[1])]
            if None not in found:
                low, high = (values_beside(kind, read.domain, constant) for kind, constant in ends)
                return split_values(read, low & high)
            beside = [values_beside(kind, read.domain, each) for kind, each in ends if each is not None]
            outside = reduce(or_, (read.domain.values.without(each) for each in beside), ValueSet(()))
            return Sets(read.operand, ValueSet(()), lambda: outside)

        return sets

    def read_in(self, tree: exp.Expr) -> FindSets:
        """An operand in a list of constants."""
        _check_arguments(tree, "expressions")
        find, evaluate = self._operands.find(tree.this), self._find_constants(tree.expressions)

        def sets() -> Sets:
            read = find()
            found = evaluate(read.type)
            split = split_points(read, [each for each in found if each is not None])
            return split._replace(false=no_values) if None in found else split

        return sets

    def read_is(self, tree: exp.Expr) -> FindSets:
        """An operand that is NULL, or true, or false."""
        if not isinstance(tree.expression, exp.Null | exp.Boolean):
            raise NotIndexable
        find, evaluate = self._operands.find(tree.this), self._find_constants([tree.expression])

        def sets() -> Sets:
            read = find()
            return split_with_null(read, evaluate(read.type))

        return sets

    def read_column(self, tree: exp.Expr) -> FindSets:
        """A column that is true or false itself."""
        find = self._operands.find(tree)
        return lambda: split_points(find(), [True])

    def read_call(self, tree: exp.Expr) -> FindSets:
        """A text with a given beginning; no other function says where its operand is."""
        if tree.name.lower() not in ("prefix", "starts_with") or len(tree.expressions) != 2:
            raise NotIndexable
        operand, beginning = tree.expressions
        return self._read_pattern(operand, beginning, _take_as_prefix)

    def read_starts_with(self, tree: exp.Expr) -> FindSets:
        """The same as an operator."""
        _check_arguments(tree, "expression")
        return self._read_pattern(tree.this, tree.expression, _take_as_prefix)

    def read_like(self, tree: exp.Expr) -> FindSets:
        """A pattern that is a text, or the beginning of one."""
        _check_arguments(tree, "expression", "negate")
        find = self._read_pattern(tree.this, tree.expression, _split_pattern)
        return (lambda: find().negate()) if tree.args.get("negate") else find

    def _read_pattern(self, operand: exp.Expr, pattern: exp.Expr, split: Callable[[str], tuple[str, bool]]) -> FindSets:
        """A text that is another, or begins with it."""
        find, evaluate = self._operands.find(operand), self._find_constants([pattern])

        def sets() -> Sets:
            read = find()
            (text,) = evaluate(read.type)
            if not isinstance(text, str) or not isinstance(read.domain.low, bytes):
                raise NotIndexable
            text, is_prefix = split(text)
            return (
                split_values(read, values_with_prefix(read.domain, text)) if is_prefix else split_points(read, [text])
            )

        return sets


_READERS: Mapping[type[exp.Expr], Callable[[PredicateReader, exp.Expr], FindSets]] = {
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


def _split_pattern(pattern: str) -> tuple[str, bool]:
    """The text of a pattern without wildcards but at its end, and whether it has one there."""
    text = pattern.rstrip("%")
    if "%" in text or "_" in text or "\\" in text:
        raise NotIndexable
    return text, text != pattern
