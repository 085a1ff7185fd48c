"""What passes changes on, and the first rows of a changing relation, as operators."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.net_changes import AsChanges as AsChangesOperator
from skerry.operators.net_changes import NetChanges as NetChangesOperator
from skerry.operators.operator import Operator
from skerry.operators.top_rows import TopRows as TopRowsOperator
from skerry.plan.net_changes import AsChanges, NetChanges
from skerry.plan.top_rows import TopRows

__all__ = ["build_as_changes", "build_net_changes", "build_top_rows"]


def build_as_changes(node: AsChanges, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator that gives rows that stay."""
    return [AsChangesOperator(node.input.schema)]


def build_net_changes(node: NetChanges, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator that cancels changes."""
    return [NetChangesOperator(node.input.schema, node.signs)]


def build_top_rows(view: str, node: TopRows) -> Operator:
    """The operator that keeps the first rows."""
    signed = node.input.is_changing
    return TopRowsOperator(node.input.schema, node.order, node.limit, node.offset, node.window, is_signed=signed)
