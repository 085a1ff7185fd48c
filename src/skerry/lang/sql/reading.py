"""Text into syntax trees, each with the user's own text, and errors that say where."""

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from skerry.errors import Place, SqlError

__all__ = ["DIALECT", "Statement", "place_of", "read"]

DIALECT = "risingwave"
_LONGEST_SCRIPT = 10_000_000
_DEEPEST = 200


@dataclass(frozen=True)
class Statement:
    """One statement: its syntax tree and the user's text for it."""

    tree: exp.Expression
    text: str


def read(script: str) -> list[Statement]:
    """Read all statements of a script.

    >>> [statement.text for statement in read("DROP SOURCE a;  DROP SOURCE b")]
    ['DROP SOURCE a', 'DROP SOURCE b']
    """
    if len(script) > _LONGEST_SCRIPT:
        raise SqlError(f"a script may have {_LONGEST_SCRIPT} characters, this one has {len(script)}")
    try:
        trees = [tree for tree in sqlglot.parse(script, read=DIALECT) if tree is not None]
        texts = _texts(script)
    except SqlglotError as error:
        raise _told(error) from None
    except RecursionError:
        raise SqlError("a statement is nested too deeply") from None
    if len(trees) != len(texts):
        raise SqlError("the script cannot be split into statements; end each with a semicolon")
    return [Statement(tree, text) for tree, text in zip(trees, texts, strict=True)]


def place_of(node: exp.Expression) -> Place | None:
    """Where a node stands in the script, or the first of its parts that knows."""
    for part in node.walk():
        meta = part.meta
        if "line" in meta:
            return Place(meta["line"], meta["col"] - (meta["end"] - meta["start"]))
    return None


def _texts(script: str) -> list[str]:
    """The script cut at its semicolons."""
    pieces: list[tuple[int, int]] = []
    start: int | None = None
    end = 0
    for token in sqlglot.tokenize(script, read=DIALECT):
        if token.token_type == TokenType.SEMICOLON:
            pieces += [(start, end)] if start is not None else []
            start = None
        else:
            start, end = token.start if start is None else start, token.end + 1
    pieces += [(start, end)] if start is not None else []
    return [script[a:b] for a, b in pieces]


def _told(error: SqlglotError) -> SqlError:
    details = getattr(error, "errors", None) or [{}]
    found = details[0]
    if not found.get("line"):
        return SqlError(str(error).splitlines()[0])
    near = (found.get("highlight") or "").strip().splitlines()
    what = f"cannot read {near[0]!r} here" if near else "the statement ends too early"
    reason = (found.get("description") or "").rstrip(".").lower()
    column = max(1, found["col"] - len(found.get("highlight") or "") + 1)
    return SqlError(f"{what} ({reason})", Place(found["line"], column))
