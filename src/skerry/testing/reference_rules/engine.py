"""The reference engine: recomputes the model of a program at every tick. Slow and obvious: the oracle of the others."""

from collections.abc import Iterable, Mapping

from skerry.deduce.change import Change
from skerry.deduce.evaluate import Calls
from skerry.deduce.values import Row
from skerry.deduce.why.tables import Tables
from skerry.errors import RuleLimit, RunError
from skerry.plan.program import Checked
from skerry.testing.reference_rules.base_facts import BaseFacts
from skerry.testing.reference_rules.model import Modeller

__all__ = ["Reference"]


class Reference:
    """Keeps a program's answers true by computing them again.

    A tick that reaches a limit leaves no trace, and is the last one.
    """

    def __init__(self, checked: Checked, builtins: Calls, unit: int = 1) -> None:
        self._checked, self._predicates = checked, tuple(checked.predicates)
        self._silent = any(predicate.silent for predicate in checked.predicates.values())
        self._modeller = Modeller(checked, builtins, unit)
        self._facts, self._tables = BaseFacts(checked.predicates, unit), Tables(checked.predicates)
        self._stopped: RuleLimit | None = None

    def rows(self, predicate: str) -> set[Row]:
        """What holds of a predicate."""
        return set(self._tables.rows(predicate))

    def tick(
        self, now: int | None, inserts: Mapping[str, Iterable[Row]], deletes: Mapping[str, Iterable[Row]]
    ) -> Mapping[str, Change]:
        """Expire, delete and insert facts; return what changed by that.

        Rows that silent expiry alone takes away are not reported.
        """
        if self._stopped is not None:
            raise RunError(f"the program was stopped: {self._stopped}")
        try:
            return self._run_tick(now, inserts, deletes)
        except RuleLimit as limit:
            self._stopped = limit
            raise

    def _run_tick(
        self, now: int | None, inserts: Mapping[str, Iterable[Row]], deletes: Mapping[str, Iterable[Row]]
    ) -> Mapping[str, Change]:
        facts, faded = self._facts.copy(), self._tables
        facts.expire(now, silent=True)
        if self._silent:
            faded = self._modeller.model(_plain(facts))
        facts.expire(now, silent=False)
        facts.move_windows(now, self._checked.predicates)
        for predicate, rows in deletes.items():
            facts.delete(predicate, rows)
        for predicate, rows in inserts.items():
            facts.insert(predicate, rows, now)
        model = self._modeller.model(_plain(facts))
        changes = {predicate: _change(self._tables, faded, model, predicate) for predicate in self._predicates}
        self._facts, self._tables = facts, model
        return {predicate: change for predicate, change in changes.items() if change.inserted or change.deleted}


def _plain(facts: BaseFacts) -> Mapping[str, Iterable[Row]]:
    return {predicate: rows.values() for predicate, rows in facts.rows.items()}


def _change(before: Tables, faded: Tables, after: Tables, predicate: str) -> Change:
    """Compare what held, and was not taken away in silence, with what holds."""
    old, kept, new = before.keys(predicate), faded.keys(predicate), after.keys(predicate)
    reported = {found: row for found, row in old.items() if found in kept}
    inserted = [row for found, row in new.items() if found not in reported]
    return Change(inserted, [row for found, row in reported.items() if found not in new])
