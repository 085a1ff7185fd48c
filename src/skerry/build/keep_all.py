"""All rows as they are, as an operator."""

import pyarrow as pa

from skerry.model.expression import list_columns
from skerry.operators.derive import Derive
from skerry.operators.operator import Operator

__all__ = ["keep_all"]


def keep_all(schema: pa.Schema) -> Operator:
    """All columns, as they are."""
    return Derive(list_columns(schema))
