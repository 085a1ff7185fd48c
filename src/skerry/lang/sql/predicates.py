"""Predicates by the thousand: those that differ in their constants alone are read once.

What people subscribe to mostly comes from a form: the same words, other numbers. So a text is cut into
its constants and the form around them; a form is parsed and bound when it is first seen, and after that
its constants are put into its tree.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from skerry.catalog import Source, Subscription
from skerry.errors import InputError, SqlError
from skerry.lang.sql.scalar import Scope, condition
from skerry.model.dialect import Dialect

__all__ = ["Predicates"]

_LONGEST = 100_000
"""How many characters a predicate may have."""
_MOST_FORMS = 10_000
_CONSTANT = re.compile(r"'(?:[^']|'')*'|(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_PLAIN = re.compile(r"[\w\s.<>=!()+*/%,'-]*")
"""Texts with other characters, which may quote or comment, are read as they are."""
_UNLIKELY = 7_130_470_291


@dataclass(frozen=True)
class _Form:
    """A tree, and where in it each constant of the text stands."""

    tree: exp.Expr
    literals: tuple[exp.Literal, ...]

    def fill(self, constants: list[str]) -> exp.Expr:
        """The tree with other constants, until it is filled again."""
        for node, constant in zip(self.literals, constants, strict=True):
            node.set("this", constant[1:-1].replace("''", "'") if constant[0] == "'" else constant)
        return self.tree


class Predicates:
    """Reads the predicates of subscriptions to some streams.

    >>> import pyarrow as pa
    >>> read = Predicates({"road": Source("road", pa.schema({"speed": pa.float64()}), "file")})
    >>> [read.tree(Subscription("q", "road", f"speed < {limit}")).sql() for limit in (30, 45)]
    ['speed < 30', 'speed < 45']
    """

    def __init__(self, streams: Mapping[str, Source]) -> None:
        self._streams = streams
        self._forms: dict[tuple[str, str], _Form | None] = {}

    def tree(self, subscription: Subscription) -> exp.Expr:
        """A predicate's tree, after a look whether it can be asked of its stream. The next call may change it."""
        text = subscription.predicate
        if len(text) > _LONGEST:
            message = f"subscription {subscription.id!r}: a predicate has {_LONGEST} characters at the most, got"
            raise InputError(message, len(text))
        constants = _CONSTANT.findall(text) if _PLAIN.fullmatch(text) and "--" not in text and "/*" not in text else []
        if not constants:
            return self._check(subscription)
        form = (subscription.stream, _CONSTANT.sub(_blank, text))
        if form not in self._forms:
            tree = self._check(subscription)
            if len(self._forms) < _MOST_FORMS:
                self._forms[form] = _form(text, constants)
            return tree
        found = self._forms[form]
        return found.fill(constants) if found else self._check(subscription)

    def _check(self, subscription: Subscription) -> exp.Expr:
        stream, owner = self._streams.get(subscription.stream), f"subscription {subscription.id!r}"
        if stream is None or stream.is_table:
            known = ", ".join(name for name, source in self._streams.items() if not source.is_table) or "none"
            raise InputError(f"{owner} is for stream {subscription.stream!r}, which is not there; known are {known}")
        if stream.connector == "spark":
            what = "which Spark reads; subscriptions are matched where Skerry reads by itself"
            raise InputError(f"{owner} is for stream {stream.name!r}, {what}. A view can select from it")
        try:
            tree = sqlglot.condition(subscription.predicate, dialect=Dialect)
            condition(tree, Scope(stream.name, stream.schema))
        except SqlError as error:
            raise InputError(f"{owner}: {error}") from None
        except (SqlglotError, RecursionError):
            raise InputError(f"{owner}: cannot read the predicate {_short(subscription.predicate)!r}") from None
        return tree


def _form(text: str, constants: list[str]) -> _Form | None:
    """The form of a text, found by putting constants into it that nobody writes; None if they cannot be found again."""
    marks = [_mark(position, constant) for position, constant in enumerate(constants)]
    left = iter(marks)
    tree = sqlglot.condition(_CONSTANT.sub(lambda _: next(left), text), dialect=Dialect)
    found = {str(node.this): node for node in tree.find_all(exp.Literal)}
    wanted = [mark.strip("'") for mark in marks]
    return _Form(tree, tuple(found[mark] for mark in wanted)) if sorted(found) == sorted(wanted) else None


def _mark(position: int, constant: str) -> str:
    if constant[0] == "'":
        return f"'{_UNLIKELY}#{position}'"
    return f"{_UNLIKELY + position}.5" if "." in constant else str(_UNLIKELY + position)


def _blank(constant: re.Match[str]) -> str:
    """What stands for a constant in a form: of which kind it is."""
    return "''" if constant[0][0] == "'" else "0.0" if "." in constant[0] else "0"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
