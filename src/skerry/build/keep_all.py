"""All rows as they are, as an operator."""

import pyarrow as pa

from skerry.model.expression import list_columns
from skerry.operators.derive import Derive
from skerry.operators.operator import Operator
from skerry.plan.union import Union

__all__ = ["build_union", "keep_all"]


def keep_all(schema: pa.Schema) -> Operator:
    """All columns, as they are."""
    return Derive(list_columns(schema))


def build_union(view: str, node: Union) -> Operator:
    """The operator of a union of what keeps state: rows go on as they come."""
    return keep_all(node.schema)
