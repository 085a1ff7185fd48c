"""Outer joins of two streams as operators, and what joins are joined by."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.joins.newest import Newest as NewestOperator
from skerry.operators.joins.outer_join import OuterJoin as OuterJoinOperator
from skerry.operators.joins.revised_outer_join import RevisedOuterJoin as RevisedOuterJoinOperator
from skerry.operators.operator import Operator
from skerry.plan.newest import Newest
from skerry.plan.outer_join import OuterJoin, RevisedOuterJoin

__all__ = ["build_newest", "build_outer_join", "build_revised_outer_join"]


def build_outer_join(view: str, node: OuterJoin) -> Operator:
    """The operator of a left or a full join of two streams."""
    return OuterJoinOperator(node.sides, node.condition, node.technique, node.limit, full=node.full)


def build_revised_outer_join(view: str, node: RevisedOuterJoin) -> Operator:
    """The operator of one whose rows can be taken back."""
    return RevisedOuterJoinOperator(node.sides, node.condition, node.technique, node.limit, full=node.full)


def build_newest(node: Newest, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator that adds the newest time of a combination."""
    return [NewestOperator(node.schema, node.times)]
