"""Which way a component is kept true."""

from collections.abc import Mapping

from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.encoding import Kind, kind_of
from skerry.deduce.engine.group_maintenance import Upkeep
from skerry.deduce.engine.stage_maintenance import ByStages
from skerry.deduce.engine.tuple_maintenance import ByTuples
from skerry.plan.program import Class, Component, Predicate

__all__ = ["upkeep"]


def upkeep(setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> Upkeep:
    """What keeps a component true."""
    if not component.stages:
        return Upkeep(setting, predicates, component)
    return (ByTuples if _is_plain(predicates, component) else ByStages)(setting, predicates, component)


def _is_plain(predicates: Mapping[str, Predicate], component: Component) -> bool:
    """Whether nothing is gathered, nothing needs itself within a stage, and stages and limits are whole numbers."""
    counted = [
        predicates[name].columns[column].type
        for name, stage in component.stages.items()
        for column in (stage, *predicates[name].limits)
    ]
    gathers = any(rule.aggregates for rule in component.rules)
    return component.kind is Class.X and not gathers and all(kind_of(type_) is Kind.INT for type_ in counted)
