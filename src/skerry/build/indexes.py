"""Query indexes of a plan, made once where it is planned: to make one takes long, so it travels packed."""

from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.dialect import parse_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.plan.fan_out import FanOut, SelectAny
from skerry.plan.node import Node, walk

__all__ = ["open_index", "pack_indexes"]


def pack_indexes(root: Node) -> Node:
    """The same plan, with an index in each node that asks many queries."""
    if not any(isinstance(node, FanOut | SelectAny) for node in walk(root)):
        return root
    root = root.with_inputs(tuple(pack_indexes(each) for each in root.inputs))
    if isinstance(root, FanOut | SelectAny) and not root.index:
        return root.replace_fields(index=_pack(root))
    return root


def open_index(node: FanOut | SelectAny) -> QueryIndex:
    """The index of a node again."""
    return QueryIndex.restore(node.index, node.query_schema, open_duckdb)


def _pack(node: FanOut | SelectAny) -> bytes:
    index = QueryIndex(node.query_schema, open_duckdb)
    for name, predicate in node.queries:
        tree = parse_expression(predicate.sql)
        index.add(name, region_of(tree, node.query_schema, open_duckdb))
    return index.save()
