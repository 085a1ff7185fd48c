"""The steps of a plan. Each takes bindings and gives those that remain, with what it has bound."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from skerry.deduce.engine.bindings import BELOW, ORIGIN, RANK, Frame, Setting
from skerry.deduce.engine.calculation import compared
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
    "Kept",
    "Key",
    "Match",
    "Present",
    "Same",
    "TakeApart",
    "Unpack",
    "keyed",
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

    def of(self, frame: Frame) -> tuple[Int64s, Bools | None]:
        """A row of codes for each binding, and where that can be found at all."""
        codes = np.empty((frame.count, len(self.terms)), np.int64)
        valid: Bools | None = None
        for place, (term, type_) in enumerate(zip(self.terms, self.types, strict=True)):
            if isinstance(term, Variable) and self.known[term.name] is type_:
                codes[:, place] = frame.columns[term.name]
            elif isinstance(term, Constant):
                sought = self.setting.encoding.constant(term.value, type_)
                codes[:, place] = 0 if sought is None else sought
                if sought is None:
                    valid = np.zeros(frame.count, np.bool_)
            else:
                vector = self.evaluation.vector(term, frame, self.known)
                found = self.setting.encoding.sought(vector, type_)
                codes[:, place], valid = found.codes, both(valid, found.valid)
        return codes, valid


def keyed(setting: Setting, evaluation: Evaluation, terms: Sequence[Term], types: Sequence[Type], known: Types) -> Key:
    """A key of some terms, as they are known now."""
    return Key(setting, evaluation, tuple(terms), tuple(types), dict(known))


@dataclass(frozen=True)
class Kept(ABC):
    """Every step knows which columns are still needed after it."""

    keep: tuple[str, ...] = field(default=(), kw_only=True)
    reads: tuple[str, ...] = field(default=(), kw_only=True)

    def keeping(self, names: Sequence[str], reads: Iterable[str]) -> Self:
        """The same step, with what is needed after it, and by itself."""
        return replace(self, keep=tuple(names), reads=tuple(reads))

    @abstractmethod
    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings after it, relations being looked at in the states wanted."""


@dataclass(frozen=True)
class Match(Kept):
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

    def seek(self, frame: Frame) -> Found:
        """The lists of rows that may match."""
        keys, valid = self.key.of(frame)
        found = self.postings().seek(keys)
        if valid is not None:
            found.counts[~valid] = 0
        return found

    def gather(self, frame: Frame, found: Found, want: int) -> Frame:
        """The bindings with each of their rows."""
        states, wanted = self.relation.states, KEPT if self.unchanged else want
        if self.once:
            return self._bound(frame, self.postings().gather_some(found, states, wanted, 1)[0])
        return self._bound(frame, self.postings().gather(found, states, wanted))

    def gather_some(self, frame: Frame, found: Found, want: int, most: int) -> tuple[Frame, Found]:
        """The bindings with some of their rows, and the lists with the rest."""
        matches, rest = self.postings().gather_some(found, self.relation.states, want, 1 if self.once else most)
        if self.once:
            rest.counts[:] = 0
        return self._bound(frame, matches), rest

    def postings(self) -> Postings:
        """The index that it uses."""
        return self.relation.postings(self.columns)

    def _bound(self, frame: Frame, matches: Matches) -> Frame:
        relation, (places, rows) = self.relation, matches
        after = frame.take(places, self.keep)
        codes = relation.codes
        for name, column in self.binds:
            if name in self.keep:
                after.columns[name] = codes[rows, column]
        return _ranked(after, relation, rows, self.keep) if self.ranked else after

    def run(self, frame: Frame, want: int) -> Frame:
        """All at once."""
        return self.gather(frame, self.seek(frame), want)


def _ranked(frame: Frame, relation: Relation, rows: Int64s, keep: Sequence[str]) -> Frame:
    """Leave out inputs that rank too high, and note the greatest rank."""
    columns = frame.columns
    if BELOW in columns:
        ranks = relation.ranks[rows]
        return frame.where(ranks < columns[BELOW], (*keep, *columns))
    if RANK in columns:
        columns[RANK] = np.maximum(columns[RANK], relation.ranks[rows])
    return frame


@dataclass(frozen=True)
class Present(Kept):
    """All columns are known: is the row there?"""

    relation: Relation
    key: Key
    ranked: bool
    unchanged: bool = False

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings whose row is there."""
        keys, valid = self.key.of(frame)
        rows, live = self.relation.find_live(keys, KEPT if self.unchanged else want)
        live = live if valid is None else live & valid
        if not self.ranked:
            return frame.where(live, self.keep)
        places = np.flatnonzero(live)
        return _ranked(frame.take(places, self.keep), self.relation, rows[places], self.keep)


@dataclass(frozen=True)
class Absent(Kept):
    """Is the row not there?"""

    relation: Relation
    key: Key

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings whose row is not there; a term without a value keeps none."""
        keys, valid = self.key.of(frame)
        absent = ~self.relation.find_live(keys, want)[1]
        if valid is None:
            return frame.where(absent, self.keep)
        defined = self._defined(frame)
        return frame.where(absent | ~valid if defined is None else (absent | ~valid) & defined, self.keep)

    def _defined(self, frame: Frame) -> Bools | None:
        """Where all terms have a value, if not one that the relation can hold."""
        valid: Bools | None = None
        for term in self.key.terms:
            valid = both(valid, self.key.evaluation.vector(term, frame, self.key.known).valid)
        return valid


@dataclass(frozen=True)
class Assign(Kept):
    """Bind a variable to a term's value."""

    evaluation: Evaluation
    setting: Setting
    name: str
    term: Term
    type: Type
    known: Types

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings for which the term has a value."""
        found = self.setting.encoding.stored(self.evaluation.vector(self.term, frame, self.known), self.type)
        after = Frame(frame.count, {**frame.columns, self.name: found.codes})
        return after if found.valid is None else after.where(found.valid, (*self.keep, self.name))


@dataclass(frozen=True)
class Compare(Kept):
    """Keep the bindings for which a comparison holds."""

    evaluation: Evaluation
    setting: Setting
    operator: str
    left: Term
    right: Term
    known: Types

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings for which it holds."""
        left = self.evaluation.vector(self.left, frame, self.known)
        right = self.evaluation.vector(self.right, frame, self.known)
        return frame.where(compared(self.setting.encoding, self.operator, left, right), self.keep)


@dataclass(frozen=True)
class Ask(Kept):
    """Keep the bindings for which a built-in predicate says yes, or no if it is negated."""

    evaluation: Evaluation
    name: str
    arguments: tuple[Term, ...]
    negated: bool
    known: Types

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings for which it does."""
        said = self.evaluation.asked(self.name, self.arguments, frame, self.known)
        holds = (said.codes != 0) != self.negated
        return frame.where(holds if said.valid is None else holds & said.valid, self.keep)


@dataclass(frozen=True)
class TakeApart(Kept):
    """Take values apart by a pattern; its variables get new names, to be compared with what is known already."""

    evaluation: Evaluation
    term: Term
    pattern: Term
    known: Types

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings whose value fits."""
        columns, vector = self.evaluation.taken_apart(
            self.pattern, self.evaluation.vector(self.term, frame, self.known)
        )
        after = Frame(frame.count, {**frame.columns, **columns})
        return after if vector.valid is None else after.where(vector.valid, (*self.keep, *columns))


@dataclass(frozen=True)
class Same(Kept):
    """Keep the bindings in which a term has the value of a column: as that would store it, or find it."""

    evaluation: Evaluation
    setting: Setting
    term: Term
    column: str
    type: Type
    """Of the column."""
    stored: bool
    known: Types

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings in which it has."""
        vector, encoding = self.evaluation.vector(self.term, frame, self.known), self.setting.encoding
        found = encoding.stored(vector, self.type) if self.stored else encoding.sought(vector, self.type)
        same = found.codes == frame.columns[self.column]
        return frame.where(same if found.valid is None else same & found.valid, self.keep)


@dataclass(frozen=True)
class Unpack:
    """Begin with given rows: name their columns, and leave out those that do not hold some codes."""

    names: tuple[tuple[str, int], ...]
    constants: tuple[tuple[int, int | None], ...]
    """Columns that must hold a code."""

    def frame(self, rows: Int64s, beside: dict[str, Int64s]) -> Frame:
        """The bindings."""
        frame = Frame(len(rows), {name: rows[:, column] for name, column in self.names} | beside)
        holds: Bools | None = None
        for column, code in self.constants:
            holds = both(holds, np.zeros(len(rows), np.bool_) if code is None else rows[:, column] == code)
        return frame if holds is None else frame.where(holds, tuple(frame.columns))
