"""A rule made ready to run: from given rows through its steps to the rows of its head."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skerry.deduce.engine.bindings import BELOW, ORIGIN, RANK, Bindings, Setting
from skerry.deduce.engine.encoding import both, distinct
from skerry.deduce.engine.evaluation import Evaluation, Types
from skerry.deduce.engine.steps import Match, Step, Unpack
from skerry.errors import RuleLimit
from skerry.kernels.rules.postings import Found
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Term, Variable
from skerry.plan.program import Rule, Type

__all__ = ["Plan"]

_FEW = 8
"""How many rows of a list are looked at first, where one may do."""


@dataclass(frozen=True)
class Plan:
    """Steps in an order in which each finds what it needs."""

    rule: Rule
    setting: Setting
    evaluation: Evaluation
    unpack: Unpack
    steps: tuple[Step, ...]
    head: tuple[tuple[Term, Type], ...]
    """Terms to be worked out at the end, and the types of their columns."""
    known: Types
    every: bool = False
    """Whether every binding counts, not only what it gives."""
    piece: int = 1 << 20
    """How many bindings are made at once."""

    def bindings(
        self, rows: Int64s, want: int, beside: dict[str, Int64s], done: Bools | None = None
    ) -> Iterator[Bindings]:
        """Bindings for which all steps succeed, in pieces; relations are looked at in the states wanted.

        With ``done``, one binding for each row given is enough: who takes the bindings notes there which rows have
        one, and lists are followed a little at a time.
        """
        bindings = self.unpack.bindings(rows, beside)
        if bindings.count and not self._is_vain():
            try:
                for start in range(0, bindings.count, self.piece):
                    yield from self._go(0, bindings.slice(start, min(start + self.piece, bindings.count)), want, done)
            except RuleLimit as limit:
                message, fix, rule, code = limit.args
                raise type(limit)(message, fix, rule or self.rule.number, code) from None

    def heads(self, rows: Int64s, want: int, beside: dict[str, Int64s]) -> Iterator[tuple[Int64s, Int64s | None]]:
        """The rows of the head, in pieces, with the greatest rank of their inputs if it is asked for."""
        for bindings in self.bindings(rows, want, beside):
            codes, valid = self.row(bindings)
            ranks = bindings.columns.get(RANK)
            if valid is not None:
                codes, ranks = codes[valid], None if ranks is None else ranks[valid]
            if len(codes):
                yield codes, ranks

    def row(self, bindings: Bindings) -> tuple[Int64s, Bools | None]:
        """The head's codes for each binding, and where they fit their columns."""
        codes = np.empty((bindings.count, len(self.head)), np.int64)
        valid: Bools | None = None
        for index, (term, type_) in enumerate(self.head):
            if isinstance(term, Variable) and self.known[term.name] is type_:
                codes[:, index] = bindings.columns[term.name]
            else:
                vector = self.evaluation.vector(term, bindings, self.known)
                stored = self.setting.encoding.convert_to_store(vector, type_)
                codes[:, index], valid = stored.codes, both(valid, stored.valid)
        return codes, valid

    def _is_vain(self) -> bool:
        """Whether a step looks at unchanged rows alone and its relation has none: then nothing can be found."""
        return any(isinstance(step, Match) and step.unchanged and not step.relation.kept for step in self.steps)

    def _go(self, first: int, bindings: Bindings, want: int, done: Bools | None) -> Iterator[Bindings]:
        for index in range(first, len(self.steps)):
            step = self.steps[index]
            if isinstance(step, Match):
                found = step.seek(bindings)
                total = int(found.counts.sum())
                if total > self.piece and not self.every:
                    bindings, found = _different(bindings, step, found)
                    total = int(found.counts.sum())
                if total > (self.piece if done is None else bindings.count * _FEW):
                    pieces = self._pieces if done is None else partial(self._little, done)
                    for piece in pieces(step, bindings, found, want):
                        yield from self._go(index + 1, piece, want, done)
                    return
                bindings = step.gather(bindings, found, want)
            else:
                bindings = step.run(bindings, want)
            if not bindings.count:
                return
        self.setting.guard.check(self.rule)
        yield bindings

    def _pieces(self, step: Match, bindings: Bindings, found: Found, want: int) -> Iterator[Bindings]:
        for start, stop in _cuts(found.counts, self.piece):
            self.setting.guard.check(self.rule)
            part = Found(found.heads[start:stop], found.counts[start:stop])
            piece = step.gather(bindings.slice(start, stop), part, want)
            if piece.count:
                yield piece

    def _little(self, done: Bools, step: Match, bindings: Bindings, found: Found, want: int) -> Iterator[Bindings]:
        """Follow each list a few rows at a time, until its row is done."""
        most = _FEW
        while bindings.count:
            for start, stop in _cuts(np.minimum(found.counts, most), self.piece):
                self.setting.guard.check(self.rule)
                part = Found(found.heads[start:stop], found.counts[start:stop])
                piece, rest = step.gather_some(bindings.slice(start, stop), part, want, most)
                found.heads[start:stop], found.counts[start:stop] = rest
                if piece.count:
                    yield piece
            open_ = np.flatnonzero((found.counts > 0) & ~done[bindings.columns[ORIGIN]])
            bindings = bindings.take(open_, tuple(bindings.columns))
            found = Found(found.heads[open_], found.counts[open_])
            most = min(most * _FEW, self.piece)


def _different(bindings: Bindings, step: Match, found: Found) -> tuple[Bindings, Found]:
    """One binding of those that differ only in what is not needed any more, before they are multiplied."""
    names = [
        name for name in bindings.columns if (name in step.keep or name in step.reads) and name not in (RANK, BELOW)
    ]
    firsts = distinct([bindings.columns[name] for name in names])[0] if names else np.zeros(1, np.int64)
    if firsts.size == bindings.count:
        return bindings, found
    return bindings.take(firsts, tuple(bindings.columns)), Found(found.heads[firsts], found.counts[firsts])


def _cuts(counts: Int64s, piece: int) -> Sequence[tuple[int, int]]:
    """Where to cut, so that a piece is not much larger than it should be.

    >>> _cuts(np.array([9, 5, 9]), 9)
    [(0, 1), (1, 3)]
    """
    ends = np.cumsum(counts)
    marks = np.arange(0, int(ends[-1]) + piece, piece)
    cuts = np.unique(np.append(np.searchsorted(ends, marks, side="left"), counts.size))
    cuts = np.unique(np.append(np.minimum(cuts + 1, counts.size), 0))
    return [(int(start), int(stop)) for start, stop in itertools.pairwise(cuts)]
