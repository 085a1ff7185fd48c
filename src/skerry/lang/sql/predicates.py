"""Predicates by the thousand: those that differ in their constants alone are read once.

What people subscribe to mostly comes from a form: the same words, other numbers. So a text is cut into
its constants and the form around them; a form is parsed and bound when it is first seen, and after that
it is filled with other constants. A list behind IN counts as one constant, however long it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from skerry.catalog import Source, Subscription
from skerry.errors import InputError, SqlError
from skerry.index.beside import find_beside
from skerry.index.form import Constant, Form
from skerry.index.form_text import make_mark
from skerry.lang.sql.scalar import Scope, condition, scalar
from skerry.lang.sql.split_predicates import SplitPredicates
from skerry.model.arrays import Int64s
from skerry.model.dialect import Dialect

__all__ = ["FormGroup", "Predicates"]

_LONGEST = 100_000
"""How many characters a predicate may have."""
_MOST_FORMS = 4_000
_LONG_DIGITS = 18
"""A number of so many characters may be of another type than shorter ones."""


class FormGroup(NamedTuple):
    """Predicates of one form by position, and their constants in columns; without a form, each is read alone."""

    form: Form | None
    positions: Int64s
    columns: list[list[Constant]]


class Predicates:
    """Reads the predicates of subscriptions to some streams.

    >>> import pyarrow as pa
    >>> read = Predicates({"road": Source("road", pa.schema({"speed": pa.float64()}), "file")})
    >>> forms = [read.form(Subscription("q", "road", f"SPEED < {limit}")) for limit in (30, 45)]
    >>> forms[0] is forms[1], forms[1].write().sql()
    (True, '"speed" < 45')
    """

    def __init__(self, streams: Mapping[str, Source]) -> None:
        self._streams = streams
        self._forms: dict[tuple[str, bytes], Form | None] = {}

    def form(self, subscription: Subscription) -> Form:
        """A predicate over bound columns, after a look whether it can be asked of its stream.

        Predicates that differ in their constants share a form, which holds the constants of the last one.
        """
        split = _split([subscription])
        found = self._find(subscription, split, 0)
        if found is None:
            return Form.of(self._read(subscription))
        found.fill(split.constants(0))
        return found

    def check(self, subscriptions: Sequence[Subscription]) -> Iterator[Subscription]:
        """Each in turn, once it is known that it can be asked of its stream; the first that cannot is refused."""
        split = _split(subscriptions)
        known: set[tuple[str, int]] = set()
        for position, (subscription, number) in enumerate(
            zip(subscriptions, split.number_forms().tolist(), strict=True)
        ):
            if (subscription.stream, number) not in known:
                if self._find(subscription, split, position) is None:
                    self._read(subscription)
                else:
                    known.add((subscription.stream, number))
            yield subscription

    def group(self, subscriptions: Sequence[Subscription]) -> list[FormGroup]:
        """Subscriptions to one stream by form, in the order in which the forms come."""
        split = _split(subscriptions)
        numbers = split.number_forms()
        order = np.argsort(numbers, kind="stable")
        _, firsts = np.unique(numbers[order], return_index=True)
        groups = []
        for positions in np.split(order, firsts[1:]):
            form = self._find_known(subscriptions[positions[0]], split, int(positions[0]))
            groups.append(FormGroup(form, positions, split.columns(positions) if form else []))
        return groups

    def _find_known(self, subscription: Subscription, split: SplitPredicates, position: int) -> Form | None:
        """The same as ``_find``; nothing if the predicate cannot be asked of its stream any more."""
        try:
            return self._find(subscription, split, position)
        except InputError:
            return None

    def _find(self, subscription: Subscription, split: SplitPredicates, position: int) -> Form | None:
        """The form that a predicate shares with others, if there may be such."""
        if len(subscription.predicate) > _LONGEST:
            message = f"subscription {subscription.id!r}: a predicate has {_LONGEST} characters at the most, got"
            raise InputError(message, len(subscription.predicate))
        text = split.form(position)
        if text is None:
            return None
        key = subscription.stream, text
        if key not in self._forms:
            if len(self._forms) >= _MOST_FORMS:
                return None
            self._read(subscription)
            self._forms[key] = self._make_form(subscription.stream, split, position)
        return self._forms[key]

    def _read(self, subscription: Subscription) -> exp.Expr:
        """A predicate's tree, over the columns of its stream."""
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
        return _resolve(tree, stream)

    def _make_form(self, stream_name: str, split: SplitPredicates, position: int) -> Form | None:
        """The form of a text, found by constants in it that nobody writes; None if they cannot be found again.

        A long number is of one type beside a DOUBLE alone.
        """
        constants, stream = split.constants(position), self._streams[stream_name]
        marks = [make_mark(*each) for each in enumerate(constants)]
        text = split.replace(position, [_put_in_brackets(*each) for each in zip(marks, constants, strict=True)])
        tree = _resolve(sqlglot.condition(text, dialect=Dialect), stream)
        found = {str(node.this): node for node in tree.find_all(exp.Literal)}
        wanted = [mark.strip("'") for mark in marks]
        if sorted(found) != sorted(wanted):
            return None
        long = [mark for mark, constant in zip(wanted, constants, strict=True) if _is_long_fraction(constant)]
        if not all(_is_beside_double(found[mark], stream) for mark in long):
            return None
        return Form(tree, [found[mark] for mark in wanted], constants)


def _split(subscriptions: Sequence[Subscription]) -> SplitPredicates:
    """The texts of predicates; of one that is too long, nothing."""
    texts = [subscription.predicate for subscription in subscriptions]
    return SplitPredicates.of([text if len(text) <= _LONGEST else "" for text in texts])


def _resolve(tree: exp.Expr, stream: Source) -> exp.Expr:
    """The tree with columns as the stream spells them."""
    scope = Scope(stream.name, stream.schema)
    return tree.transform(lambda node: scope.resolve(node) if isinstance(node, exp.Column) else node)


def _put_in_brackets(mark: str, constant: Constant) -> str:
    """What stands for a constant; behind IN in brackets."""
    return mark if isinstance(constant, str) else f" ({mark})"


def _is_long_fraction(constant: Constant) -> bool:
    """Whether it is a number with a point and many digits, or has such in its list.

    >>> [_is_long_fraction(constant) for constant in ("2.5", "3.14159265358979323846", ("1.5", "0.000000000000000001"))]
    [False, True, True]
    """
    texts = [constant] if isinstance(constant, str) else constant
    numbers = [text for text in texts if text[0] != "'" and "." in text and "e" not in text.lower()]
    return any(len(text) >= _LONG_DIGITS for text in numbers)


def _is_beside_double(literal: exp.Expr, stream: Source) -> bool:
    """Whether a constant is compared or computed with a DOUBLE."""
    beside = find_beside(literal)
    return beside is not None and scalar(beside[0], Scope(stream.name, stream.schema)).type == pa.float64()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
