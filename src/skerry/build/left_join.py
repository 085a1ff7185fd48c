"""LEFT JOIN as operators: of two streams, and of a stream with a table."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.joins.left_join import LeftJoin as LeftJoinOperator
from skerry.operators.left_lookup import LeftLookup as LeftLookupOperator
from skerry.operators.operator import Operator
from skerry.plan.left_join import LeftJoin
from skerry.plan.left_lookup import LeftLookup

__all__ = ["build_left_join", "build_left_lookup"]


def build_left_join(view: str, node: LeftJoin) -> Operator:
    """The operator of a left join of two streams."""
    return LeftJoinOperator(node.sides, node.condition, node.technique, node.limit)


def build_left_lookup(node: LeftLookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of a left join with a table, over the table as it is now."""
    table = tables[node.table.name]
    return [LeftLookupOperator(node.input.schema, node.name, table, node.keys, node.condition)]
