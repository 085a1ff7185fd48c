"""Columns that are computed: ``ts TIMESTAMP AS epoch_ms(sent)``, ``GENERATED ALWAYS AS (...) STORED``.

Declarations are read in RisingWave's dialect, which turns functions into its own. Expressions mean what DuckDB reads,
so their text is taken from the statement as it stands.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from skerry.errors import SqlError
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.spellings.functions import write_functions
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import Dialect, parse_expression
from skerry.model.types import name_column_type

__all__ = ["bind_generated", "find_generated", "is_generated"]

_LAST_WORDS = ("PERSISTED", "STORED", "VIRTUAL")


def is_generated(column: exp.Expr) -> bool:
    """Whether a column is declared with what computes it, and nothing else."""
    constraints = column.args.get("constraints") or []
    return len(constraints) == 1 and isinstance(constraints[0].args.get("kind"), exp.ComputedColumnConstraint)


def find_generated(statement: str) -> dict[str, str]:
    """The texts of all expressions in a CREATE SOURCE, by the names of their columns.

    >>> find_generated("CREATE SOURCE s (a INT, b INT AS a + 1, c INT GENERATED ALWAYS AS (f(a, 2)) STORED)")
    {'b': 'a + 1', 'c': '(f(a, 2))'}
    """
    found = {}
    for part in _split_columns(sqlglot.tokenize(statement, read=Dialect)):
        kinds = [token.token_type for token in part]
        if TokenType.ALIAS in kinds and part[0].text.upper() != "WATERMARK":
            body = part[kinds.index(TokenType.ALIAS) + 1 :]
            body = body[:-1] if body and body[-1].text.upper() in _LAST_WORDS else body
            name = part[0].text if kinds[0] == TokenType.IDENTIFIER else part[0].text.lower()
            found[name] = statement[body[0].start : body[-1].end + 1] if body else ""
    return found


def _split_columns(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """What stands between the commas of the first parentheses."""
    depth, part = 0, list[Token]()
    for token in tokens:
        depth -= token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET)
        if depth == 0 and token.token_type == TokenType.R_PAREN:
            break
        if depth == 1 and token.token_type == TokenType.COMMA:
            yield part
            part = []
        elif depth:
            part.append(token)
        depth += token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET)
    if part:
        yield part


def bind_generated(column: exp.Expr, text: str, stored: Scope, declared: pa.Field | None) -> tuple[pa.Field, str]:
    """A generated column with its type, and the expression that gives it."""
    try:
        tree = write_functions(parse_expression(text))
    except SqlglotError:
        message = f"cannot read {text!r}, by which column {column.name!r} is generated"
        raise SqlError(message, location_of(column)) from None
    for node in tree.walk():
        node.meta.clear()  # locations within the expression alone
    try:
        bound = scalar(tree, stored)
        if declared is None:
            return pa.field(column.name, bound.type), bound.sql
        type_ = exp.DataType.build(name_column_type(declared), dialect="duckdb")
        return declared, scalar(exp.cast(tree, type_), stored).sql
    except SqlError as error:
        raise SqlError(f"column {column.name!r}: {error}", location_of(column)) from None
