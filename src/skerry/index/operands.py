"""What a comparison is about: a column, a linear expression of one in the column's own order, or a derived column."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

from skerry.errors import InputError
from skerry.index.ask_duckdb import ask_type
from skerry.index.constants import Evaluator, NotIndexable, is_double
from skerry.index.domains import Domain, domain_of
from skerry.index.form import Form
from skerry.index.form_text import FormText
from skerry.index.infallible import cannot_fail
from skerry.index.linear_domain import Step, domain_of_linear
from skerry.index.region import Derived, Operand
from skerry.model.dialect import write_expression

__all__ = ["Derive", "FindRead", "Operands", "Read", "derive_nothing"]

_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}


class Derive(Protocol):
    """Says whether the index computes an expression."""

    def __call__(self, sql: str, weight: int = 1) -> Derived | None:
        """It as a column; None if it is not computed. So many predicates are about it."""


def derive_nothing(sql: str, weight: int = 1) -> Derived | None:
    """No expression is computed."""
    return None


class Read(NamedTuple):
    """An operand, the order of its values, and the type in which constants are compared with it."""

    operand: Operand
    domain: Domain
    type: pa.DataType


FindRead = Callable[[], Read]
"""Gives the operand, with the constants that a form holds at the time."""


class Operands:
    """Finds the operands of a form over the columns of a schema."""

    def __init__(self, form: Form, schema: pa.Schema, evaluator: Evaluator, derive: Derive) -> None:
        self._form, self._schema, self._evaluator, self._derive = form, schema, evaluator, derive

    def find(self, tree: exp.Expr) -> FindRead:
        """The operand that an expression is."""
        bare = tree.unnest()
        if isinstance(bare, exp.Column):
            read = self._read_column(bare)
            return lambda: read
        if not bare.find(exp.Column):
            raise NotIndexable
        linear = self._find_linear(bare)
        if linear is None and not self._can_derive(bare):
            raise NotIndexable
        return linear or self._find_derived(bare)

    def find_condition(self, tree: exp.Expr) -> FindRead | None:
        """A condition as a column of truth values, if the index may compute such."""
        is_possible = tree.find(exp.Column) and self._can_derive(tree)
        return self._find_derived(tree) if is_possible else None

    def _read_column(self, column: exp.Column) -> Read:
        if column.name not in self._schema.names:
            raise InputError(f"unknown column {column.name!r}; there are", ", ".join(self._schema.names))
        type_ = self._schema.field(column.name).type
        domain = domain_of(type_)
        if domain is None:
            raise NotIndexable
        return Read(column.name, domain, type_)

    def _can_derive(self, tree: exp.Expr) -> bool:
        """Whether an expression may be computed apart from its predicate, whatever its constants."""
        if self._derive is derive_nothing:
            return False
        self._form.write()
        return cannot_fail(tree, lambda part: ask_type(write_expression(part), self._schema, self._evaluator))

    def _find_derived(self, tree: exp.Expr) -> FindRead:
        text = FormText(self._form, lambda: tree)

        def find() -> Read:
            derived = self._derive(text.write(), self._form.weight)
            domain = domain_of(derived.type) if derived else None
            if derived is None or domain is None:
                raise NotIndexable
            return Read(derived, domain, derived.type)

        return find

    def _find_linear(self, tree: exp.Expr) -> FindRead | None:
        """A DOUBLE column, to which constants of the form are added or by which it is multiplied."""
        steps: list[tuple[str, int]] = []
        while not isinstance(tree, exp.Column):
            sign, inner, constant = _split_operation(tree)
            index = self._form.index_of(constant) if constant is not None else None
            if inner is None or index is None:
                return None
            steps.append((sign, index))
            tree = inner
        read = self._read_column(tree)
        if not kinds.is_float64(read.type):
            return None
        steps.reverse()

        def find() -> Read:
            domain = domain_of_linear(self._make_steps(steps), read.domain)
            if domain is None:
                raise NotIndexable
            return Read(read.operand, domain, read.type)

        return find

    def _make_steps(self, steps: Sequence[tuple[str, int]]) -> list[Step]:
        found = []
        for sign, index in steps:
            constant = self._form.constants[index]
            if not isinstance(constant, str) or constant[0] == "'" or not is_double(constant):
                raise NotIndexable
            found.append(Step(sign, float(constant)))
        return found


def _split_operation(tree: exp.Expr) -> tuple[str, exp.Expr | None, exp.Expr | None]:
    """The sign of a sum, difference or product, what it is of, and the number on its other side."""
    sign = _SIGNS.get(type(tree))
    if sign is None:
        return "", None, None
    left, right = tree.this.unnest(), tree.expression.unnest()
    if isinstance(right, exp.Literal):
        return sign, left, right
    if isinstance(left, exp.Literal) and sign != "-":
        return sign, right, left
    return "", None, None
