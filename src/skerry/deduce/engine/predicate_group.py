"""Predicates that are settled together: what changes in them, given all that they rest on.

Derivations are not kept but found again through indexes, so a dense closure costs no more memory than its tuples. A
tuple of a recursive group has a **rank**, greater than those of the tuples of the group that it was derived from.
When tuples may have lost a derivation, they are looked at from the lowest rank up: one that has a derivation from
tuples of lower rank stays; another is suspended, and what was derived from it is looked at in its turn. Then
suspended tuples that still have a derivation revive at a new rank, and what follows from these and from new facts is
added, round by round. What is still suspended at the end is gone; nobody outside has seen more than that.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from skerry.deduce.engine.bindings import LOWEST, Setting
from skerry.deduce.engine.relation import NEW, Relation
from skerry.deduce.engine.rule_runner import Heads, RuleRunner
from skerry.model.arrays import Bools, Int64s

__all__ = ["PredicateGroup", "Stage"]

_NO_ROWS = np.empty(0, np.int64)


class Stage:
    """Which rows belong to the stage that is being settled: without stages, all."""

    floor = 0
    """The least rank of its tuples: above those of all stages before."""

    def of(self, relation: Relation, codes: Int64s) -> Bools | None:
        """Which rows belong to it; None: all."""
        return None

    def ranks(self, count: int, below: Int64s | None) -> Int64s:
        """The ranks of rows, given the greatest ranks of what they rest on."""
        return np.full(count, self.floor) if below is None else np.maximum(below + 1, self.floor)


class PredicateGroup:
    """Some predicates with the rules that derive them."""

    def __init__(
        self, setting: Setting, predicates: Sequence[str], runners: Iterable[RuleRunner], recursive: bool
    ) -> None:
        self.predicates, self._setting = tuple(predicates), setting
        self.runners: dict[str, list[RuleRunner]] = {predicate: [] for predicate in predicates}
        self._users: dict[str, list[tuple[RuleRunner, int]]] = {predicate: [] for predicate in predicates}
        for runner in runners:
            self.runners[runner.rule.head.predicate].append(runner)
            for index, atom in runner.atoms:
                if atom.predicate in self._users and not atom.negated:
                    self._users[atom.predicate].append((runner, index))
        self.recursive = recursive and any(self._users.values())
        """Whether its predicates need each other within a stage."""

    def relation(self, predicate: str) -> Relation:
        """The rows of one of its predicates."""
        return self._setting.relations[predicate]

    def settle(
        self, doubted: Mapping[str, Sequence[Int64s]], gained: "Iterable[tuple[RuleRunner, Heads]]", stage: Stage
    ) -> None:
        """Take out what has no derivation any more of the rows in doubt; then put in what is gained.

        ``gained`` is looked at after the rows in doubt are decided.
        """
        if not self.recursive:
            self._drop(doubted)
            for runner, heads in gained:
                self._insert(runner, heads, stage)
            return
        suspended = self._suspend(doubted, stage)
        changed = self._revive(suspended, stage)
        for runner, heads in gained:
            changed.setdefault(runner.rule.head.predicate, []).extend(self._insert(runner, heads, stage))
        while changed:
            changed = self._round(changed, stage)

    def insert(self, runner: RuleRunner, heads: Heads) -> bool:
        """Put in what a rule derives; return whether any of it was not there."""
        return bool(self._insert(runner, heads, Stage()))

    def find_derived(self, predicate: str, codes: Int64s, below: Int64s | None = None) -> Bools:
        """Which rows some rule derives now."""
        found = np.zeros(len(codes), np.bool_)
        for runner in self.runners[predicate]:
            open_ = np.flatnonzero(~found)
            if open_.size:
                found[open_] = runner.holds(codes[open_], None if below is None else below[open_])
        return found

    def find_ranks(self, predicate: str, codes: Int64s) -> tuple[Bools, Int64s]:
        """Which rows some rule derives now, and the greatest rank of what they rest on."""
        found, ranks = np.zeros(len(codes), np.bool_), np.full(len(codes), LOWEST)
        for runner in self.runners[predicate]:
            open_ = np.flatnonzero(~found)
            if open_.size:
                found[open_], ranks[open_] = runner.find_ranks(codes[open_])
        return found, ranks

    def _drop(self, doubted: Mapping[str, Sequence[Int64s]]) -> None:
        for predicate, rows in doubted.items():
            relation = self.relation(predicate)
            alive = _alive(relation, rows)
            if alive.size:
                lost = alive[~self.find_derived(predicate, relation.codes[alive])]
                if lost.size:
                    relation.suspend(lost)

    def _insert(self, runner: RuleRunner, heads: Heads, stage: Stage) -> list[Int64s]:
        """Insert rows; those that were not there."""
        relation, changed = self.relation(runner.rule.head.predicate), list[Int64s]()
        for codes, ranks in heads:
            own = stage.of(relation, codes)
            if own is not None:
                codes, ranks = codes[own], None if ranks is None else ranks[own]
            rows = relation.insert(codes, stage.ranks(len(codes), ranks))
            self._guard(relation, runner)
            if rows.size:
                changed.append(rows)
        return changed

    def _guard(self, relation: Relation, runner: RuleRunner) -> None:
        self._setting.guard.check(runner.rule)
        self._setting.guard.check_size(relation, runner.rule)

    def _suspend(self, doubted: Mapping[str, Sequence[Int64s]], stage: Stage) -> dict[str, list[Int64s]]:
        """Suspend, from the lowest rank up, what rests on nothing of lower rank."""
        queue, suspended = _ByRank(), dict[str, list[Int64s]]()
        for predicate, rows in doubted.items():
            queue.push(self.relation(predicate), _alive(self.relation(predicate), rows))
        for rank, predicate, rows in queue:
            relation = self.relation(predicate)
            alive = _alive(relation, rows)
            held = self.find_derived(predicate, relation.codes[alive], np.full(alive.size, rank))
            lost = alive[~held]
            if lost.size:
                relation.suspend(lost)
                suspended.setdefault(predicate, []).append(lost)
                self._doubt_users(predicate, lost, rank, stage, queue)
        return suspended

    def _doubt_users(self, predicate: str, lost: Int64s, rank: int, stage: Stage, queue: "_ByRank") -> None:
        codes = self.relation(predicate).codes[lost]
        for runner, index in self._users[predicate]:
            relation = self.relation(runner.rule.head.predicate)
            for heads, _ in runner.derive_lost(index, codes):
                own = stage.of(relation, heads)
                rows = relation.find(heads if own is None else heads[own])
                rows = rows[rows >= 0]
                queue.push(relation, rows[((relation.states[rows] & NEW) != 0) & (relation.ranks[rows] > rank)])

    def _revive(self, suspended: Mapping[str, Sequence[Int64s]], stage: Stage) -> dict[str, list[Int64s]]:
        changed: dict[str, list[Int64s]] = {}
        for predicate, rows in suspended.items():
            relation = self.relation(predicate)
            codes = relation.codes[np.concatenate(rows)]
            found, ranks = self.find_ranks(predicate, codes)
            revived = relation.insert(codes[found], stage.ranks(len(codes), ranks[found]))
            if revived.size:
                changed[predicate] = [revived]
        return changed

    def _round(self, changed: Mapping[str, Sequence[Int64s]], stage: Stage) -> dict[str, list[Int64s]]:
        """What follows at once from what has changed."""
        after: dict[str, list[Int64s]] = {}
        for predicate, rows in changed.items():
            if not rows:
                continue
            relation, found = self.relation(predicate), _concatenate(rows)
            codes, ranks = relation.codes[found], relation.ranks[found]
            for runner, index in self._users[predicate]:
                new = self._insert(runner, runner.derive_gained(index, codes, ranks), stage)
                if new:
                    after.setdefault(runner.rule.head.predicate, []).extend(new)
        return after


class _ByRank:
    """Rows in doubt, from the lowest rank up."""

    def __init__(self) -> None:
        self._ranks: list[int] = []
        self._rows: dict[int, dict[str, list[Int64s]]] = {}

    def push(self, relation: Relation, rows: Int64s) -> None:
        """Rows to be looked at in their turn."""
        if not rows.size:
            return
        ranks = relation.ranks[rows]
        least = int(ranks.min())
        if least == ranks.max():
            self._at(least, relation).append(rows)
            return
        for rank in np.unique(ranks).tolist():
            self._at(rank, relation).append(rows[ranks == rank])

    def _at(self, rank: int, relation: Relation) -> list[Int64s]:
        if rank not in self._rows:
            self._rows[rank] = {}
            heapq.heappush(self._ranks, rank)
        return self._rows[rank].setdefault(relation.name, [])

    def __iter__(self) -> Iterator[tuple[int, str, Sequence[Int64s]]]:
        """The next rank's rows, predicate by predicate; more may be pushed meanwhile, of higher ranks."""
        while self._ranks:
            rank = heapq.heappop(self._ranks)
            for predicate, rows in self._rows.pop(rank).items():
                yield rank, predicate, rows


def _concatenate(rows: Sequence[Int64s]) -> Int64s:
    return rows[0] if len(rows) == 1 else np.concatenate(rows) if rows else _NO_ROWS


def _alive(relation: Relation, rows: Sequence[Int64s]) -> Int64s:
    """The different rows that are there now."""
    found = _concatenate(rows)
    if found.size > 1:
        found = np.unique(found)
    return found[(relation.states[found] & NEW) != 0]
