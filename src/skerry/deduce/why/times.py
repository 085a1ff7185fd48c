"""Times in a proof: as they are written in facts, not as the microseconds that an engine counts."""

from datetime import datetime, timedelta

from skerry.deduce.evaluate import Binding
from skerry.model.term import Constant, Value, Variable
from skerry.plan.program import MICROSECONDS, Atom, Checked, Rule, Type

__all__ = ["Times"]

_EPOCH = datetime(1970, 1, 1)


class Times:
    """Which arguments and variables of a program are times. Where times are bare numbers, they stay so."""

    def __init__(self, checked: Checked, unit: int) -> None:
        self._predicates = checked.predicates if unit == MICROSECONDS else {}

    def with_timestamps(self, atom: Atom) -> Atom:
        """An atom with its times as timestamps."""
        times = self._columns(atom)
        arguments = tuple(
            Constant(_to_timestamp(argument.value)) if column in times and isinstance(argument, Constant) else argument
            for column, argument in enumerate(atom.arguments)
        )
        return Atom(atom.predicate, arguments, atom.negated)

    def binding_with_timestamps(self, rule: Rule, binding: Binding) -> Binding:
        """A binding of a rule's variables with its times as timestamps."""
        atoms = [subgoal for subgoal in (rule.head, *rule.body) if isinstance(subgoal, Atom)]
        names = {
            argument.name
            for atom in atoms
            for column in self._columns(atom)
            if isinstance(argument := atom.arguments[column], Variable)
        }
        return {name: _to_timestamp(value) if name in names else value for name, value in binding.items()}

    def _columns(self, atom: Atom) -> list[int]:
        if atom.predicate not in self._predicates:
            return []
        columns = self._predicates[atom.predicate].columns
        return [index for index, column in enumerate(columns) if column.type is Type.TIME]


def _to_timestamp(value: Value) -> Value:
    """A timestamp; a number that is none stays as it is.

    >>> _to_timestamp(1_500_000), _to_timestamp(2**63)
    ('1970-01-01 00:00:01.500000', 9223372036854775808)
    """
    try:
        return (_EPOCH + timedelta(microseconds=value)).isoformat(" ") if isinstance(value, int) else value
    except OverflowError:
        return value
