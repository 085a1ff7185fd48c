"""Views whose answers go elsewhere than those of their run."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from skerry.errors import OptionError
from skerry.lang.sql.view_options import read_spark_sink
from skerry.model.spark_format import SparkFormat
from skerry.plan.view import ViewPlan
from skerry.sinks.by_output import SinkByOutput
from skerry.sinks.sink import Sink

__all__ = ["add_view_sinks", "find_spark_sinks"]


def find_spark_sinks(plans: Sequence[ViewPlan], runtime: str) -> dict[str, SparkFormat]:
    """The views that Spark writes, and how."""
    found = {plan.name: read_spark_sink(plan.name, plan.options) for plan in plans}
    written = {name: format_ for name, format_ in found.items() if format_ is not None}
    if written and runtime != "spark":
        raise OptionError(f"view {min(written)!r} is written by Spark itself; run it with --runtime spark")
    return written


def add_view_sinks(sink: Sink, written: Mapping[str, SparkFormat]) -> Sink:
    """A sink that hands these views to Spark, and all other answers on."""
    if not written:
        return sink
    make = import_module("skerry.spark.sink").SparkSink
    return SinkByOutput(sink, {name: make(name, format_) for name, format_ in written.items()})
