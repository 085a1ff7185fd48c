"""Joins of streams as operators: complete, spilling or shedding."""

from pathlib import Path
from uuid import uuid4

from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.shedding_join import SheddingJoin
from skerry.operators.joins.spill_store import FolderSpill
from skerry.operators.joins.spilling_join import SpillingJoin
from skerry.operators.operator import Operator
from skerry.plan.join import Join
from skerry.plan.overload import Spilling

__all__ = ["build_join"]


def build_join(view: str, node: Join) -> Operator:
    """The operator of a join, by what it does under overload."""
    if isinstance(node.overload, Spilling):
        spill = FolderSpill(Path(node.overload.folder) / f"{view}-{uuid4().hex}")
        return SpillingJoin(node.sides, spill, node.overload.memory_rows, node.technique, node.limit)
    if node.shedding:
        hashed = node.technique == "amjoin"
        return SheddingJoin(node.sides, node.shedding.memory_rows, node.shedding.policy, node.limit, hashed=hashed)
    return MultiJoin(node.sides, node.technique, node.limit)
