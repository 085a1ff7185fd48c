"""Predicates by the thousand: those that differ in their constants alone are read once.

What people subscribe to mostly comes from a form: the same words, other numbers. So a text is cut into
its constants and the form around them; a form is parsed and bound when it is first seen, and after that
it is filled with other constants. A list behind IN counts as one constant, however long it is.
"""

import re
from collections.abc import Mapping, Sequence

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
from skerry.model.dialect import Dialect

__all__ = ["Predicates"]

_LONGEST = 100_000
"""How many characters a predicate may have."""
_MOST_FORMS = 4_000
_TEXT, _NUMBER = r"'[^']*(?:''[^']*)*'", r"\d(?<![\w.]\d)\d*(?:\.\d+)?(?:[eE][+-]?\d{1,2})?(?![\w.])"
_QUOTED = re.compile(_TEXT)
_LISTED = "|".join(rf"{one}(?:\s*,\s*{one})+" for one in (_TEXT, r"\d+", r"\d+\.\d+"))
_PART = re.compile(rf"((?<=[iI][nN])(?<!\w[iI][nN])\s*\(\s*(?:{_LISTED})\s*\)|{_TEXT}|{_NUMBER})")
"""A list of constants of one kind behind IN, or a constant. The rest of a text is what it splits."""
_PLAIN = re.compile(r"[\w\s.<>=!()+*/%,'-]*")
"""Texts with other characters, which may quote or comment, are read as they are."""
_LONG = 18
"""A number of so many characters may be of another type than shorter ones."""
_LONG_WHOLE = "00"
"""What stands for a long number without a point: a predicate that has one shares no form."""
_LONG_FRACTION = "0.00"
"""What stands for a long number with a point in a form."""


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
        self._forms: dict[tuple[str, str], Form | None] = {}

    def form(self, subscription: Subscription) -> Form:
        """A predicate over bound columns, after a look whether it can be asked of its stream.

        Predicates that differ in their constants share a form, which holds the constants of the last one.
        """
        found, parts = self._find(subscription)
        if found is None:
            return Form.of(self._read(subscription))
        found.fill([_read_constant(part) for part in parts])
        return found

    def check(self, subscription: Subscription) -> None:
        """Refuse a predicate that cannot be asked of its stream."""
        if self._find(subscription)[0] is None:
            self._read(subscription)

    def _find(self, subscription: Subscription) -> tuple[Form | None, list[str]]:
        """The form that a predicate shares with others, if there may be such, and its constants as they are written."""
        text = subscription.predicate
        if len(text) > _LONGEST:
            message = f"subscription {subscription.id!r}: a predicate has {_LONGEST} characters at the most, got"
            raise InputError(message, len(text))
        pieces = _PART.split(text) if _is_plain(text) else [text]
        parts = pieces[1::2]
        kinds = pieces[1::2] = [_blank(part) for part in parts]
        if not parts or _LONG_WHOLE in kinds:
            return None, parts
        key = subscription.stream, "".join(pieces)
        if key not in self._forms:
            if len(self._forms) >= _MOST_FORMS:
                return None, parts
            self._read(subscription)
            self._forms[key] = self._make_form(subscription, parts)
        return self._forms[key], parts

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

    def _make_form(self, subscription: Subscription, parts: Sequence[str]) -> Form | None:
        """The form of a text, found by constants in it that nobody writes; None if they cannot be found again.

        A long number is of one type beside a DOUBLE alone.
        """
        marks = [_mark(position, part) for position, part in enumerate(parts)]
        left = iter(marks)
        text = _PART.sub(lambda _: next(left), subscription.predicate)
        stream = self._streams[subscription.stream]
        tree = _resolve(sqlglot.condition(text, dialect=Dialect), stream)
        found = {str(node.this): node for node in tree.find_all(exp.Literal)}
        wanted = [mark.strip("( )'") for mark in marks]
        if sorted(found) != sorted(wanted):
            return None
        long = [mark for mark, part in zip(wanted, parts, strict=True) if _LONG_FRACTION in _blank(part)]
        if not all(_is_beside_double(found[mark], stream) for mark in long):
            return None
        return Form(tree, [found[mark] for mark in wanted], [_read_constant(part) for part in parts])


def _is_plain(text: str) -> bool:
    """Whether it has nothing but words, signs and constants."""
    return _PLAIN.fullmatch(text) is not None and "--" not in text and "/*" not in text


def _resolve(tree: exp.Expr, stream: Source) -> exp.Expr:
    """The tree with columns as the stream spells them."""
    scope = Scope(stream.name, stream.schema)
    return tree.transform(lambda node: scope.resolve(node) if isinstance(node, exp.Column) else node)


def _read_constant(part: str) -> Constant:
    """A constant as it stands, or those of a list."""
    first = part[0]
    if first == "'" or first.isdigit():
        return part
    return tuple(_QUOTED.findall(part)) if "'" in part else tuple(map(str.strip, part.strip()[1:-1].split(",")))


def _mark(position: int, part: str) -> str:
    """A constant of the same kind that nobody writes, behind IN in brackets."""
    constant = _read_constant(part)
    mark = make_mark(position, constant)
    return mark if isinstance(constant, str) else f" ({mark})"


def _blank(part: str) -> str:
    """What stands for a constant in a form: of which kind it is.

    >>> [_blank(part) for part in ("'i80'", "7", "2.5", "1e3", " ('i80', 'i5')", "(1.5, 3.14159265358979323846)")]
    ["''", '0', '0.0', '0e0', " ('',...)", ' (0.00,...)']
    """
    first = part[0]
    if first == "'":
        return "''"
    if not first.isdigit():
        return _blank_list(part)
    if "." in part:
        return "0e0" if "e" in part or "E" in part else _LONG_FRACTION if len(part) >= _LONG else "0.0"
    return "0e0" if not part.isdigit() else _LONG_WHOLE if len(part) >= _LONG else "0"


def _blank_list(part: str) -> str:
    """The same for a list: its constants are of one kind, of which the long ones decide."""
    if "'" in part:
        return " ('',...)"
    longest = max(map(_blank, _read_constant(part)), key=len)
    return longest if longest == _LONG_WHOLE else f" ({longest},...)"


def _is_beside_double(literal: exp.Expr, stream: Source) -> bool:
    """Whether a constant is compared or computed with a DOUBLE."""
    beside = find_beside(literal)
    return beside is not None and scalar(beside[0], Scope(stream.name, stream.schema)).type == pa.float64()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
