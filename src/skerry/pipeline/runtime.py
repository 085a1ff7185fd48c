"""What a runtime is: something that runs a pipeline to its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skerry.catalog import Catalog, Source
from skerry.history.recording import Recording
from skerry.model.sealed_folder import SealedFolder
from skerry.model.spark_format import SparkFormat
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, ReceivingWatch
from skerry.pipeline.view_versions import ViewVersions
from skerry.sinks.sink import Sink
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["RunOptions", "Runtime", "RuntimeClass", "never", "raise_or_stop"]


def never() -> bool:
    """Say no: the answer of a run that nobody stops."""
    return False


def raise_or_stop(check: Callable[[], None], stopped: Callable[[], bool]) -> Callable[[], bool]:
    """What says whether to stop, and before that raises what ``check`` has to raise."""

    def find_out() -> bool:
        check()
        return stopped()

    return find_out


@dataclass(frozen=True)
class RunOptions:
    """What a runtime may need to know beside the pipeline and the sink."""

    master: str = "local[*]"
    """The cluster, for runtimes that have one."""
    checkpoint: Path | None = None
    """The folder that makes a run resumable."""
    script: str = ""
    """What the run is of: queries, input, subscriptions, as text. A checkpoint belongs to it."""
    register: Callable[[SealedFolder, Sequence[Source], bool], RegistryFolder] | None = None
    """Makes the registry of subscriptions to some streams in a folder that all workers see, or finds it there if a run
    goes on."""
    buckets: int | None = None
    """Over how many buckets state is spread, for runtimes that have several. None: as in the checkpoint, or as many as
    there are cores."""
    scheduler: str | None = None
    """Who works next, in process: a name of ``fjord.scheduler``. None: by priority if a view has one, else in turn."""
    processes: int = 1
    """Over how many processes of this machine the states of views are spread, in process."""
    catalog: Catalog | None = None
    """What tables of the catalogue are read from, on the driver."""
    watch_sensors: ReceivingWatch | None = None
    """Who has to do with the sensors that send."""
    note: Callable[[str], None] = lambda text: None
    """Is told what takes long before the first batch."""
    record: Callable[[str, int, bool], Recording] | None = None
    """Makes what keeps accepted readings, if they are kept: of which run, from which batch on, and whether it may go on
    after a crash."""
    spark_formats: tuple[SparkFormat, ...] = ()
    """What Spark reads and writes itself, in a pipeline that runs on it."""
    spark_packages: tuple[str, ...] = ()
    spark_jars: tuple[str, ...] = ()
    """Libraries that Spark is started with, beside those of its formats."""
    views: ViewVersions | None = None
    """The versions of its views, if they may come and go."""
    backfill: bool = False
    """Whether views that say so begin with history; otherwise they begin with what the sources have."""


class Runtime(Protocol):
    """Moves batches between operators, and keeps their state. Runtimes differ in nothing else."""

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each step."""


RuntimeClass = Callable[[Pipeline, Sink, RunOptions], Runtime]
"""How a runtime is made."""
