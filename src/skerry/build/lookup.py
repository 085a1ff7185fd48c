"""Lookups in tables as operators, over the tables as they are now."""

from collections.abc import Mapping

import pyarrow as pa

from skerry.operators.first_lookup import FirstLookup as FirstLookupOperator
from skerry.operators.left_lookup import LeftLookup as LeftLookupOperator
from skerry.operators.lookup import Lookup as LookupOperator
from skerry.operators.operator import Operator
from skerry.plan.first_lookup import FirstLookup
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup

__all__ = ["build_first_lookup", "build_left_lookup", "build_lookup"]


def build_lookup(node: Lookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of a lookup."""
    table = tables[node.table.name]
    return [LookupOperator(node.input.schema, node.name, table, node.keys, node.pair_condition)]


def build_left_lookup(node: LeftLookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of a left join with a table."""
    table = tables[node.table.name]
    return [LeftLookupOperator(node.input.schema, node.name, table, node.keys, node.condition, node.pair_condition)]


def build_first_lookup(node: FirstLookup, tables: Mapping[str, pa.RecordBatch]) -> list[Operator]:
    """The operator of a lookup that is content with one row of a table."""
    table = tables[node.table.name]
    return [FirstLookupOperator(node.input.schema, node.name, table, node.keys, node.condition, node.pair_condition)]
