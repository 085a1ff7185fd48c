"""Whether a condition can fail on a row: a text that is no number, a value out of range."""

import pyarrow as pa
from sqlglot import exp

__all__ = ["never_fails"]

_JOINED = (exp.And, exp.Or, exp.Not, exp.Paren)
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Like)
_LEAVES = (exp.Column, exp.Identifier, exp.Literal)
_SHORT_NUMBER = 9
"""How many characters a constant may have that every number can be compared with, whatever its scale."""


def never_fails(tree: exp.Expr, schema: pa.Schema) -> bool:
    """Whether it only compares columns and constants of one kind: texts with texts, numbers with numbers.

    >>> from skerry.model.dialect import parse_expression
    >>> schema = pa.schema({"lane": pa.string(), "speed": pa.float64()})
    >>> [never_fails(parse_expression(text), schema) for text in ('"speed" < 30', '"lane" < 30')]
    [True, False]
    """
    nodes = list(tree.walk())
    if not all(isinstance(node, (*_JOINED, *_COMPARED, *_LEAVES)) for node in nodes):
        return False
    compared = [node for node in nodes if isinstance(node, _COMPARED)]
    return all(len({_kind(leaf, schema) for leaf in node.find_all(exp.Column, exp.Literal)}) == 1 for node in compared)


def _kind(leaf: exp.Expr, schema: pa.Schema) -> str:
    """Text, number, or something else: types of one kind are compared without a failure."""
    if isinstance(leaf, exp.Literal):
        short = len(leaf.name) <= _SHORT_NUMBER
        return "text" if leaf.is_string else "number" if short else leaf.name
    type_ = schema.field(leaf.name).type
    is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    return "text" if pa.types.is_string(type_) else "number" if is_number else str(type_)
