"""What is left of the predicates of one form: an expression with slots for constants, which DuckDB takes as columns.

A constant gets a slot, a column of its own, only where its type as a column is the one that DuckDB gives it as a
literal, so that an expression means the same with slots. All others stay in the text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

from skerry.index.ask_duckdb import ask_type
from skerry.index.beside import ARITHMETIC, COMPARISONS, find_beside
from skerry.index.constants import Evaluator, is_double
from skerry.index.disjunctive_form import Part
from skerry.index.form import Constant, Form
from skerry.index.form_text import FormText
from skerry.index.region import Residual, name_slot, slots_of
from skerry.index.value_set_column import Uneven, require_even
from skerry.model.dialect import write_expression

__all__ = ["ResidualTemplate", "arrow_type"]

_WHOLE = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64()}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
_DIGITS = 15
_NARROW = 18
"""A decimal of so many digits is compared with a whole number exactly."""
_MOST_SLOTS = 16


def arrow_type(slot: str) -> pa.DataType:
    """The type of a slot's column.

    >>> arrow_type("DECIMAL_3_2")
    Decimal128Type(decimal128(3, 2))
    """
    if slot.startswith("DECIMAL_"):
        return pa.decimal128(*map(int, slot.split("_")[1:]))
    return _WHOLE.get(slot) or (pa.float64() if slot == "DOUBLE" else pa.string())


class ResidualTemplate:
    """Some parts of a form, all of which must be true."""

    def __init__(self, form: Form, parts: Sequence[Part], schema: pa.Schema, evaluator: Evaluator) -> None:
        self._form, self._evaluator, self._schema = form, evaluator, schema
        self._text = FormText(form, lambda: exp.and_(*(part.write() for part in parts), copy=False))
        names = {column.name for part in parts for column in part.tree.find_all(exp.Column)}
        self._columns = tuple(name for name in schema.names if name in names)
        self._known: dict[str, bool] = {}
        self._slots = self._find_slots(parts)
        self._patterns = [
            (part.tree.this.name, index)
            for part in parts
            if not part.negated and (index := self._find_pattern(part.tree)) is not None
        ]

    def fill(self) -> Residual:
        """With the constants that the form holds now: those of one predicate, or columns of them."""
        if self._form.row_count:
            return self._fill_columns()
        if not self._slots:
            return Residual(self._text.write(), self._columns)
        texts: list[str] = []
        constants: list[object] = []
        for index in self._text.indexes:
            constant = self._form.constants[index]
            type_ = self._type_of(index, constant)
            if type_ is None:
                texts.append(constant if isinstance(constant, str) else ", ".join(constant))
            else:
                texts.append(name_slot(len(constants), type_))
                constants.append(_to_value(str(constant), type_))
        form = self._text.join(texts)
        if self._is_bound(form, has_slots=bool(constants)):
            return Residual(form, self._columns, tuple(constants))
        return Residual(self._text.write(), self._columns)

    def _fill_columns(self) -> Residual:
        """The same for many predicates, whose texts without slots must be one."""
        if not self._text.has_gaps:
            raise Uneven
        texts: list[str] = []
        columns: list[list[object]] = []
        for index in self._text.indexes:
            column = self._form.columns[index]
            types = [self._type_of(index, constant) for constant in column]
            require_even(types)
            if types[0] is None:
                require_even(column)
                texts.append(column[0] if isinstance(column[0], str) else ", ".join(column[0]))
            else:
                texts.append(name_slot(len(columns), types[0]))
                columns.append([_to_value(str(constant), types[0]) for constant in column])
        form = self._text.join(texts)
        if not self._is_bound(form, has_slots=bool(columns)):
            raise Uneven
        return Residual(form, self._columns, tuple(columns))

    def _is_bound(self, form: str, *, has_slots: bool) -> bool:
        if form not in self._known:
            self._known[form] = not has_slots or self._can_bind(form)
        return self._known[form]

    def find_contained(self) -> tuple[str, Any] | None:
        """A column, and the longest text that must be in it to be like a pattern; None if there is no pattern.

        Of many predicates, a list of such texts.
        """
        if self._form.row_count and self._patterns:
            named = [(name, list(map(_find_longest, map(str, self._form.columns[i])))) for name, i in self._patterns]
            if len(named) > 1:
                raise Uneven
            return named[0]
        found = [(name, _find_longest(str(self._form.constants[index]))) for name, index in self._patterns]
        return max(found, key=lambda each: len(each[1]), default=None)

    def _find_pattern(self, tree: exp.Expr) -> int | None:
        """Which of the constants is the pattern that a column of texts must be like."""
        if type(tree) is not exp.Like or tree.args.get("negate") or not isinstance(tree.this, exp.Column):
            return None
        is_text = tree.this.name in self._schema.names and self._schema.field(tree.this.name).type == pa.string()
        return self._form.index_of(tree.expression) if is_text else None

    def _type_of(self, index: int, constant: Constant) -> str | None:
        """The type of a constant's slot; None if it stays in the text."""
        type_ = self._slots.get(index)
        if type_ is None or not isinstance(constant, str):
            return None
        if type_ == "DOUBLE":
            return type_ if is_double(constant) else None
        if constant[0] != "'" and (len(constant) > _DIGITS or "e" in constant.lower()):
            return None
        if type_ == "DECIMAL":
            whole, _, digits = constant.partition(".")
            return f"DECIMAL_{len(whole) + len(digits)}_{len(digits)}"
        if type_ in _BITS and int(constant) >= 2 ** (_BITS[type_] - 1):
            return None
        return type_

    def _can_bind(self, form: str) -> bool:
        """Whether DuckDB takes columns where the slots are."""
        slots = {name_slot(number, type_)[1:-1]: arrow_type(type_) for number, type_ in enumerate(slots_of(form))}
        schema = pa.schema([*self._schema, *slots.items()])
        return ask_type(form, schema, self._evaluator) is not None

    def _find_slots(self, parts: Sequence[Part]) -> Mapping[int, str]:
        """The constants that may have slots, and their types; DECIMAL is completed by the digits."""
        if not self._text.has_gaps or any(name.startswith("$") for name in self._schema.names):
            return {}
        self._form.write()
        literals = [literal for part in parts for literal in part.tree.find_all(exp.Literal)]
        found = {}
        for literal in literals[: _MOST_SLOTS + 1]:
            index = self._form.index_of(literal)
            type_ = self._find_slot(literal)
            if index is not None and type_ is not None and isinstance(self._form.constants[index], str):
                found[index] = type_
        return found if len(literals) <= _MOST_SLOTS else {}

    def _find_slot(self, literal: exp.Expr) -> str | None:
        beside = find_beside(literal)
        is_text = isinstance(literal, exp.Literal) and literal.is_string
        if beside is None:
            return "DECIMAL" if not is_text and "." in literal.name else None
        operand, by = beside
        type_ = ask_type(write_expression(operand), self._schema, self._evaluator)
        return None if type_ is None else _choose_type(literal, by, operand, type_)


def _find_longest(pattern: str) -> bytes:
    """The longest part of a quoted pattern without wildcards; nothing if some may be escaped."""
    text = pattern[1:-1].replace("''", "'")
    return b"" if "\\" in text else max((part.encode() for part in re.split("[%_]", text)), key=len)


def _choose_type(literal: exp.Expr, by: exp.Expr, operand: exp.Expr, type_: pa.DataType) -> str | None:
    """The type that DuckDB gives a literal beside an operand of a type."""
    if isinstance(literal, exp.Literal) and literal.is_string:
        return "VARCHAR" if kinds.is_string(type_) and not isinstance(by, ARITHMETIC) else None
    if kinds.is_float64(type_):
        return "DOUBLE"
    if "." in literal.name:
        return "DECIMAL"
    whole = next((name for name, known in _WHOLE.items() if known == type_), None)
    if isinstance(by, (*COMPARISONS, exp.Between)):
        narrow = kinds.is_decimal(type_) and type_.precision <= _NARROW
        return "BIGINT" if whole else "INTEGER" if narrow else None
    is_fixed = not operand.find(exp.Literal) and not isinstance(literal.parent, exp.Neg)
    return whole if is_fixed else None


def _to_value(constant: str, type_: str) -> object:
    if constant[0] == "'":
        return constant[1:-1].replace("''", "'")
    convert: Callable[[str], object] = float if type_ == "DOUBLE" else Decimal if type_.startswith("DECIMAL") else int
    return convert(constant)
