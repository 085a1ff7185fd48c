"""Which builder makes the operator of a node: one line per node.

A builder is a function in a file of its own, named here as ``FILE.FUNCTION`` and loaded when the first such node is
built: a pipeline needs few of them, and to load all takes longer than a small one runs. Beside it stands what else is
known of how the node runs: the part that runs before the shuffle, and the kernels that are compiled ahead.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from skerry.build.kernel_names import name_join_kernels
from skerry.operators.operator import Operator
from skerry.plan.absence import Absence, NotIn, Presence
from skerry.plan.aggregate import Aggregate
from skerry.plan.asof import Asof
from skerry.plan.asof_lookup import AsofLookup
from skerry.plan.deduce import Deduce
from skerry.plan.fallback import Fallback
from skerry.plan.fan_out import FanOut, SelectAny
from skerry.plan.first_lookup import FirstLookup
from skerry.plan.gather import Gather
from skerry.plan.in_windows import InWindows
from skerry.plan.join import Join
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup
from skerry.plan.net_changes import AsChanges, NetChanges
from skerry.plan.newest import Newest
from skerry.plan.node import Stateful, Stateless
from skerry.plan.outer_join import OuterJoin, RevisedOuterJoin
from skerry.plan.over import Over
from skerry.plan.revised_aggregate import RevisedAggregate, RevisedSessions
from skerry.plan.sampled_aggregate import SampledAggregate
from skerry.plan.sequences import Sequences
from skerry.plan.session_aggregate import SessionAggregate
from skerry.plan.silence import Silence
from skerry.plan.sliced_aggregate import SlicedAggregate
from skerry.plan.top_rows import TopRows
from skerry.plan.union import Union
from skerry.plan.unnest import Unnest

__all__ = ["NO_TABLES", "Tables", "build_partial", "build_state", "build_stateless", "name_kernels"]

Tables = Mapping[str, pa.RecordBatch]
"""The tables that streams are looked up in, as they are now."""
NO_TABLES: Tables = MappingProxyType({})


@dataclass(frozen=True)
class _Builder:
    """How a node that keeps state becomes an operator."""

    build: str
    """The function that makes it from the view's name and the node."""
    partial: str = ""
    """The one that makes what runs before the shuffle, from the node, for nodes that say they have such a part."""
    kernels: Callable[[Any], Iterable[str]] = lambda node: ()
    """The kernels it needs beside those that all do, as ``pipeline.precompile`` names them."""


_STATEFUL: Mapping[type[Stateful], _Builder] = {
    Absence: _Builder("absence.build_absence"),
    Asof: _Builder("asof.build_asof"),
    Aggregate: _Builder("aggregate.build_aggregate", "aggregate.build_partial_aggregate"),
    Deduce: _Builder("deduce.build_deduction", kernels=lambda node: ["rules"]),
    Fallback: _Builder("fallback.build_fallback"),
    Gather: _Builder("gather.build_gather", kernels=lambda node: ["gather"]),
    Join: _Builder("join.build_join", kernels=name_join_kernels),
    NotIn: _Builder("absence.build_not_in"),
    OuterJoin: _Builder("outer_join.build_outer_join", kernels=name_join_kernels),
    Over: _Builder("over.build_over", kernels=lambda node: ["over"]),
    Presence: _Builder("absence.build_presence"),
    RevisedAggregate: _Builder(
        "revised_aggregate.build_revised_aggregate", "revised_aggregate.build_partial_revisions"
    ),
    RevisedOuterJoin: _Builder("outer_join.build_revised_outer_join", kernels=name_join_kernels),
    RevisedSessions: _Builder("revised_aggregate.build_revised_sessions", "session_aggregate.build_partial_sessions"),
    SampledAggregate: _Builder("sampled_aggregate.build_sampled_aggregate", "sampled_aggregate.build_partial_samples"),
    Sequences: _Builder("sequences.build_sequences", kernels=lambda node: ["sequences"]),
    SessionAggregate: _Builder("session_aggregate.build_session_aggregate", "session_aggregate.build_partial_sessions"),
    SlicedAggregate: _Builder("sliced_aggregate.build_sliced_aggregate", "sliced_aggregate.build_partial_slices"),
    Silence: _Builder("silence.build_silence", "silence.build_partial_silence"),
    TopRows: _Builder("changes.build_top_rows"),
    Union: _Builder("keep_all.build_union"),
}

_STATELESS: Mapping[type[Stateless], str] = {
    AsChanges: "changes.build_as_changes",
    AsofLookup: "asof.build_asof_lookup",
    FanOut: "fan_out.build_fan_out",
    FirstLookup: "lookup.build_first_lookup",
    InWindows: "in_windows.build_in_windows",
    LeftLookup: "lookup.build_left_lookup",
    Lookup: "lookup.build_lookup",
    NetChanges: "changes.build_net_changes",
    Newest: "outer_join.build_newest",
    SelectAny: "fan_out.build_select_any",
    Unnest: "unnest.build_unnest",
}
"""Selections and projections are not here: several of them become one operator (``build.chain``)."""


def build_stateless(node: Stateless, tables: Tables) -> list[Operator]:
    """The operators of a node that keeps nothing."""
    operators: list[Operator] = _load(_STATELESS[type(node)])(node, tables)
    return operators


def build_state(view: str, node: Stateful) -> Operator:
    """The operator of a node that keeps something."""
    operator: Operator = _load(_STATEFUL[type(node)].build)(view, node)
    return operator


def build_partial(node: Stateful) -> Operator:
    """The part of a node that runs before rows are shuffled, or handed on."""
    partial = _STATEFUL[type(node)].partial
    assert partial, "the node says that a part of it runs before the shuffle"
    operator: Operator = _load(partial)(node)
    return operator


def name_kernels(node: Stateful) -> set[str]:
    """The kernels that a node needs beside those that all do."""
    return set(_STATEFUL[type(node)].kernels(node))


def _load(name: str) -> Callable[..., Any]:
    """The function that the table calls ``FILE.FUNCTION``."""
    file, function = name.split(".")
    builder: Callable[..., Any] = getattr(import_module(f"{__package__}.{file}"), function)
    return builder
