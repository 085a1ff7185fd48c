"""The steps of a plan. Each takes bindings and gives those that remain, with what it has bound."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from skerry.deduce.engine.bindings import BELOW, ORIGIN, RANK, Bindings, Setting
from skerry.deduce.engine.calculation import compare_columns
from skerry.deduce.engine.encoding import both
from skerry.deduce.engine.evaluation import Evaluation, Types
from skerry.deduce.engine.relation import KEPT, Relation
from skerry.kernels.rules.postings import Found, Matches, Postings
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Constant, Term, Variable
from skerry.plan.program import Type

__all__ = [
    "BESIDE",
    "Absent",
    "Ask",
    "Assign",
    "Compare",
    "Key",
    "Match",
    "Present",
    "Same",
    "Step",
    "TakeApart",
    "Unpack",
    "make_key",
]

BESIDE = (ORIGIN, BELOW, RANK)


@dataclass(frozen=True)
class Key:
    """Codes by which a relation is searched: a term for each of some columns, whose types are known."""

    setting: Setting
    evaluation: Evaluation
    terms: tuple[Term, ...]
    types: tuple[Type, ...]
    known: Types

    def of(self, bindings: Bindings) -> tuple[Int64s, Bools | None]:
        """A row of codes for each binding, and where that can be found at all."""
        codes = np.empty((bindings.count, len(self.terms)), np.int64)
        valid: Bools | None = None
        for index, (term, type_) in enumerate(zip(self.terms, self.types, strict=True)):
            if isinstance(term, Variable) and self.known[term.name] is type_:
                codes[:, index] = bindings.columns[term.name]
            elif isinstance(term, Constant):
                sought = self.setting.encoding.constant_to_search(term.value, type_)
                codes[:, index] = 0 if sought is None else sought
                if sought is None:
                    valid = np.zeros(bindings.count, np.bool_)
            else:
                vector = self.evaluation.vector(term, bindings, self.known)
                found = self.setting.encoding.convert_to_search(vector, type_)
                codes[:, index], valid = found.codes, both(valid, found.valid)
        return codes, valid


def make_key(
    setting: Setting, evaluation: Evaluation, terms: Sequence[Term], types: Sequence[Type], known: Types
) -> Key:
    """A key of some terms, as they are known now."""
    return Key(setting, evaluation, tuple(terms), tuple(types), dict(known))


@dataclass(frozen=True)
class Step(ABC):
    """One step of a plan. It knows which columns are still needed after it."""

    keep: tuple[str, ...] = field(default=(), kw_only=True)
    reads: tuple[str, ...] = field(default=(), kw_only=True)

    def with_needs(self, names: Sequence[str], reads: Iterable[str]) -> Self:
        """The same step, with what is needed after it, and by itself."""
        return replace(self, keep=tuple(names), reads=tuple(reads))

    @abstractmethod
    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings after it, relations being looked at in the states wanted."""


@dataclass(frozen=True)
class Match(Step):
    """Find the rows of a relation that have the known values in some columns; bind the others."""

    relation: Relation
    columns: tuple[int, ...]
    key: Key
    binds: tuple[tuple[str, int], ...]
    """Names, and the columns that bind them."""
    ranked: bool
    """Whether the relation belongs to the group that is being settled."""
    unchanged: bool = False
    """Whether only rows count that were there before the tick and still are: others have a plan of their own."""
    once: bool = False
    """Whether one row is as good as all: nothing of it is needed afterwards."""

    def seek(self, bindings: Bindings) -> Found:
        """The lists of rows that may match."""
        keys, valid = self.key.of(bindings)
        found = self.postings().seek(keys)
        if valid is not None:
            found.counts[~valid] = 0
        return found

    def gather(self, bindings: Bindings, found: Found, want: int) -> Bindings:
        """The bindings with each of their rows."""
        states, wanted = self.relation.states, KEPT if self.unchanged else want
        if self.once:
            return self._bind(bindings, self.postings().gather_some(found, states, wanted, 1)[0])
        return self._bind(bindings, self.postings().gather(found, states, wanted))

    def gather_some(self, bindings: Bindings, found: Found, want: int, most: int) -> tuple[Bindings, Found]:
        """The bindings with some of their rows, and the lists with the rest."""
        matches, rest = self.postings().gather_some(found, self.relation.states, want, 1 if self.once else most)
        if self.once:
            rest.counts[:] = 0
        return self._bind(bindings, matches), rest

    def postings(self) -> Postings:
        """The index that it uses."""
        return self.relation.postings(self.columns)

    def _bind(self, bindings: Bindings, matches: Matches) -> Bindings:
        relation, (queries, rows) = self.relation, matches
        after = bindings.take(queries, self.keep)
        codes = relation.codes
        for name, column in self.binds:
            if name in self.keep:
                after.columns[name] = codes[rows, column]
        return _apply_ranks(after, relation, rows, self.keep) if self.ranked else after

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """All at once."""
        return self.gather(bindings, self.seek(bindings), want)


def _apply_ranks(bindings: Bindings, relation: Relation, rows: Int64s, keep: Sequence[str]) -> Bindings:
    """Leave out inputs that rank too high, and note the greatest rank."""
    columns = bindings.columns
    if BELOW in columns:
        ranks = relation.ranks[rows]
        return bindings.where(ranks < columns[BELOW], (*keep, *columns))
    if RANK in columns:
        columns[RANK] = np.maximum(columns[RANK], relation.ranks[rows])
    return bindings


@dataclass(frozen=True)
class Present(Step):
    """All columns are known: is the row there?"""

    relation: Relation
    key: Key
    ranked: bool
    unchanged: bool = False

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings whose row is there."""
        keys, valid = self.key.of(bindings)
        rows, live = self.relation.find_live(keys, KEPT if self.unchanged else want)
        live = live if valid is None else live & valid
        if not self.ranked:
            return bindings.where(live, self.keep)
        found = np.flatnonzero(live)
        return _apply_ranks(bindings.take(found, self.keep), self.relation, rows[found], self.keep)


@dataclass(frozen=True)
class Absent(Step):
    """Is the row not there?"""

    relation: Relation
    key: Key

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings whose row is not there; a term without a value keeps none."""
        keys, valid = self.key.of(bindings)
        absent = ~self.relation.find_live(keys, want)[1]
        if valid is None:
            return bindings.where(absent, self.keep)
        defined = self._where_defined(bindings)
        return bindings.where(absent | ~valid if defined is None else (absent | ~valid) & defined, self.keep)

    def _where_defined(self, bindings: Bindings) -> Bools | None:
        """Where all terms have a value, if not one that the relation can hold."""
        valid: Bools | None = None
        for term in self.key.terms:
            valid = both(valid, self.key.evaluation.vector(term, bindings, self.key.known).valid)
        return valid


@dataclass(frozen=True)
class Assign(Step):
    """Bind a variable to a term's value."""

    evaluation: Evaluation
    setting: Setting
    name: str
    term: Term
    type: Type
    known: Types

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings for which the term has a value."""
        found = self.setting.encoding.convert_to_store(
            self.evaluation.vector(self.term, bindings, self.known), self.type
        )
        after = Bindings(bindings.count, {**bindings.columns, self.name: found.codes})
        return after if found.valid is None else after.where(found.valid, (*self.keep, self.name))


@dataclass(frozen=True)
class Compare(Step):
    """Keep the bindings for which a comparison holds."""

    evaluation: Evaluation
    setting: Setting
    operator: str
    left: Term
    right: Term
    known: Types

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings for which it holds."""
        left = self.evaluation.vector(self.left, bindings, self.known)
        right = self.evaluation.vector(self.right, bindings, self.known)
        return bindings.where(compare_columns(self.setting.encoding, self.operator, left, right), self.keep)


@dataclass(frozen=True)
class Ask(Step):
    """Keep the bindings for which a built-in predicate says yes, or no if it is negated."""

    evaluation: Evaluation
    name: str
    arguments: tuple[Term, ...]
    negated: bool
    known: Types

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings for which it does."""
        said = self.evaluation.ask(self.name, self.arguments, bindings, self.known)
        holds = (said.codes != 0) != self.negated
        return bindings.where(holds if said.valid is None else holds & said.valid, self.keep)


@dataclass(frozen=True)
class TakeApart(Step):
    """Take values apart by a pattern; its variables get new names, to be compared with what is known already."""

    evaluation: Evaluation
    term: Term
    pattern: Term
    known: Types

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings whose value fits."""
        columns, vector = self.evaluation.take_apart(
            self.pattern, self.evaluation.vector(self.term, bindings, self.known)
        )
        after = Bindings(bindings.count, {**bindings.columns, **columns})
        return after if vector.valid is None else after.where(vector.valid, (*self.keep, *columns))


@dataclass(frozen=True)
class Same(Step):
    """Keep the bindings in which a term has the value of a column: as that would store it, or find it."""

    evaluation: Evaluation
    setting: Setting
    term: Term
    column: str
    type: Type
    """Of the column."""
    stored: bool
    known: Types

    def run(self, bindings: Bindings, want: int) -> Bindings:
        """The bindings in which it has."""
        vector, encoding = self.evaluation.vector(self.term, bindings, self.known), self.setting.encoding
        found = (
            encoding.convert_to_store(vector, self.type)
            if self.stored
            else encoding.convert_to_search(vector, self.type)
        )
        same = found.codes == bindings.columns[self.column]
        return bindings.where(same if found.valid is None else same & found.valid, self.keep)


@dataclass(frozen=True)
class Unpack:
    """Begin with given rows: name their columns, and leave out those that do not hold some codes."""

    names: tuple[tuple[str, int], ...]
    constants: tuple[tuple[int, int | None], ...]
    """Columns that must hold a code."""

    def bindings(self, rows: Int64s, beside: dict[str, Int64s]) -> Bindings:
        """The bindings."""
        bindings = Bindings(len(rows), {name: rows[:, column] for name, column in self.names} | beside)
        holds: Bools | None = None
        for column, code in self.constants:
            holds = both(holds, np.zeros(len(rows), np.bool_) if code is None else rows[:, column] == code)
        return bindings if holds is None else bindings.where(holds, tuple(bindings.columns))
