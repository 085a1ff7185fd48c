"""The SQL that is read and written: RisingWave's statements around DuckDB's expressions.

sqlglot translates between dialects: it knows a thousand functions by class, and writes each as the target has it. Here
nothing may be translated. What a scalar means is what DuckDB makes of the text, so calls stay as they were written,
under the name and with the arguments that they had. Classes are kept for aggregates, which the binder must know, and
for calls with words between their arguments (``CAST(x AS INT)``).
"""

from collections.abc import Callable, Collection
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.risingwave import RisingWave
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.parser import Parser
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.parsers.risingwave import RisingWaveParser
from sqlglot.tokenizer_core import Token, TokenType

from skerry.model.aggregate_calls import AGGREGATE_CALLS, move_inside
from skerry.model.intervals import find_unit, read_interval_text

__all__ = ["Declarations", "Dialect", "parse_expression", "write_expression"]

_AGGREGATES = frozenset(
    {name for each in exp.ALL_FUNCTIONS if issubclass(each, exp.AggFunc) for name in each.sql_names()}
    - AGGREGATE_CALLS.keys()
)
"""Aggregates that sqlglot has a class for which has all that was written."""
_WITH_WORDS = ("OVERLAY", "POSITION", "SUBSTRING", "TRIM")
"""Calls that are written with words between their arguments, or with commas as all others are."""
_BARE_MAXIMUM = 2
"""How many characters ``0x`` and ``0b`` have: a number written so is as long as its digits and these."""


class _MethodCall(exp.Expression):
    """A call behind a dot, until it is known what it is a call on."""


class _Parser(DuckDBParser):
    """Reads expressions as DuckDB does, and statements as RisingWave does."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {
        **{name: build for name, build in DuckDBParser.FUNCTIONS.items() if name in _AGGREGATES},
        **AGGREGATE_CALLS,
    }
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        **{
            name: parse for name, parse in DuckDBParser.FUNCTION_PARSERS.items() if name in _AGGREGATES - {"MAX", "MIN"}
        },
        **{name: DuckDBParser.FUNCTION_PARSERS[name] for name in ("CAST", "EXTRACT", "TRY_CAST")},
        **{name: lambda self: self.parse_plain_or_worded() for name in _WITH_WORDS},
    }
    FUNC_TOKENS: ClassVar[Any] = {*DuckDBParser.FUNC_TOKENS, TokenType.APPLY}
    JSON_OPERATORS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        TokenType.ARROW: lambda self, this, path: exp.JSONExtract(this=this, expression=path),
        TokenType.DARROW: lambda self, this, path: exp.JSONExtractScalar(this=this, expression=path),
    }
    NUMERIC_PARSERS: ClassVar[Any] = {
        **DuckDBParser.NUMERIC_PARSERS,
        TokenType.BIT_STRING: lambda self, token: self.parse_digits(token, exp.BitString),
        TokenType.HEX_STRING: lambda self, token: self.parse_digits(token, exp.HexString),
    }
    PRIMARY_PARSERS: ClassVar[Any] = {**DuckDBParser.PRIMARY_PARSERS, **NUMERIC_PARSERS}
    CONSTRAINT_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = RisingWaveParser.CONSTRAINT_PARSERS
    SCHEMA_UNNAMED_CONSTRAINTS: ClassVar[Any] = RisingWaveParser.SCHEMA_UNNAMED_CONSTRAINTS

    def parse_plain_or_worded(self) -> exp.Expr | None:
        """A call with commas, as it is; else by sqlglot's parser for the words of this function."""
        name = self._tokens[self._index - 2]
        plain = self._try_parse(lambda: self._parse_plain_call(name))
        return plain or DuckDBParser.FUNCTION_PARSERS[name.text.upper()](self)

    def _parse_plain_call(self, name: Token) -> exp.Expr | None:
        arguments = self._parse_function_args(alias=True)
        is_worded = self._curr.token_type != TokenType.R_PAREN or (
            name.text.upper() == "POSITION" and isinstance(arguments[-1] if arguments else None, exp.In)
        )
        if is_worded:
            return None
        return exp.Anonymous(this=name.text, expressions=arguments).update_positions(name)

    def parse_digits(self, token: Token, kind: type[exp.Expr]) -> exp.Expr:
        """A constant of bits or bytes; DuckDB has no numbers of such digits."""
        if token.end - token.start + 1 <= len(token.text) + _BARE_MAXIMUM:
            self.raise_error("Invalid expression / Unexpected token", token)
        return self.expression(kind(this=token.text), token)

    def _parse_interval_span(self, this: exp.Expr, parse_function_unit: bool = True) -> exp.Interval:
        parse = super()._parse_interval_span
        return _read_interval(self, this, lambda: parse(this, parse_function_unit))

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """What stands around an aggregate is a part of it."""
        return move_inside(super()._parse_window(this, alias))

    def _parse_table_hints(self) -> list[exp.Expr] | None:
        """WITH behind a table is not a hint."""
        return None

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        """IN [...] asks a list, in which NULL is a value; IN (...) compares."""
        if self._match(TokenType.L_BRACKET, advance=False):
            return self.expression(exp.In(this=this, field=self._parse_bitwise()))
        return super()._parse_in(this, alias)

    def _parse_unary(self) -> exp.Expr | None:
        """``4!``, unless it is the beginning of ``!~``."""
        this = super()._parse_unary()
        while this and self._curr.text == "!" and not self._next.text.startswith("~"):
            self._advance()
            this = exp.Anonymous(this="factorial", expressions=[this])
        return this

    def _parse_comprehension(self, this: exp.Expr | None) -> exp.Comprehension | None:
        """The variables of a comprehension are not columns."""
        found = super()._parse_comprehension(this)
        if found:
            variables = [part for part in (found.expression, found.args.get("position")) if part]
            for part in ("this", "condition"):
                found.set(part, self._replace_lambda(found.args.get(part), variables))
        return found

    def _parse_field(
        self, any_token: bool = False, tokens: Collection[TokenType] | None = None, anonymous_func: bool = False
    ) -> exp.Expr | None:
        field = super()._parse_field(any_token, tokens, anonymous_func)
        return _MethodCall(this=field) if anonymous_func and isinstance(field, exp.Anonymous) else field

    def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
        """``name.upper()`` is ``upper(name)``."""
        found = super()._parse_column_ops(this)
        return found.transform(_call_on_receiver) if found and found.find(_MethodCall) else found


class _DeclarationParser(RisingWaveParser):
    def _parse_interval_span(self, this: exp.Expr, parse_function_unit: bool = True) -> exp.Interval:
        parse = super()._parse_interval_span
        return _read_interval(self, this, lambda: parse(this, parse_function_unit))


def _read_interval(parser: Parser, number: exp.Expr, parse: Callable[[], exp.Interval]) -> exp.Interval:
    """An interval whose unit is one that DuckDB knows. A text with units in it is read as a whole."""
    token = parser._prev
    try:
        if number.is_string and (whole := read_interval_text(number.name)) is not None:
            return whole
        found, token = parse(), parser._prev
        if isinstance(unit := found.args.get("unit"), exp.Var):
            unit.set("this", find_unit(unit.name))
    except ValueError as error:
        parser.raise_error(f"No interval: {error}", token)
    return found


def _call_on_receiver(node: exp.Expr) -> exp.Expr:
    """A call behind a dot, as a call that has what is before the dot as its first argument."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, _MethodCall):
        return _prepend(node.expression, node.this)
    if not isinstance(node, exp.Column) or not node.find(_MethodCall):
        return node
    parts = [node.args[part] for part in ("catalog", "db", "table", "this") if node.args.get(part)]
    before = next(index for index, part in enumerate(parts) if isinstance(part, _MethodCall))
    receiver: exp.Expr = exp.Column(
        **dict(zip(("this", "table", "db", "catalog"), reversed(parts[:before]), strict=False))
    )
    for part in parts[before:]:
        is_call = isinstance(part, _MethodCall)
        receiver = _prepend(part, receiver) if is_call else exp.Dot(this=receiver, expression=part)
    return receiver


def _prepend(call: exp.Expr, receiver: exp.Expr) -> exp.Expr:
    function = call.this.copy()
    function.set("expressions", [receiver.copy(), *function.expressions])
    return function


class _Generator(DuckDBGenerator):
    """Writes expressions as they were read."""

    def pow_sql(self, expression: exp.Pow) -> str:
        """POWER(-2, 2) and -2 ^ 2 are the same only while nobody groups them anew."""
        return self.binary(expression, "^")

    def jsonextract_sql(self, expression: exp.JSONExtract) -> str:
        """The path is written as it is: it may be a JSONPath, a pointer, a key or a number."""
        text = self.binary(expression, "->")
        # DuckDB's lambdas have the same arrow, so that it binds looser than a comparison: nobody means that here.
        is_operand = isinstance(expression.parent, exp.Predicate | exp.Connector | exp.Not | exp.Func)
        return f"({text})" if is_operand else text

    def jsonextractscalar_sql(self, expression: exp.JSONExtractScalar) -> str:
        """As above."""
        return self.binary(expression, "->>")

    def bitstring_sql(self, expression: exp.BitString) -> str:
        """A constant of type BIT."""
        return f"b'{expression.name}'"

    def extract_sql(self, expression: exp.Extract) -> str:
        """Each part of a time by DuckDB's name for it."""
        return f"EXTRACT({self.sql(expression, 'this')} FROM {self.sql(expression, 'expression')})"

    def trim_sql(self, expression: exp.Trim) -> str:
        """TRIM with its words."""
        words = " ".join(part for part in (expression.args.get("position"), self.sql(expression, "expression")) if part)
        return f"TRIM({words}{' FROM ' if words else ''}{self.sql(expression, 'this')})"

    TRANSFORMS: ClassVar[Any] = {
        kind: write
        for kind, write in DuckDBGenerator.TRANSFORMS.items()
        if kind not in (exp.Pow, exp.JSONExtract, exp.JSONExtractScalar, exp.Extract, exp.Trim)
    }


class Dialect(DuckDB):
    """What users write and DuckDB runs."""

    class Tokenizer(DuckDB.Tokenizer):
        """DuckDB's words, and those of RisingWave's statements."""

        BIT_STRINGS: ClassVar[Any] = [("b'", "'"), ("B'", "'")]
        HEX_STRINGS: ClassVar[Any] = [("x'", "'"), ("X'", "'")]
        IDENTIFIERS: ClassVar[Any] = ['"', "`"]
        KEYWORDS: ClassVar[Any] = {
            **DuckDB.Tokenizer.KEYWORDS,
            "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE,
            "SINK": TokenType.SINK,
            "SOURCE": TokenType.SOURCE,
        }

    Parser = _Parser
    Generator = _Generator


class Declarations(RisingWave):
    """CREATE SOURCE and CREATE TABLE. Names may be in backticks, as Flink and Spark quote them."""

    class Tokenizer(RisingWave.Tokenizer):
        """RisingWave's words."""

        IDENTIFIERS: ClassVar[Any] = ['"', "`"]

    Parser = _DeclarationParser


def parse_expression(text: str) -> exp.Expr:
    """Read one expression.

    >>> parse_expression("date_diff('day', a, b)").sql()
    "DATE_DIFF('day', a, b)"
    """
    return sqlglot.parse_one(text, read=Dialect)


def write_expression(tree: exp.Expr) -> str:
    """The text of an expression as DuckDB reads it.

    >>> write_expression(parse_expression("payload ->> 'key' = 'on' AND name.upper() IN ['A']"))
    "payload ->> 'key' = 'on' AND UPPER(name) IN ['A']"
    """
    return str(tree.sql(Dialect))
