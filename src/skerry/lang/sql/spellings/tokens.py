"""Tokens of a statement: found by their words, and made in place of others."""

from collections.abc import Sequence

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType

from skerry.model.dialect import Dialect

__all__ = ["close", "find_words", "make_tokens", "split_arguments", "words_of"]

_NO_WORD = (TokenType.STRING, TokenType.IDENTIFIER)


def words_of(tokens: Sequence[Token]) -> list[str]:
    """The tokens in capitals; a text or a quoted name is no word."""
    return ["" if token.token_type in _NO_WORD else token.text.upper() for token in tokens]


def find_words(tokens: Sequence[Token], *words: str, start: int = 0) -> int | None:
    """Where words follow each other.

    >>> find_words(sqlglot.tokenize("a emit changes"), "EMIT", "CHANGES")
    1
    """
    known = words_of(tokens)
    return next((at for at in range(start, len(known)) if known[at : at + len(words)] == [*words]), None)


def close(tokens: Sequence[Token], opened: int) -> int | None:
    """The parenthesis that closes one.

    >>> close(sqlglot.tokenize("f(a, (b))"), 1)
    7
    """
    depth = 0
    for at in range(opened, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[at].token_type, 0)
        if depth == 0:
            return at
    return None


def split_arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """What stands between commas.

    >>> [len(each) for each in split_arguments(sqlglot.tokenize("a, f(b, c), d"))]
    [1, 6, 1]
    """
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if token.token_type == TokenType.COMMA and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def make_tokens(text: str, at: Token) -> list[Token]:
    """The tokens of a text, as if they stood where another one does."""
    made = sqlglot.tokenize(text, read=Dialect)
    for token in made:
        token.line, token.col, token.start, token.end = at.line, at.col, at.start, at.end
    return made
