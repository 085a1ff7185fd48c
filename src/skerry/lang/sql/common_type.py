"""Values of different types, brought to one in which they can be compared."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.model.types import sql_name

__all__ = ["bring_to_one_type", "common_type"]


def common_type(types: Sequence[pa.DataType]) -> pa.DataType | None:
    """The type in which values of several types are compared, if they can be.

    >>> common_type([pa.int32(), pa.int64()]), common_type([pa.int64(), pa.string()])
    (DataType(int64), None)
    """
    if len(set(types)) == 1:
        return types[0]
    if all(pa.types.is_integer(type_) for type_ in types):
        return pa.int64()
    if any(pa.types.is_decimal(type_) for type_ in types) and not any(map(pa.types.is_floating, types)):
        return _common_decimal(types)
    if all(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_) for type_ in types):
        return pa.float64()
    return None


def bring_to_one_type(trees: Sequence[exp.Expr], scopes: Sequence[Scope], whole: exp.Expr) -> list[Expression]:
    """Expressions that are to be equal, each over a relation of its own, in one type."""
    bound = [scalar(tree, scope) for tree, scope in zip(trees, scopes, strict=True)]
    wanted = common_type([expression.type for expression in bound])
    if wanted is None:
        ends = zip(trees, bound, strict=True)
        message = " and ".join(f"{write_expression(tree)} ({sql_name(expression.type)})" for tree, expression in ends)
        raise SqlError(f"{message} cannot be compared; cast one", location_of(trees[0]) or location_of(whole))
    return [
        expression if expression.type == wanted else scalar(exp.cast(tree.copy(), _cast_name(wanted)), scope)
        for expression, tree, scope in zip(bound, trees, scopes, strict=True)
    ]


def _common_decimal(types: Sequence[pa.DataType]) -> pa.DataType | None:
    """The decimals that hold all of some whole numbers and decimals, if 38 digits are enough."""
    if not all(pa.types.is_integer(type_) or pa.types.is_decimal(type_) for type_ in types):
        return None
    sizes = [(type_.precision, type_.scale) if pa.types.is_decimal(type_) else (19, 0) for type_ in types]
    scale = max(scale for _, scale in sizes)
    whole = max(precision - scale for precision, scale in sizes)
    return pa.decimal128(38, scale) if whole + scale <= 38 else None


def _cast_name(type_: pa.DataType) -> str:
    return f"DECIMAL({type_.precision}, {type_.scale})" if pa.types.is_decimal(type_) else sql_name(type_)
