"""The pattern of MATCH_RECOGNIZE, read from its text: ``A B+? (C | D){1,3} $``."""

import re
from collections.abc import Callable

from skerry.errors import Location, SqlError
from skerry.plan.pattern import Chain, Choice, End, Pattern, Repeat, Symbol, is_nullable

__all__ = ["read_pattern"]

_TOKENS = re.compile(r"\s*(?:(\w+|\"[^\"]+\")|(\{-|\{\s*\d*\s*(?:,\s*\d*\s*)?\}|[()|*+?$^]))")
_MOST = 1000
"""How often a part may be repeated by a number."""
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_pattern(text: str, location: Location | None) -> tuple[Pattern, tuple[str, ...]]:
    """The pattern, and its symbols in the order in which they come.

    >>> read_pattern("A b+ A", None)[1]
    ('a', 'b')
    """
    reader = _Reader(text, location)
    pattern = reader.read_choice()
    if reader.next is not None:
        raise reader.refuse(f"cannot read {reader.next!r} here")
    if is_nullable(pattern):
        raise reader.refuse("a match has one row at the least")
    return pattern, tuple(reader.symbols)


class _Reader:
    """Reads from left to right, one token ahead."""

    def __init__(self, text: str, location: Location | None) -> None:
        self._text, self._location = text, location
        self.symbols: dict[str, int] = {}
        self._tokens = self._split()
        self._at = 0

    @property
    def next(self) -> str | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def refuse(self, message: str) -> SqlError:
        """What is wrong with the pattern."""
        known = (
            "symbols, (A | B), and *, +, ?, {n,m} behind them, reluctant with ? behind that; $ for the end of WITHIN"
        )
        return SqlError(f"PATTERN ({self._text}): {message}; known are {known}", self._location)

    def read_choice(self) -> Pattern:
        """Alternatives."""
        parts = [self._read_chain()]
        while self.next == "|":
            self._at += 1
            parts.append(self._read_chain())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _read_chain(self) -> Pattern:
        parts = []
        while self.next not in (None, "|", ")"):
            parts.append(self._read_part())
        if not parts:
            raise self.refuse("a part is empty")
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _read_part(self) -> Pattern:
        token = self.next
        self._at += 1
        assert token is not None
        part: Pattern
        if token == "(":
            part = self.read_choice()
            if self.next != ")":
                raise self.refuse("a ) is missing")
            self._at += 1
        elif token == "$":
            part = End()
        elif re.match(r"\w|\"", token):
            name = token.strip('"') if token[0] == '"' else token.lower()
            if name == "permute" and self.next == "(":
                raise self.refuse("PERMUTE is not available; write (A B | B A)")
            part = Symbol(self.symbols.setdefault(name, len(self.symbols)))
        else:
            raise self.refuse(f"cannot read {token!r} here")
        return self._read_quantifier(part)

    def _read_quantifier(self, part: Pattern) -> Pattern:
        token = self.next
        if token is None or not (token in _QUANTIFIERS or token[0] == "{"):
            return part
        self._at += 1
        least, most = _QUANTIFIERS[token] if token in _QUANTIFIERS else self._read_counts(token)
        is_reluctant = self.next == "?"
        self._at += is_reluctant
        if is_nullable(part):
            raise self.refuse("what is repeated has one row at the least")
        return Repeat(part, least, most, is_reluctant)

    def _read_counts(self, token: str) -> tuple[int, int | None]:
        """{n}, {n,}, {n,m} or {,m}."""
        low, comma, high = (each.strip() for each in token[1:-1].partition(","))
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if (not comma and not low) or max(least, most or 0) > _MOST or (most is not None and most < max(least, 1)):
            raise self.refuse(f"{token} is no number of times, up to {_MOST}")
        return least, most

    def _split(self) -> list[str]:
        tokens, at = [], 0
        read: Callable[[str, int], re.Match[str] | None] = _TOKENS.match
        while at < len(self._text.rstrip()):
            found = read(self._text, at)
            if found is None or found[2] in ("{-", "^"):
                raise self.refuse(f"cannot read {self._text[at:].strip()[:10]!r} here")
            tokens.append(found[1] or found[2])
            at = found.end()
        return tokens
