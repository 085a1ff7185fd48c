"""Text into syntax trees, each with the user's own text, and errors that say where."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from skerry.errors import Location, SqlError
from skerry.lang.sql.foreign_spellings import find_foreign
from skerry.lang.sql.misspellings import find_misspelled
from skerry.lang.sql.spellings.functions import write_functions
from skerry.lang.sql.spellings.window_calls import write_window_calls
from skerry.lang.sql.spellings.window_clauses import write_window_clauses
from skerry.model.dialect import Declarations, Dialect

__all__ = ["Statement", "describe_foreign", "location_of", "read"]

_LONGEST_SCRIPT = 10_000_000
_NEAR_TOKENS = 2
"""How many words before the one at which sqlglot gives up may be the one that is wrong."""
_PROPERTIES = ("FALLBACK", "LIFETIME", "OUTPUT")
"""Names of options that sqlglot takes for properties of another system."""

# What sqlglot cannot parse it logs and hands on as a Command, of which we make an error.
logging.getLogger("sqlglot").addFilter(lambda record: "Falling back" not in record.getMessage())


@dataclass(frozen=True)
class Statement:
    """One statement: its syntax tree, the user's text for it, and where that begins in the script."""

    tree: exp.Expr
    text: str
    location: Location


def read(script: str) -> list[Statement]:
    """Read all statements of a script.

    >>> [statement.text for statement in read("DROP SOURCE a;  DROP SOURCE b")]
    ['DROP SOURCE a', 'DROP SOURCE b']
    """
    script = script.removeprefix("\ufeff")  # a mark that some editors put in front of a text
    if len(script) > _LONGEST_SCRIPT:
        raise SqlError(f"a script may have {_LONGEST_SCRIPT} characters, this one has {len(script)}")
    try:
        pieces = _pieces(_tokens(script))
        parsed = [_parse_known(_translate(piece), script) for piece in pieces]
    except ParseError as error:
        raise _describe(error) from None
    except SqlglotError as error:
        raise _shorten(error, script) from None
    except RecursionError:
        raise SqlError("a statement is nested too deeply") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # sqlglot itself stumbles over some texts
        raise SqlError("a statement of the script cannot be read") from None
    if any(len(trees) != 1 for trees in parsed):
        raise SqlError("the script cannot be split into statements; end each with a semicolon")
    return [_statement(trees[0], piece, script) for trees, piece in zip(parsed, pieces, strict=True)]


def describe_foreign(statement: Statement) -> SqlError | None:
    """What to write in place of a statement that another system would understand, if it is one."""
    found = find_foreign(_translate(sqlglot.tokenize(statement.text, read=Dialect)))
    if found is None:
        return None
    token, message = found
    inner = _locate(statement.text, token.start)
    column = inner.column + (statement.location.column - 1 if inner.line == 1 else 0)
    return SqlError(message, Location(statement.location.line + inner.line - 1, column))


def location_of(node: exp.Expr) -> Location | None:
    """Where a node begins in the script; if no part of it knows, where what it stands in begins."""
    above: exp.Expr | None = node
    while above is not None:
        known = [part.meta for part in above.walk() if "line" in part.meta]
        if known:
            first = min(known, key=lambda meta: int(meta["start"]))
            return Location(first["line"], max(1, first["col"] - (first["end"] - first["start"])))
        above = above.parent
    return None


def _statement(tree: exp.Expr, tokens: Sequence[Token], script: str) -> Statement:
    return Statement(tree, script[tokens[0].start : tokens[-1].end + 1], _locate(script, tokens[0].start))


def _locate(script: str, offset: int) -> Location:
    before = script[:offset]
    return Location(before.count("\n") + 1, offset - before.rfind("\n"))


def _tokens(script: str, dialect: type[SqlglotDialect] = Dialect) -> list[Token]:
    """The script's tokens. JOIN in front of a = can only be the option of that name; the others are not sqlglot's."""
    tokens = sqlglot.tokenize(script, read=dialect)
    options = set(_list_options(tokens))
    for index, (token, following) in enumerate(pairwise(tokens)):
        if following.token_type != TokenType.EQ:
            continue
        if token.token_type == TokenType.JOIN:
            token.token_type = TokenType.VAR
        elif index in options and token.text.upper() in _PROPERTIES:
            # Quoted, it is the name of an option.
            token.token_type = TokenType.STRING
    return tokens


def _list_options(tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes of words that begin an option behind WITH: elsewhere such a word is the name of a column."""
    depth = 0
    for index, (before, token) in enumerate(pairwise(tokens), 1):
        if token.token_type == TokenType.L_PAREN:
            depth += depth > 0 or before.token_type == TokenType.WITH
        elif token.token_type == TokenType.R_PAREN:
            depth -= depth > 0
        elif depth == 1 and before.token_type in (TokenType.L_PAREN, TokenType.COMMA):
            yield index


def _parse_known(tokens: Sequence[Token], script: str) -> list[exp.Expr]:
    """The trees of a statement; one of another system is told from one that is wrong."""
    try:
        trees = _parse(tokens, script)
        _look_into(trees, tokens, script)
    except SqlglotError as error:
        _refuse_foreign(tokens, script)
        _refuse_misspelled(_list_near(tokens, error), script)
        raise
    if any(isinstance(tree, exp.Command) for tree in trees):
        _refuse_foreign(tokens, script)
        _refuse_misspelled(tokens, script)
    return trees


def _translate(tokens: list[Token]) -> list[Token]:
    """A query with what other systems write otherwise in the words that it has here."""
    return tokens if _declares_source(tokens) else write_window_clauses(write_window_calls(tokens))


def _refuse_foreign(tokens: Sequence[Token], script: str) -> None:
    """Say of a statement that another system would understand what it is written as here."""
    if (foreign := find_foreign(tokens)) is not None:
        raise SqlError(foreign[1], _locate(script, foreign[0].start)) from None


def _refuse_misspelled(tokens: Sequence[Token], script: str) -> None:
    """Say of a statement that is wrong which keyword was meant, if one was."""
    if (found := find_misspelled(tokens)) is not None:
        token, meant = found
        raise SqlError(f"cannot read {token.text!r} here; did you mean {meant}?", _locate(script, token.start))


def _list_near(tokens: Sequence[Token], error: SqlglotError) -> Sequence[Token]:
    """The tokens around the one at which reading ended: a name further away may look like a keyword too."""
    found = (error.errors or [{}])[0] if isinstance(error, ParseError) else {}
    end = (found.get("line"), found.get("col"))
    at = next((index for index, token in enumerate(tokens) if (token.line, token.col) == end), None)
    return tokens if at is None else tokens[max(0, at - _NEAR_TOKENS) : at + 2]


def _parse(tokens: Sequence[Token], script: str) -> list[exp.Expr]:
    """The trees of a statement, of which there should be one."""
    dialect: SqlglotDialect = Dialect()
    is_source = _declares_source(tokens)
    if is_source:
        dialect, tokens = Declarations(), _read_again(tokens, script)
    parsed = dialect.parser().parse(list(tokens), script)
    trees = [tree for tree in parsed if tree and not isinstance(tree, exp.Semicolon)]
    return trees if is_source else [write_functions(tree) for tree in trees]


def _declares_source(tokens: Sequence[Token]) -> bool:
    """Whether a statement is a CREATE SOURCE or CREATE TABLE: their types are RisingWave's."""
    words = [token.text.upper() for token in tokens[:4]]
    kind = next((word for word in words[1:] if word in ("SOURCE", "TABLE", "VIEW")), None)
    return words[:1] == ["CREATE"] and kind in ("SOURCE", "TABLE")


def _read_again(tokens: Sequence[Token], script: str) -> list[Token]:
    """The same part of the script in the dialect of declarations."""
    first = tokens[0]
    found = _tokens(script[first.start : tokens[-1].end + 1], Declarations)
    indent = first.col - (first.end - first.start) - 1
    for token in found:
        token.col += indent if token.line == 1 else 0
        token.line += first.line - 1
        token.start += first.start
        token.end += first.start
    return found


def _pieces(tokens: Sequence[Token]) -> list[list[Token]]:
    """Tokens, cut at the semicolons."""
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]


def _look_into(trees: Sequence[exp.Expr], tokens: Sequence[Token], script: str) -> None:
    """Find what is wrong with the query of a CREATE VIEW that sqlglot gave up: it fails when read alone."""
    kinds = [token.token_type for token in tokens]
    gave_up = any(isinstance(tree, exp.Command) for tree in trees)
    if gave_up and TokenType.VIEW in kinds and TokenType.ALIAS in kinds:
        query = list(tokens[kinds.index(TokenType.ALIAS) + 1 :])
        Dialect().parser().parse(query, script)


def _describe(error: ParseError) -> SqlError:
    """Sqlglot's complaint in plain words."""
    found = (error.errors or [{}])[0]
    near = (found.get("highlight") or "").strip().splitlines()
    complaint = str(found.get("description") or "").rstrip(".")
    if not near or not found.get("line"):
        return SqlError("the statement cannot be read")
    column = max(1, found["col"] - len(found.get("highlight") or "") + 1)
    return SqlError(_in_words(complaint, near[0]), Location(found["line"], column))


def _in_words(complaint: str, near: str) -> str:
    if complaint.startswith("Required keyword"):
        return _find_lacking(complaint) or f"something is missing at {near!r}"
    if complaint.startswith(("Expected", "Expecting")):
        wanted = complaint.partition(" ")[2].partition(" but got ")[0]
        return f"expected {wanted} at {near!r}"
    if complaint.startswith("No interval: "):
        return complaint.removeprefix("No interval: ")
    if complaint.startswith("Invalid expression") or "<" in complaint:
        return f"cannot read {near!r} here"
    return f"cannot read {near!r} here ({complaint[:1].lower()}{complaint[1:]})"


def _find_lacking(complaint: str) -> str | None:
    """The function that was called with too few arguments, if it is that."""
    found = re.search(r"missing for <class '[\w.]*\.(\w+)'>", complaint)
    kind: Any = getattr(exp, found[1], None) if found else None
    is_call = kind is not None and issubclass(kind, exp.Func) and kind is not exp.Case
    return f"{kind.sql_name()} needs an argument more" if is_call else None


def _shorten(error: SqlglotError, script: str) -> SqlError:
    """A quote or a comment that is not closed."""
    opened = re.search(r"Missing (\S+) from \d+:(\d+)", str(error.__cause__ or ""))
    if opened:
        location = _locate(script, int(opened[2]))
        return SqlError(f"a quoted text begins here and does not end; {opened[1]} is missing", location)
    return SqlError(f"the script ends inside a quoted text or a comment, after {script.rstrip()[-30:]!r}")
