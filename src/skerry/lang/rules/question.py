"""A question about a program, as text: ``path(1, x)``."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from skerry.deduce.evaluate import Evaluator
from skerry.deduce.values import Row, coerce
from skerry.errors import InputError, RuleError
from skerry.lang.rules.read_program import read
from skerry.model.term import Constant, Term, Terms, Value, Variable, is_pattern, variables
from skerry.plan.program import Atom, Checked, Column, Type, fresh

__all__ = ["list_texts", "read_question"]


def read_question(text: str, checked: Checked, unit: int = 1, texts: Container[str] = ()) -> Atom:
    """Read an atom with constants and variables, in the words that a program has declared.

    Values are brought to their columns' types; a variable or ``_`` stands for any value. A bare word that is one of
    ``texts``, those that occur in facts and rules, is that text, and no variable.
    """
    atom = _atom(text.strip().removesuffix("."), checked)
    columns = checked.predicates[atom.predicate].columns
    if len(atom.arguments) != len(columns):
        raise InputError(f"{atom.predicate!r} has {len(columns)} arguments, got {len(atom.arguments)}")
    taken = set[str]()
    meant = zip(cast(tuple[Term, ...], atom.arguments), columns, strict=True)
    terms = [_open(_as_text(term, column, texts), taken) for term, column in meant]
    return Atom(
        atom.predicate, tuple(_argument(term, column, unit) for term, column in zip(terms, columns, strict=True))
    )


def _as_text(term: Term, column: Column, texts: Container[str]) -> Term:
    holds = column.type in (Type.STRING, Type.NODE, Type.ANY)
    return Constant(term.name) if holds and isinstance(term, Variable) and term.name in texts else term


def list_texts(checked: Checked, facts: Mapping[str, Iterable[Row]]) -> set[str]:
    """The texts that occur in facts and in rules."""
    found = {value for rows in facts.values() for row in rows for value in row if isinstance(value, str)}
    atoms = [each for rule in checked.rules for each in (rule.head, *rule.body) if isinstance(each, Atom)]
    written = (each.value for atom in atoms for each in atom.arguments if isinstance(each, Constant))
    return found | {value for value in written if isinstance(value, str)}


def _open(term: Term, taken: set[str]) -> Term:
    """A term in which every ``_`` is a variable of its own."""
    match term:
        case Variable("_"):
            return fresh("_", taken)
        case Terms(items, name, front):
            first = fresh("_", taken) if front == Variable("_") else front
            return Terms(tuple(_open(item, taken) for item in items), name, first)
    return term


def _atom(asked: str, checked: Checked) -> Atom:
    try:
        rules = read(f"{checked.program.text}\nasked'' :- {asked}.").rules
    except RuleError as error:
        raise InputError(f"cannot read the question {asked!r}: {error.args[1]}") from None
    body = next(rule.body for rule in reversed(rules) if rule.head.predicate == "asked''")
    if len(body) != 1 or not isinstance(body[0], Atom) or body[0].negated:
        raise InputError(f"a question is one atom, as in path(1, x), got {asked!r}")
    if body[0].predicate not in checked.predicates:
        known = ", ".join(sorted(name for name in checked.predicates if not name.startswith("$")))
        raise InputError(f"there is no predicate {body[0].predicate!r}; the program has {known}")
    return body[0]


def _argument(term: Term, column: Column, unit: int) -> Term:
    if any(True for _ in variables(term)):
        if not is_pattern(term):
            raise InputError(f"{column.name!r} is asked for with arithmetic; write a value or a variable")
        return term
    value = Evaluator(_NoCalls(), unit).value(term, {})
    fitted = None if value is None else _fit(value, column.type, unit)
    if fitted is None:
        raise InputError(f"{column.name!r} is of type {column.type}, which the value asked for does not fit")
    return Constant(fitted)


def _fit(value: Value, kind: Type, unit: int) -> Value | None:
    """A value as its column holds it; a time may be written as a timestamp where facts have it so."""
    if kind == Type.TIME and unit != 1 and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return coerce(value, kind)


class _NoCalls:
    """A question calls no built-ins."""

    def call(self, name: str, rows: Sequence[Row]) -> list[Value | None]:
        return [None] * len(rows)
