"""Rows for many views as operators."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.build.indexes import open_index
from skerry.operators.fan_out import FanOut as FanOutOperator
from skerry.operators.fan_out import ViewSplitter
from skerry.operators.joins.member_ages import MemberAges
from skerry.operators.operator import Operator
from skerry.operators.select_any import SelectAny as SelectAnyOperator
from skerry.plan.fan_out import FanOut, SelectAny
from skerry.plan.join import Join

__all__ = ["build_fan_out", "build_select_any"]


def build_select_any(node: SelectAny, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """What drops rows that no view wants."""
    return [SelectAnyOperator(node.schema, open_index(node))]


def build_fan_out(node: FanOut, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """What gives each row to the views that want it; combinations have the ages of their members then."""
    ages = [MemberAges(node.input.schema, node.input.sides)] if isinstance(node.input, Join) else []
    return [*ages, FanOutOperator(ViewSplitter(open_index(node), dict(node.views)))]
