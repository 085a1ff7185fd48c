"""Aggregates: the groups in which something changed are computed again."""

from collections.abc import Sequence

import numpy as np

from skerry.deduce.aggregates import NUMERIC, aggregate_values
from skerry.deduce.engine.encoding import Kind, Vector, both, distinct, kind_of
from skerry.deduce.engine.relation import NEW, Relation
from skerry.deduce.engine.rule_runner import RuleRunner
from skerry.deduce.limits import out_of_memory
from skerry.errors import RuleLimit
from skerry.kernels.folds.exact_sums import add_values, as_doubles
from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.model.term import Value
from skerry.plan.program import Aggregate, Predicate, Type

__all__ = ["Aggregation"]

_COPIES = 4
"""How many copies of the contributions there are at a time, at the most: pieces, the whole, the order, sorted."""


class Aggregation:
    """A rule whose head has aggregates. No other rule derives its predicate.

    Costs what the changed groups' derivations cost. A group whose result is the same afterwards has not changed.
    """

    def __init__(self, runner: RuleRunner, predicate: Predicate, relation: Relation) -> None:
        self.predicates, self.runner, self.relation = (predicate.name,), runner, relation
        self._types = tuple(column.type for column in predicate.columns)
        self._encoding, self._guard = runner.setting.encoding, runner.setting.guard
        arguments = enumerate(runner.rule.head.arguments)
        self._aggregates = [(index, each) for index, each in arguments if isinstance(each, Aggregate)]
        terms = [each.argument for _, each in self._aggregates if each.argument is not None]
        self._arguments = tuple((term, runner.type_of(term)) for term in terms)

    def settle(self, keys: Sequence[Int64s]) -> None:
        """Compute the groups of some keys again."""
        different = _different(np.concatenate(keys))
        postings = self.relation.postings(self.runner.columns)
        held = postings.gather(postings.seek(different), self.relation.states, NEW).rows
        rows = self._aggregate_groups(different)
        gone = np.setdiff1d(held, self.relation.find(rows))
        if gone.size:
            self.relation.suspend(gone)
        self.relation.insert(rows)
        self._guard.check_size(self.relation, self.runner.rule)

    def _aggregate_groups(self, keys: Int64s) -> Int64s:
        """The rows of the groups that have a contribution."""
        origins, codes = self._contributions(keys)
        order = np.argsort(origins, kind="stable")
        groups, starts = np.unique(origins[order], return_index=True)
        if not groups.size:
            return np.empty((0, len(self._types)), np.int64)
        rows, valid = np.empty((groups.size, len(self._types)), np.int64), None
        rows[:, self.runner.columns] = keys[groups]
        columns = iter(range(len(self._arguments)))
        for index, aggregate in self._aggregates:
            column = None if aggregate.argument is None else next(columns)
            found = self._column(aggregate.function, column, codes[order], starts)
            stored = self._encoding.convert_to_store(found, self._types[index])
            rows[:, index], valid = stored.codes, both(valid, stored.valid)
        valid = both(valid, self.runner.admit(rows, tuple(range(len(self._types)))))
        return rows if valid is None else rows[valid]

    def _contributions(self, keys: Int64s) -> tuple[Int64s, Int64s]:
        found, count = list[tuple[Int64s, Int64s]](), 0
        width = 8 * (len(self._arguments) + 1) * _COPIES
        for piece in self.runner.contributions(keys, self._arguments):
            found.append(piece)
            count += len(piece[0])
            if count * width > self._guard.allowed.bytes:
                raise out_of_memory(self._guard.allowed, count, self.relation.name, self.runner.rule.number)
        if not found:
            return np.empty(0, np.int64), np.empty((0, len(self._arguments)), np.int64)
        origins = np.concatenate([origins for origins, _ in found])
        codes = np.concatenate([codes for _, codes in found])
        valid = self._numeric(codes)
        return (origins, codes) if valid is None else (origins[valid], codes[valid])

    def _numeric(self, codes: Int64s) -> Bools | None:
        """Where all that has to be a number is one."""
        valid: Bools | None = None
        functions = [each.function for _, each in self._aggregates if each.argument is not None]
        for index, (function, (_, type_)) in enumerate(zip(functions, self._arguments, strict=True)):
            if function in NUMERIC and kind_of(type_) not in (Kind.INT, Kind.FLOAT):
                numbers = self._encoding.decode(codes[:, index], type_)
                valid = both(valid, np.array([type(number) in (int, float) for number in numbers], np.bool_))
        return valid

    def _column(self, function: str, column: int | None, codes: Int64s, starts: Int64s) -> Vector:
        counts = np.diff(np.append(starts, len(codes)))
        if function == "count":
            return Vector(counts, Type.INT)
        assert column is not None
        type_, values = self._arguments[column][1], np.ascontiguousarray(codes[:, column])
        kind = kind_of(type_)
        if kind is Kind.INT and function in ("min", "max", "sum") and _is_small(values):
            return Vector(_FOLDS[function].reduceat(values, starts), Type.INT)
        finite = kind is Kind.FLOAT and bool(np.isfinite(values.view(np.float64)).all())
        if finite and function in ("min", "max", "sum", "avg"):
            return _floats(function, values.view(np.float64), starts, counts)
        return self._aggregate_one_by_one(function, self._encoding.decode(values, type_), starts)

    def _aggregate_one_by_one(self, function: str, values: Sequence[Value], starts: Int64s) -> Vector:
        ends = [*starts[1:].tolist(), len(values)]
        try:
            found = [
                aggregate_values(function, values[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)
            ]
        except OverflowError as error:
            raise RuleLimit(str(error), "gather floats", self.runner.rule.number) from None
        return self._encoding.encode(found, Type.ANY)


_FOLDS = {"min": np.minimum, "max": np.maximum, "sum": np.add}


def _is_small(values: Int64s) -> bool:
    """Whether these cannot add up to more than 64 bits hold."""
    return float(np.abs(values.astype(np.float64)).sum()) < 2.0**62


def _floats(function: str, values: Float64s, starts: Int64s, counts: Int64s) -> Vector:
    if function in ("min", "max"):
        return Vector(_FOLDS[function].reduceat(values, starts).view(np.int64), Type.FLOAT)
    numbers = np.repeat(np.arange(starts.size), counts)
    sums = as_doubles(add_values(values, np.ones(values.size, np.bool_), numbers, starts.size))
    return Vector(((sums if function == "sum" else sums / counts) + 0.0).view(np.int64), Type.FLOAT)


def _different(keys: Int64s) -> Int64s:
    if keys.shape[1] == 0 or len(keys) < 2:
        return keys[:1]
    return keys[distinct(list(keys.T))[0]]
