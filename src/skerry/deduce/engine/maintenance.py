"""Chooses how a component is maintained: kept true while its inputs change."""

from collections.abc import Mapping

from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.encoding import Kind, kind_of
from skerry.deduce.engine.group_maintenance import GroupMaintenance
from skerry.deduce.engine.local_maintenance import LocalMaintenance
from skerry.deduce.engine.stage_maintenance import StageMaintenance
from skerry.deduce.engine.tuple_maintenance import TupleMaintenance
from skerry.plan.program import Class, Component, Predicate

__all__ = ["choose_maintenance"]


def choose_maintenance(setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> GroupMaintenance:
    """By groups if there are no stages; else by stages, tuple by tuple where one kernel can do it.

    Class L has an order of its own.
    """
    if component.kind is Class.L:
        return LocalMaintenance(setting, predicates, component)
    if not component.stages:
        return GroupMaintenance(setting, predicates, component)
    return (TupleMaintenance if _is_plain(predicates, component) else StageMaintenance)(setting, predicates, component)


def _is_plain(predicates: Mapping[str, Predicate], component: Component) -> bool:
    """Whether there are no aggregates, nothing needs itself within a stage, stages rise, and all of them are whole."""
    counted = [
        predicates[name].columns[column].type
        for name, stage in component.stages.items()
        for column in (stage, *predicates[name].limits)
    ]
    has_aggregates = any(rule.aggregates for rule in component.rules)
    plain = component.kind is Class.X and not component.falling and not has_aggregates
    return plain and all(kind_of(type_) is Kind.INT for type_ in counted)
