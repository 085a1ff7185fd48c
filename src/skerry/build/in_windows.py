"""Rows in each of their windows, as an operator."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.in_windows import InWindows as InWindowsOperator
from skerry.operators.operator import Operator
from skerry.plan.in_windows import InWindows

__all__ = ["build_in_windows"]


def build_in_windows(node: InWindows, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator that repeats rows."""
    return [InWindowsOperator(node.input.schema, node.time, node.window)]
