"""Which builder makes the operator of a node: one line per node.

A builder is a function in a file of its own. Beside it stands what else is known of how the node runs: the part that
runs before the shuffle, and the kernels that are compiled ahead.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from skerry.build.absence import build_absence, build_not_in, build_presence
from skerry.build.aggregate import build_aggregate, build_partial_aggregate
from skerry.build.asof import build_asof, build_asof_lookup
from skerry.build.changes import build_as_changes, build_net_changes, build_top_rows
from skerry.build.deduce import build_deduction
from skerry.build.fallback import build_fallback
from skerry.build.fan_out import build_fan_out, build_select_any
from skerry.build.gather import build_gather
from skerry.build.in_windows import build_in_windows
from skerry.build.join import build_join, name_join_kernels
from skerry.build.keep_all import keep_all
from skerry.build.lookup import build_first_lookup, build_left_lookup, build_lookup
from skerry.build.outer_join import build_newest, build_outer_join, build_revised_outer_join
from skerry.build.over import build_over
from skerry.build.revised_aggregate import build_partial_revisions, build_revised_aggregate, build_revised_sessions
from skerry.build.sampled_aggregate import build_partial_samples, build_sampled_aggregate
from skerry.build.sequences import build_sequences
from skerry.build.session_aggregate import build_partial_sessions, build_session_aggregate
from skerry.build.silence import build_partial_silence, build_silence
from skerry.build.sliced_aggregate import build_partial_slices, build_sliced_aggregate
from skerry.build.unnest import build_unnest
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

    build: Callable[[str, Any], Operator]
    """From the view's name and the node."""
    partial: Callable[[Any], Operator] | None = None
    """What runs before the shuffle, for nodes that say they have such a part."""
    kernels: Callable[[Any], Iterable[str]] = lambda node: ()
    """The kernels it needs beside those that all do, as ``pipeline.precompile`` names them."""


_STATEFUL: Mapping[type[Stateful], _Builder] = {
    Absence: _Builder(build_absence),
    Asof: _Builder(build_asof),
    Aggregate: _Builder(build_aggregate, build_partial_aggregate),
    Deduce: _Builder(build_deduction, kernels=lambda node: ["rules"]),
    Fallback: _Builder(build_fallback),
    Gather: _Builder(build_gather, kernels=lambda node: ["gather"]),
    Join: _Builder(build_join, kernels=name_join_kernels),
    NotIn: _Builder(build_not_in),
    OuterJoin: _Builder(build_outer_join, kernels=name_join_kernels),
    Over: _Builder(build_over, kernels=lambda node: ["over"]),
    Presence: _Builder(build_presence),
    RevisedAggregate: _Builder(build_revised_aggregate, build_partial_revisions),
    RevisedOuterJoin: _Builder(build_revised_outer_join, kernels=name_join_kernels),
    RevisedSessions: _Builder(build_revised_sessions, build_partial_sessions),
    SampledAggregate: _Builder(build_sampled_aggregate, build_partial_samples),
    Sequences: _Builder(build_sequences, kernels=lambda node: ["sequences"]),
    SessionAggregate: _Builder(build_session_aggregate, build_partial_sessions),
    SlicedAggregate: _Builder(build_sliced_aggregate, build_partial_slices),
    Silence: _Builder(build_silence, build_partial_silence),
    TopRows: _Builder(build_top_rows),
    Union: _Builder(lambda view, node: keep_all(node.schema)),
}

_STATELESS: Mapping[type[Stateless], Callable[[Any, Tables], list[Operator]]] = {
    AsChanges: build_as_changes,
    AsofLookup: build_asof_lookup,
    FanOut: build_fan_out,
    FirstLookup: build_first_lookup,
    InWindows: build_in_windows,
    LeftLookup: build_left_lookup,
    Lookup: build_lookup,
    NetChanges: build_net_changes,
    Newest: build_newest,
    SelectAny: build_select_any,
    Unnest: build_unnest,
}
"""Selections and projections are not here: several of them become one operator (``build.chain``)."""


def build_stateless(node: Stateless, tables: Tables) -> list[Operator]:
    """The operators of a node that keeps nothing."""
    return _STATELESS[type(node)](node, tables)


def build_state(view: str, node: Stateful) -> Operator:
    """The operator of a node that keeps something."""
    return _STATEFUL[type(node)].build(view, node)


def build_partial(node: Stateful) -> Operator:
    """The part of a node that runs before rows are shuffled, or handed on."""
    partial = _STATEFUL[type(node)].partial
    assert partial is not None, "the node says that a part of it runs before the shuffle"
    return partial(node)


def name_kernels(node: Stateful) -> set[str]:
    """The kernels that a node needs beside those that all do."""
    return set(_STATEFUL[type(node)].kernels(node))
