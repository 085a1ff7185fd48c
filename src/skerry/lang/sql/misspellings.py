"""Keywords that are written almost right, in statements that cannot be read."""

from collections.abc import Sequence
from difflib import get_close_matches

from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["find_misspelled"]

_KEYWORDS = (
    *("CREATE", "SOURCE", "TABLE", "MATERIALIZED", "VIEW", "WITH", "WATERMARK", "INTERVAL", "INSERT", "DELETE", "DROP"),
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT", "UNION", "BETWEEN"),
    *("JOIN", "LEFT", "RIGHT", "FULL", "INNER", "USING", "PARTITION", "EXISTS", "FILTER", "TIMESTAMP", "VALUES"),
)
_NEAR = 0.8


def find_misspelled(tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """The first word of a statement that is no keyword, but nearly one; and the keyword.

    A name may look so as well: this is for statements that are wrong anyway.

    >>> import sqlglot
    >>> token, meant = find_misspelled(sqlglot.tokenize("CREATE MATERIALISED VIEW v AS SELECT 1"))
    >>> token.text, meant
    ('MATERIALISED', 'MATERIALIZED')
    """
    for token in tokens:
        if token.token_type != TokenType.VAR or token.text.upper() in _KEYWORDS:
            continue
        near = get_close_matches(token.text.upper(), _KEYWORDS, 1, _NEAR) or _find_swapped(token.text.upper())
        if near:
            return token, near[0]
    return None


def _find_swapped(word: str) -> list[str]:
    """The keyword of the same letters: of a short word, two that are swapped are a large part."""
    return [keyword for keyword in _KEYWORDS if sorted(keyword) == sorted(word)][:1]
