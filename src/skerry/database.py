"""What a Python program uses: a catalogue that can be asked, told and run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from skerry.build.stages import Stages, cut_into_stages
from skerry.catalog import Catalog, Source, Subscription
from skerry.errors import InputError, OptionError
from skerry.fjord.runtime import FjordRun
from skerry.lang.sql import Session
from skerry.model.batch import as_batch
from skerry.model.time import Micros
from skerry.pipeline.pipeline import Outcome, Pipeline, never
from skerry.pipeline.why import proof
from skerry.plan.nodes import Join, ViewPlan
from skerry.plan.overload import Spilling
from skerry.plan.sharing import share
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink
from skerry.sources.connectors import open_connector
from skerry.sources.source import Connector
from skerry.subscriptions.versions import RegistryPlace

__all__ = ["RUNTIMES", "Database", "Settings", "StandingView", "connect"]

RUNTIMES = ("spark", "fjord")


@dataclass(frozen=True)
class Settings:
    """How to run: on which runtime, where on a cluster, in what steps, and what to keep for a restart."""

    runtime: str = "spark"
    master: str = "local[*]"
    checkpoint: Path | None = None
    step_rows: int = 1_000_000

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if self.runtime not in RUNTIMES:
            raise OptionError(f"unknown runtime {self.runtime!r}; known are {', '.join(RUNTIMES)}")
        if self.runtime == "fjord" and self.checkpoint:
            raise OptionError("the fjord runtime keeps no checkpoint; use --runtime spark")
        if self.step_rows < 1:
            raise OptionError("a step needs at least one row, got", self.step_rows)


def connect(project: str | Path | None = None) -> "Database":
    """Open a project folder, or a catalogue in memory.

    >>> db = connect()
    >>> db.execute("CREATE SOURCE t (a INT) WITH (connector='sim', kind='traffic')")
    >>> [source.name for source in db.catalog.sources()]
    ['t']
    """
    if project is None:
        return Database(Catalog.in_memory(), Path.cwd())
    return Database(Catalog.of_project(Path(project)), Path(project))


class Database:
    """A catalogue, and the folder that its relative paths start from."""

    def __init__(self, catalog: Catalog, base: Path) -> None:
        self.catalog, self._base = catalog, base
        self._session = Session(catalog, base)

    def execute(self, script: str) -> None:
        """Carry out SQL statements."""
        self._session.execute(script)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Enter subscriptions: all, or if one of them is wrong none. A run takes them up with its next batch."""
        with self.catalog.all_or_nothing():
            self._session.subscribe(subscriptions)

    def add_rules(self, file: Path) -> list[str]:
        """Make a view of each output of a rule program; give their names."""
        return self._session.add_rules(file)

    def remove(self, names: Sequence[str]) -> None:
        """Strike views and subscriptions: all, or if one of them is not there or is still read none."""
        self._session.remove(names)

    def unsubscribe(self, ids: Sequence[str]) -> None:
        """Strike subscriptions: all, or if one of them is not there none."""
        with self.catalog.all_or_nothing():
            self.catalog.subscriptions.remove(ids)

    def plans(self) -> list[ViewPlan]:
        """What the views mean."""
        return self._session.plans()

    def view(self, name: str) -> "StandingView":
        """One view, to be read."""
        return StandingView(self, self._session.plan(name))

    def why(self, view: str, question: str, at: Micros | None = None) -> str:
        """Why a tuple holds in a view made of rules, at a moment or as of the last reading; or why it does not."""
        return proof(self._session.plan(view), question, at, self._answered)

    def _answered(self, plans: Sequence[ViewPlan]) -> dict[str, pa.RecordBatch]:
        """All answers of some plans, found in this process."""
        sink = MemorySink()
        FjordRun(self.pipeline(plans, Settings("fjord")), sink).run()
        return {plan.name: as_batch(sink.table(plan.name)) for plan in plans}

    def run(
        self,
        sink: Sink,
        settings: Settings | None = None,
        *,
        stopped: Callable[[], bool] = never,
        watch: Callable[[Outcome], None] | None = None,
    ) -> Outcome:
        """Run all views until their input is used up, or until ``stopped`` says so."""
        settings = settings or Settings()
        pipeline = self.pipeline(self.plans(), settings)
        register = partial(self._registered, pipeline) if self._takes_subscriptions else None
        if settings.runtime == "fjord":
            with TemporaryDirectory(prefix="skerry-") as folder:
                pipeline = replace(pipeline, registry=register(Path(folder)) if register else None)
                return FjordRun(pipeline, sink).run(stopped=stopped, watch=watch)
        from skerry.spark.runtime import SparkRun

        texts = [source.text for source in [*pipeline.sources, *pipeline.tables]] + [
            view.text for view in self.catalog.views()
        ]
        run = SparkRun(
            pipeline,
            sink,
            master=settings.master,
            checkpoint=settings.checkpoint,
            script="\n".join(texts),
            register=register,
        )
        return run.run(stopped=stopped, watch=watch)

    def pipeline(self, plans: Sequence[ViewPlan], settings: Settings) -> Pipeline:
        """The sources that the views read, opened, and the views cut into stages."""
        read = {source.name: source for plan in plans for source in plan.sources}
        read |= {source.name: source for source in self._subscribed()}
        if not read:
            raise InputError("there is no view to run; add one with CREATE MATERIALIZED VIEW")
        own = [source for source in read.values() if source.connector != "spark" or settings.runtime != "spark"]
        foreign = tuple(source for source in read.values() if source not in own)
        connectors = tuple(self._opened(source) for source in own)
        tables = {table.name: table for plan in plans for table in plan.tables}
        views = tuple(_with_its_folder(cut_into_stages(plan), self._base) for plan in share(plans))
        return Pipeline(connectors, views, settings.step_rows, foreign, tuple(tables.values()), self._base)

    @property
    def _takes_subscriptions(self) -> bool:
        """Whether there are subscriptions, or may be before a run ends: others can write into a project."""
        return self.catalog.url is not None or self.catalog.subscriptions.version > 0

    def _subscribed(self) -> list[Source]:
        """The streams that are subscribed to by now."""
        wanted = self.catalog.subscriptions.streams()
        return [source for source in self.catalog.sources() if source.name in wanted]

    def _registered(self, pipeline: Pipeline, folder: Path) -> RegistryPlace:
        """A place for versions of the registry, with the first in it."""
        streams = tuple(source for source in pipeline.own_sources if not source.is_table)
        place = RegistryPlace(folder, streams, self.catalog.url)
        version = self.catalog.subscriptions.version
        place.begin(self.catalog.subscriptions.all(), version)
        return place

    def _opened(self, source: Source) -> Connector:
        connector = open_connector(source, self._base)
        self.catalog.put_sensors(source.name, connector.sensors())
        return connector


def _with_its_folder(view: Stages, base: Path) -> Stages:
    """The view with the folder it spills to, if it does, as every process finds it."""
    if not isinstance(view.state, Join) or not isinstance(view.state.overload, Spilling):
        return view
    spilling = view.state.overload
    found = replace(spilling, folder=str((base / spilling.folder).resolve()))
    return replace(view, state=replace(view.state, overload=found))


@dataclass(frozen=True)
class StandingView:
    """A view's answers, as they come."""

    database: Database
    plan: ViewPlan

    def stream(self, *, step_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """Run the view in this process and give its answers, a batch a step that has any."""
        settings = Settings("fjord", step_rows=step_rows)
        run = FjordRun(self.database.pipeline([self.plan], settings), MemorySink())
        for _, answers in run.steps():
            if self.plan.name in answers:
                yield answers[self.plan.name]
