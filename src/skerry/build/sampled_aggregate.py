"""Aggregates with the samples expected and received, as operators, in two halves."""

from skerry.model.slices import Slices
from skerry.operators.expected_samples import SampleRates
from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.operators.sampled_aggregate import SampledAggregate as SampledAggregateOperator
from skerry.plan.sampled_aggregate import SampledAggregate

__all__ = ["build_partial_samples", "build_sampled_aggregate"]


def build_sampled_aggregate(view: str, node: SampledAggregate) -> Operator:
    """The half that keeps partial rows of sensors until their windows close, and the sensors."""
    return SampledAggregateOperator(
        node.window,
        node.key_fields,
        node.sensor_field,
        node.folds,
        node.sample_folds,
        SampleRates(node.period_us, dict(node.periods)),
        node.forget_us,
        silent_rows=node.silent_rows,
        schema=node.schema,
    )


def build_partial_samples(node: SampledAggregate) -> Operator:
    """The half that folds a batch into few rows, one per slice, group and sensor, before the shuffle."""
    keys = (*node.key_fields, node.sensor_field)
    return PartialAggregate(Slices.of([node.window]), node.time, keys, (*node.folds, *node.sample_folds))
