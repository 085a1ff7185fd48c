"""Sets of values, remembered by the constants that they were made of: people use round numbers, and few sensors."""

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter

from sqlglot import exp

from skerry.index.constants import NotIndexable
from skerry.index.disjunctive_form import Part, Term, Terms, Truth, leave_to_duckdb
from skerry.index.form import Constant, Form
from skerry.index.operand_sets import FindSets, Sets
from skerry.index.term_columns import gather_terms
from skerry.index.value_sets import ValueSet

__all__ = ["RememberedSets"]

_MOST = 4096
"""When there are so many, they are forgotten."""


class RememberedSets:
    """The truth of a part of a form that is about one operand, for all constants that the part may have.

    With constants that cannot be compared as keys the part is left to DuckDB. That is not remembered: another time the
    index may compute what the part is about.
    """

    def __init__(self, form: Form, part: Part, find: FindSets) -> None:
        self._form, self._find = form, find
        self._indexes = _list_constants(form, part.tree)
        self._choose = _choose_constants(form, self._indexes)
        left = leave_to_duckdb(part)
        self.truth = Truth(
            self._remember(lambda sets: sets.true, left.true), self._remember(lambda sets: sets.false(), left.false)
        )
        """Where the part is true, and where it is false."""

    def _remember(self, choose: Callable[[Sets], ValueSet], otherwise: Callable[[], Terms]) -> Callable[[], Terms]:
        """What finds terms: among those that are known, or anew."""
        choose_constants, known = self._choose, dict[Hashable, Terms]()

        def make() -> Terms:
            sets = self._find()
            values = choose(sets)
            return (Term({sets.operand: values}),) if values else ()

        def find_one() -> Terms:
            constants = choose_constants(self._form.constants) if choose_constants else None
            found = known.get(constants)
            if found is not None:
                return found
            try:
                found = make()
            except NotIndexable:
                return otherwise()
            if choose_constants:
                if len(known) >= _MOST:
                    known.clear()
                known[constants] = found
            return found

        def find() -> Terms:
            form = self._form
            return gather_terms(form, self._indexes, find_one) if form.row_count else find_one()

        return find


def _list_constants(form: Form, tree: exp.Expr) -> list[int] | None:
    """Which constants of its form a part has; None if they do not say all."""
    computed = [call for call in tree.find_all(exp.Func) if not call.find(exp.Column)]
    indexes = [form.index_of(literal) for literal in tree.find_all(exp.Literal)]
    known = [index for index in indexes if index is not None]
    return None if not form.is_shared or computed or len(known) < len(indexes) else known


def _choose_constants(form: Form, indexes: list[int] | None) -> Callable[[Sequence[Constant]], Hashable] | None:
    """What takes the constants of a part out of those of its form; None if one of them is a long list."""
    if indexes is None or not all(isinstance(form.constants[index], str) for index in indexes):
        return None
    return itemgetter(*indexes) if indexes else lambda constants: ()
