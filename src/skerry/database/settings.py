"""How to run: the runtimes, and what a run can be told."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from skerry.errors import OptionError
from skerry.fjord.scheduler import SCHEDULERS
from skerry.model.time import Micros
from skerry.pipeline.runtime import RuntimeClass

__all__ = ["RUNTIMES", "Settings", "load_runtime"]

_RUNTIMES = {
    "spark": "skerry.spark.runtime:SparkRuntime",
    "fjord": "skerry.fjord.runtime:FjordRuntime",
    "network": "skerry.network.views.runtime:NetworkRuntime",
}
"""Runtimes by name. One is loaded when it is asked for: to load Spark takes seconds."""
RUNTIMES = tuple(_RUNTIMES)
_MOST_BUCKETS = 1024
_MOST_PROCESSES = 64


@dataclass(frozen=True)
class Settings:
    """How to run: on which runtime, where on a cluster, in what steps, and what to keep for a restart.

    ``history`` says whether accepted readings are kept; None: those of the live sources of a project, or as a source
    says. With a ``span``, sources are replayed from history: from one moment on, until before another.
    """

    runtime: str = "spark"
    master: str = "local[*]"
    checkpoint: Path | None = None
    step_rows: int = 1_000_000
    buckets: int | None = None
    scheduler: str | None = None
    history: bool | None = None
    span: tuple[Micros, Micros] | None = None
    spark_packages: tuple[str, ...] = ()
    spark_jars: tuple[str, ...] = ()
    processes: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if self.runtime not in RUNTIMES:
            raise OptionError(f"unknown runtime {self.runtime!r}; known are {', '.join(RUNTIMES)}")
        if self.scheduler is not None and self.runtime != "fjord":
            raise OptionError(f"the {self.runtime} runtime has no scheduler; use --runtime fjord, or leave it out")
        if self.scheduler is not None and self.scheduler not in SCHEDULERS:
            raise OptionError(f"unknown scheduler {self.scheduler!r}; known are {', '.join(SCHEDULERS)}")
        if self.span is not None and self.span[0] >= self.span[1]:
            raise OptionError("a span of history ends after it begins")
        if self.runtime != "spark" and (self.spark_packages or self.spark_jars):
            raise OptionError(f"the {self.runtime} runtime has no use for Spark's libraries; use --runtime spark")
        if self.processes != 1 and self.runtime != "fjord":
            raise OptionError(f"the {self.runtime} runtime has no processes to choose; use --runtime fjord")
        if not 1 <= self.processes <= _MOST_PROCESSES:
            raise OptionError(f"a run may have 1 to {_MOST_PROCESSES} processes, got", self.processes)
        if self.step_rows < 1:
            raise OptionError("a step needs at least one row, got", self.step_rows)
        if self.buckets is not None and self.runtime != "spark":
            raise OptionError(f"the {self.runtime} runtime has no buckets; use --runtime spark, or leave --buckets out")
        if self.buckets is not None and not 1 <= self.buckets <= _MOST_BUCKETS:
            raise OptionError(f"state is spread over 1 to {_MOST_BUCKETS} buckets, got", self.buckets)


def load_runtime(name: str) -> RuntimeClass:
    """What makes the runtime of this name; its modules are loaded now."""
    module, _, runtime = _RUNTIMES[name].partition(":")
    found: RuntimeClass = getattr(import_module(module), runtime)
    return found
