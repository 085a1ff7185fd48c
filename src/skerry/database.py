"""What a Python program uses: a catalogue that can be asked, told and run."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from skerry.build.cut import cut_view
from skerry.catalog import Catalog, Source, Subscription
from skerry.errors import InputError, OptionError, SetupError, SkerryError
from skerry.fjord.runtime import FjordRuntime
from skerry.lang.sql import Session
from skerry.model.batch import as_batch
from skerry.model.bulk_load import load_in_bulk
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import Micros
from skerry.pipeline.outcome import Outcome, Tally
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.runtime import RunOptions, RuntimeClass, never
from skerry.pipeline.sensors_at_work import SensorsAtWork
from skerry.pipeline.why import explain_why
from skerry.plan.limits import Limits
from skerry.plan.rewrites.narrow_lookups import narrow_lookups
from skerry.plan.rewrites.resolve_paths import resolve_paths
from skerry.plan.sharing import share
from skerry.plan.view import ViewPlan
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink
from skerry.sources.connectors import CONNECTORS, open_connector
from skerry.sources.source import Connector
from skerry.subscriptions.versions import RegistryFolder

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RUNTIMES", "Database", "QueryResult", "Settings", "StandingView", "connect"]

_RUNTIMES = {
    "spark": "skerry.spark.runtime:SparkRuntime",
    "fjord": "skerry.fjord.runtime:FjordRuntime",
    "network": "skerry.network.views.runtime:NetworkRuntime",
}
"""Runtimes by name. One is loaded when it is asked for: to load Spark takes seconds."""
RUNTIMES = tuple(_RUNTIMES)
_MOST_BUCKETS = 1024
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How to run: on which runtime, where on a cluster, in what steps, and what to keep for a restart."""

    runtime: str = "spark"
    master: str = "local[*]"
    checkpoint: Path | None = None
    step_rows: int = 1_000_000
    buckets: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if self.runtime not in RUNTIMES:
            raise OptionError(f"unknown runtime {self.runtime!r}; known are {', '.join(RUNTIMES)}")
        if self.step_rows < 1:
            raise OptionError("a step needs at least one row, got", self.step_rows)
        if self.buckets is not None and self.runtime != "spark":
            raise OptionError(f"the {self.runtime} runtime has no buckets; use --runtime spark, or leave --buckets out")
        if self.buckets is not None and not 1 <= self.buckets <= _MOST_BUCKETS:
            raise OptionError(f"state is spread over 1 to {_MOST_BUCKETS} buckets, got", self.buckets)


def _load_runtime(name: str) -> RuntimeClass:
    module, _, runtime = _RUNTIMES[name].partition(":")
    found: RuntimeClass = getattr(import_module(module), runtime)
    return found


def connect(project: str | Path | None = None, limits: Limits | None = None) -> "Database":
    """Open a project folder, or a catalogue in memory. ``limits`` count before those of its rules and of the project.

    >>> db = connect()
    >>> db.execute("CREATE SOURCE t (a INT) WITH (connector='sim', kind='traffic')")
    >>> [source.name for source in db.catalog.sources()]
    ['t']
    """
    if project is None:
        return Database(Catalog.in_memory(), Path.cwd(), limits)
    return Database(Catalog.of_project(Path(project)), Path(project), limits)


class Database:
    """A catalogue, the folder that its relative paths start from, and limits for its rules that count before others."""

    def __init__(self, catalog: Catalog, base: Path, limits: Limits | None = None) -> None:
        self.catalog, self._base = catalog, base
        self._session = Session(catalog, base, limits, self._list_sensors)

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self._base

    def execute(self, script: str, answered: Callable[[pa.Table], None] = lambda table: None) -> None:
        """Carry out SQL statements; ``answered`` is given the rows of each SELECT over the catalogue."""
        self._session.execute(script, answered)

    def sql(self, query: str) -> "QueryResult":
        """Answer a SELECT over the catalogue: sensors, sources, views, subscriptions.

        >>> db = connect()
        >>> db.execute("CREATE SOURCE t (sensor VARCHAR) WITH (connector='sim', sensors='4')")
        >>> db.sql("SELECT count(*) AS sensors FROM sensors WHERE 'i80' = ANY(tags)").to_arrow().to_pylist()
        [{'sensors': 4}]
        """
        return QueryResult(self._session.select(query))

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Enter subscriptions: all, or if one of them is wrong none. A run takes them up with its next batch."""
        with self.catalog.all_or_nothing(), load_in_bulk():
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
        return explain_why(self._session.plan(view), question, at, self._answer)

    def _answer(self, plans: Sequence[ViewPlan]) -> dict[str, pa.RecordBatch]:
        """All answers of some plans, found in this process."""
        sink = MemorySink()
        FjordRuntime(self.pipeline(plans, Settings("fjord")), sink, RunOptions(catalog=self.catalog)).run()
        return {plan.name: as_batch(sink.table(plan.name)) for plan in plans}

    def run(
        self,
        sink: Sink,
        settings: Settings | None = None,
        *,
        stopped: Callable[[], bool] = never,
        watch: Callable[[Outcome], None] | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> Outcome:
        """Run all views until their input is used up, or until ``stopped`` says so.

        ``watch`` is told after each batch how far the run has come, ``note`` what takes long before the first.
        """
        settings = settings or Settings()
        plans = self.plans()
        pipeline = self.pipeline(plans, settings)
        register = partial(self._make_registry, pipeline) if self._takes_subscriptions else None
        script = self._describe(pipeline) if settings.checkpoint else ""
        sensors = SensorsAtWork(self.catalog, plans) if pipeline.live else None
        options = RunOptions(
            settings.master, settings.checkpoint, script, register, settings.buckets, self.catalog, sensors, note
        )
        outcome = _load_runtime(settings.runtime)(pipeline, sink, options).run(stopped=stopped, watch=watch)
        silent = {source.name: Tally() for source in pipeline.sources if not source.is_table}
        return outcome.then(Outcome(silent, answers={plan.name: 0 for plan in plans}))

    def pipeline(self, plans: Sequence[ViewPlan], settings: Settings) -> Pipeline:
        """The sources that the views read, opened, and the views cut into stages."""
        plans = [narrow_lookups(plan) for plan in plans]
        read = {source.name: source for plan in plans for source in plan.sources}
        read |= {source.name: source for source in self._list_subscribed()}
        if not read:
            raise InputError("there is no view to run; add one with CREATE MATERIALIZED VIEW")
        # A connector with the name of a runtime is one that this runtime alone can read.
        own = [source for source in read.values() if source.connector != settings.runtime]
        foreign = tuple(source for source in read.values() if source not in own)
        connectors = tuple(self._open(source) for source in own)
        tables = {table.name: table for plan in plans for table in plan.tables}
        views = tuple(cut_view(resolve_paths(plan, self._base)) for plan in share(plans))
        made = Pipeline(connectors, views, settings.step_rows, foreign, tuple(tables.values()), self._base)
        return made.divide(settings.step_rows)

    @property
    def has_queries(self) -> bool:
        """Whether there is anything to run."""
        return bool(self.catalog.views() or self.catalog.subscriptions.streams())

    @property
    def _takes_subscriptions(self) -> bool:
        """Whether there are subscriptions, or may be before a run ends: others can write into a project."""
        return self.catalog.url is not None or self.catalog.subscriptions.version > 0

    def _list_subscribed(self) -> list[Source]:
        """The streams that are subscribed to by now."""
        wanted = self.catalog.subscriptions.streams()
        return [source for source in self.catalog.sources() if source.name in wanted]

    def _describe(self, pipeline: Pipeline) -> str:
        """All that the answers of a run follow from, as text, so that a run that goes on can see that it is the same.

        Of input that may grow while a run goes on, tables and the subscriptions of a project, nothing is said.
        """
        texts = [source.text for source in (*pipeline.sources, *pipeline.tables)]
        for view in self.catalog.views():
            texts += [view.text or f"{view.name} {sorted(view.options.items())}", view.program]
        texts += [f"source {each.definition.name} reads {each.inventory()}" for each in pipeline.connectors]
        if self.catalog.url is None:
            texts += [_describe_subscriptions(self.catalog.subscriptions.all())]
        return "\n".join(text for text in texts if text)

    def _make_registry(self, pipeline: Pipeline, files: SealedFolder, resumed: bool) -> RegistryFolder:
        """A folder for versions of the registry, with the first in it."""
        streams = tuple(source for source in pipeline.own_sources if not source.is_table)
        registry = RegistryFolder(files.path, streams, self.catalog.url, files.run, files.synced)
        registry.begin(self.catalog.subscriptions.all(), self.catalog.subscriptions.version, resumed=resumed)
        return registry

    def _open(self, source: Source) -> Connector:
        connector = open_connector(source, self._base)
        if sensors := connector.sensors():
            self.catalog.put_sensors(source.name, sensors)
        return connector

    def _list_sensors(self) -> None:
        """Let sources that know their sensors tell them, if nothing is known of them yet."""
        for source in self.catalog.sources():
            if source.connector in CONNECTORS and not self.catalog.sensor_entries.count(source.name):
                try:
                    found = open_connector(source, self._base).sensors()
                except SkerryError as error:
                    _log.debug("the sensors of %r are not known: %s", source.name, error)
                else:
                    self.catalog.sensor_entries.put_known(source.name, found)


def _describe_subscriptions(subscriptions: Sequence[Subscription]) -> str:
    """How many there are, and a digest of what they say."""
    digest = hashlib.sha256(repr(sorted(map(repr, subscriptions))).encode()).hexdigest()
    return f"{len(subscriptions)} subscriptions, sha256 {digest[:16]}" if subscriptions else ""


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query, in the form that is asked for."""

    table: pa.Table

    def to_arrow(self) -> pa.Table:
        """An Arrow table."""
        return self.table

    def to_pandas(self) -> "DataFrame":
        """A pandas frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame, where Polars is installed."""
        try:
            return import_module("polars").from_arrow(self.table)
        except ImportError:
            raise SetupError("to_polars needs Polars: pip install polars") from None


@dataclass(frozen=True)
class StandingView:
    """A view's answers, as they come."""

    database: Database
    plan: ViewPlan

    def stream(self, *, step_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """Run the view in this process and give its answers, a batch per step that has any."""
        settings = Settings("fjord", step_rows=step_rows)
        pipeline, options = self.database.pipeline([self.plan], settings), RunOptions(catalog=self.database.catalog)
        run = FjordRuntime(pipeline, MemorySink(), options)
        for _, answers in run.steps():
            if self.plan.name in answers:
                yield answers[self.plan.name]
