"""Rows per element of a list, as an operator."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.operator import Operator
from skerry.operators.unnest import Unnest as UnnestOperator
from skerry.plan.unnest import Unnest

__all__ = ["build_unnest"]


def build_unnest(node: Unnest, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator that repeats rows."""
    return [UnnestOperator(node.input.schema, node.column, node.number, keeps_empty=node.keeps_empty)]
