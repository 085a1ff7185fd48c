"""What a Python program uses: a catalogue that can be asked, told and run."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import finalize

import pyarrow as pa

from skerry.catalog import Catalog, Source, Subscription
from skerry.database.function_watch import FunctionWatch
from skerry.database.live_answers import LiveAnswers
from skerry.database.query_result import QueryResult
from skerry.database.registered_tables import RegisteredTables
from skerry.database.running_pipeline import RunningPipeline
from skerry.database.settings import Settings, load_runtime
from skerry.database.standing_view import StandingView
from skerry.database.view_sinks import add_view_sinks, find_spark_sinks
from skerry.errors import InputError, OptionError, RunError, SkerryError
from skerry.fjord.runtime import FjordRuntime
from skerry.history.connector import HistoryConnector
from skerry.history.folder import HistoryFolder
from skerry.history.project_tables import ProjectTables, note_answers
from skerry.history.recording_plan import RecordingPlan
from skerry.lang.sql import Session
from skerry.lang.sql.create_source import check_name
from skerry.lang.sql.offered_functions import check_function_name
from skerry.model.backfill_span import read_backfill
from skerry.model.batch import as_batch
from skerry.model.bulk_load import load_in_bulk
from skerry.model.functions import UserFunction, install_functions, list_functions
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import Micros
from skerry.pipeline.checkpoint_folder import describe_difference, read_kept_run
from skerry.pipeline.outcome import Outcome, Tally
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.pipeline_builder import PipelineBuilder
from skerry.pipeline.runtime import RunOptions, never
from skerry.pipeline.sensors_at_work import SensorsAtWork
from skerry.pipeline.view_versions import ViewVersions, is_kept_in
from skerry.plan.limits import Limits
from skerry.plan.view import ViewPlan
from skerry.sinks.files import FileSink
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink
from skerry.sources.connectors import CONNECTORS, open_connector
from skerry.sources.source import Connector
from skerry.sources.spark import SparkConnector, is_live
from skerry.sources.tables import Tables
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["Database", "connect"]

_log = logging.getLogger(__name__)


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
        self.catalog, self._base, self._limits = catalog, base, limits or Limits()
        self._running: RunningPipeline | None = None
        self._private: Path | None = None
        self._is_beside = False
        stored = ProjectTables(base, self._find_schema)
        self._session = Session(catalog, base, limits, self._list_sensors, stored, self._read_table)
        self._registered = RegisteredTables(base, self._find_table_folder)

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self._base

    def execute(self, script: str, answered: Callable[[pa.Table], None] = lambda table: None) -> None:
        """Carry out SQL statements; ``answered`` is given the rows of each SELECT over the catalogue."""
        self._session.execute(script, answered)

    def sql(self, query: str) -> QueryResult:
        """Answer a SELECT over the catalogue (sensors, sources, views, subscriptions), tables, history and answers.

        A stream's accepted readings are ``history.STREAM``, a view's answers ``answers.VIEW``: they can be asked while
        the pipeline runs.

        >>> db = connect()
        >>> db.execute("CREATE SOURCE t (sensor VARCHAR) WITH (connector='sim', sensors='4')")
        >>> db.sql("SELECT count(*) AS sensors FROM sensors WHERE 'i80' = ANY(tags)").to_arrow().to_pylist()
        [{'sensors': 4}]
        """
        return QueryResult(self._session.select(query))

    def register(self, name: str, frame: object) -> None:
        """Let SQL read a pandas or Polars frame or an Arrow table as a table; a run that goes on sees it when replaced.

        Its rows are written down: in the project, where they stay, or for as long as this program has the database.

        >>> db = connect()
        >>> db.register("devices", pa.table({"id": ["a", "b"], "room": [1, 2]}))
        >>> db.sql("SELECT id FROM devices WHERE room = 2").to_arrow().to_pylist()
        [{'id': 'b'}]
        """
        self._registered.write(check_name(name).lower(), frame, self.execute)

    def unregister(self, name: str) -> None:
        """Drop a registered table, and its rows."""
        self._registered.remove(name.lower(), self.execute)

    def create_function(self, name: str, call: Callable[..., Any], parameters: Sequence[str], result: str) -> None:
        """Let SQL call a function of this program: Arrow arrays in, an Arrow array of the same length out.

        It works row by row, NULL included, and may be replaced while nothing runs. Rows that it raises an error for
        have NULL and are counted. It belongs to this process: no catalogue holds it.

        >>> import pyarrow.compute as pc
        >>> db = connect()
        >>> db.create_function("halve", lambda speed: pc.divide(speed, 2), ["DOUBLE"], "DOUBLE")
        >>> db.sql("SELECT halve(3) AS half").to_arrow().to_pylist()
        [{'half': 1.5}]
        """
        if self.running:
            raise RunError(f"function {name!r} cannot be created while a pipeline runs; stop it first")
        made = UserFunction.of(name, call, parameters, result)
        check_function_name(name)
        install_functions([made])

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

    def view(self, name: str) -> StandingView:
        """One view, to be read."""
        return StandingView(self, self._session.plan(name))

    def why(self, view: str, question: str, at: Micros | None = None) -> str:
        """Why a tuple holds in a view made of rules, at a moment or as of the last reading; or why it does not."""
        from skerry.pipeline.why import explain_why  # the engine of rules is loaded when it is asked something

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
        script: str = "",
    ) -> Outcome:
        """Run all views until their input is used up, or until ``stopped`` says so.

        Views that come and go meanwhile are taken up between two batches. ``watch`` is told after each batch how far
        the run has come, ``note`` what takes long before the first. ``script`` is what a run of a project was asked
        for: with a checkpoint, one that goes on must be asked for the same.
        """
        settings = settings or Settings()
        with self._follow_views(settings) as views:
            kept = self._find_kept_views(settings) if views else None
            plans = [] if kept else self.plans()
            _check_backfill(plans, settings)
            pipeline = views.read_kept(kept) if views and kept else self.pipeline(plans, settings)
            identity = script if self._may_change(settings) else self._describe(pipeline) if settings.checkpoint else ""
            record = self._plan_recording(pipeline, settings)
            files = sink.beside if isinstance(sink, LiveAnswers) else sink
            if isinstance(files, FileSink) and self.catalog.url is not None and settings.span is None:
                note_answers(self._base, files.directory)
            sensors = SensorsAtWork(self.catalog, plans) if pipeline.live else None
            written = find_spark_sinks(views.plans if views and kept else plans, settings.runtime)
            sink = add_view_sinks(sink, written)
            options = RunOptions(
                settings.master,
                settings.checkpoint,
                identity,
                self._make_registry if self._takes_subscriptions else None,
                settings.buckets,
                settings.scheduler,
                settings.processes,
                self.catalog,
                sensors,
                note,
                record.begin if record else None,
                (*map(SparkConnector.parse, pipeline.foreign), *written.values()),
                settings.spark_packages,
                settings.spark_jars,
                views,
                backfill=settings.span is None,
            )
            if views:
                views.begin(plans, [sensors.change_views] if sensors else [])
            tell = FunctionWatch(watch)
            outcome = load_runtime(settings.runtime)(pipeline, sink, options).run(stopped=stopped, watch=tell)
        answered = {plan.name: 0 for plan in plans} | dict.fromkeys(outcome.came, 0)
        silent = {source.name: Tally() for source in pipeline.sources if not source.is_table}
        return outcome.then(Outcome(silent, answers=answered, refused=views.refused if views else {}))

    def has_begun(self, settings: Settings, script: str) -> bool:
        """Whether a run of this project that a script asks for goes on from a checkpoint; refuse another script.

        What such a script says was carried out when the run began. Since then the project may have changed.
        """
        run = self._find_kept_run(settings)
        if run is None or settings.checkpoint is None:
            return False
        if run["script"] != script:
            raise InputError(describe_difference(settings.checkpoint, run["script"], script))
        return True

    def _find_kept_run(self, settings: Settings) -> dict[str, str] | None:
        """The run that a checkpoint keeps, if its views are those of a project, which may come and go."""
        run = read_kept_run(settings.checkpoint) if settings.checkpoint and self._may_change(settings) else None
        return run if run and run.get("runtime") == settings.runtime else None

    def _may_change(self, settings: Settings) -> bool:
        """Whether others may change the views of a run while it goes on, and before it does so again."""
        return self.catalog.url is not None and self._follows_views(settings)

    @contextmanager
    def _follow_views(self, settings: Settings) -> Iterator[ViewVersions | None]:
        """What takes up views that come and go while a run goes on, where that is offered."""
        if not self._follows_views(settings):
            yield None
            return
        catalog = self.catalog.reopen()
        try:
            yield ViewVersions(catalog, self._limits, self._make_builder(catalog, settings))
        finally:
            if catalog is not self.catalog:
                catalog.close()

    def _follows_views(self, settings: Settings) -> bool:
        """Whether views may come and go while a run goes on: not with several processes, nor if history is replayed.

        On Spark that takes a stage for state from the start, and a folder that all nodes see. So it is offered where
        somebody else may change views, and to a program where there is such a folder.
        """
        if settings.processes > 1 or settings.span or settings.runtime == "network":
            return False
        has_folder = settings.checkpoint is not None or settings.master.startswith("local")
        return settings.runtime == "fjord" or self.catalog.url is not None or (self._is_beside and has_folder)

    def _find_kept_views(self, settings: Settings) -> SealedFolder | None:
        """The versions of the views that an earlier run of this project has left, if it has.

        Without a project, what a script says is what a run begins with, and what its checkpoint is compared with.
        """
        run = self._find_kept_run(settings)
        files = SealedFolder(settings.checkpoint / "views", run["run"]) if settings.checkpoint and run else None
        return files if files and is_kept_in(files.path) else None

    @property
    def running(self) -> RunningPipeline | None:
        """The pipeline that runs in the background, if one does."""
        return self._running if self._running and self._running.is_running else None

    def start(
        self, settings: Settings | None = None, *, sink: Sink | None = None, keep_rows: int = 1_000_000
    ) -> RunningPipeline:
        """Run all views in the background, as a block; its end stops them. In this process, unless settings say else.

        Of each view the newest ``keep_rows`` answers are kept in memory; a ``sink`` is given all of them.

        >>> db = connect()
        >>> db.execute("CREATE SOURCE t (speed DOUBLE) WITH (connector='sim', duration='1min')")
        >>> db.execute("CREATE MATERIALIZED VIEW slow AS SELECT speed FROM t WHERE speed < 20")
        >>> with db.start() as pipeline:
        ...     pipeline.view("slow").wait(rows=10).schema.names
        ['speed']
        """
        if self.running:
            raise RunError("a pipeline of this database runs already; stop it first")
        if keep_rows < 1:
            raise OptionError("keep_rows must be 1 or more, got", keep_rows)
        answers = LiveAnswers(keep_rows, sink)
        run = partial(self._run_beside, answers, settings or Settings("fjord"))
        self._running = RunningPipeline(run, answers, self._session.plan)
        return self._running

    def _run_beside(
        self, sink: Sink, settings: Settings, stopped: Callable[[], bool], watch: Callable[[Outcome], None]
    ) -> Outcome:
        """Run in another thread than others use the catalogue in: by a connection of its own, if it is a file."""
        catalog = self.catalog.reopen()
        try:
            beside = Database(catalog, self._base, self._limits)
            beside._is_beside = True
            return beside.run(sink, settings, stopped=stopped, watch=watch)
        finally:
            if catalog is not self.catalog:
                catalog.close()

    def pipeline(self, plans: Sequence[ViewPlan], settings: Settings) -> Pipeline:
        """The sources that the views read, opened, and the views cut into stages."""
        builder = self._make_builder(self.catalog, settings)
        if settings.span is None:
            return builder.build(plans, self._list_subscribed())
        span = settings.span
        # Replayed batch by batch, views see what they saw live.
        return replace(
            builder.build(plans, self._list_subscribed(), lambda source: self._open_history(source, span)), step_rows=1
        )

    def _make_builder(self, catalog: Catalog, settings: Settings) -> PipelineBuilder:
        return PipelineBuilder(catalog, self._base, settings.runtime, settings.step_rows)

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
        texts += [each.signature for each in list_functions() if re.search(rf"(?i)\b{each.name}\b", "\n".join(texts))]
        texts += [f"source {each.definition.name} reads {each.inventory()}" for each in pipeline.connectors]
        if self.catalog.url is None:
            texts += [_describe_subscriptions(self.catalog.subscriptions.all())]
        return "\n".join(text for text in texts if text)

    def _make_registry(self, files: SealedFolder, streams: Sequence[Source], resumed: bool) -> RegistryFolder:
        """A folder for versions of the registry, with the first in it."""
        registry = RegistryFolder(files.path, tuple(streams), self.catalog.url, files.run, files.synced)
        registry.begin(self.catalog.subscriptions.all(), self.catalog.subscriptions.version, resumed=resumed)
        return registry

    def _plan_recording(self, pipeline: Pipeline, settings: Settings) -> RecordingPlan | None:
        """What is to be kept of the readings of a run, if anything is."""
        if settings.history and self.catalog.url is None:
            raise InputError("history is kept in a project; name its folder with --project DIR")
        if self.catalog.url is None or settings.history is False or settings.runtime == "network" or settings.span:
            return None
        live = {connector.definition.name for connector in pipeline.connectors if connector.live}
        live |= {source.name for source in pipeline.foreign if is_live(source)}
        plan = RecordingPlan.of(self._base, pipeline.sources, live, all_=settings.history is True)
        return plan if plan.streams else None

    def _find_schema(self, name: str) -> pa.Schema | None:
        """The columns of a stream or a view of the catalogue."""
        source = next((each for each in self.catalog.sources() if each.name == name), None)
        if source is not None:
            return source.schema
        is_view = any(view.name == name for view in self.catalog.views())
        return self._session.plan(name).root.schema if is_view else None

    def _open_history(self, source: Source, span: tuple[Micros, Micros]) -> Connector:
        return HistoryConnector.open(source, HistoryFolder(self._base.absolute()), *span)

    def _read_table(self, table: Source) -> pa.RecordBatch:
        return Tables([table], self._base, self.catalog).rows(table.name)

    def _find_table_folder(self) -> Path:
        """Where registered tables are: below the project, or in a folder that goes with this database."""
        if self.catalog.url is not None:
            return Path("tables")
        if self._private is None:
            self._private = make_private_folder()
            finalize(self, remove_private_folder, self._private)
        return self._private

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


def _check_backfill(plans: Sequence[ViewPlan], settings: Settings) -> None:
    """Refuse views that are to begin with history where none is read."""
    found = [plan.name for plan in plans if read_backfill(plan.options) is not None]
    if found and settings.runtime == "network":
        wrong = f"view {found[0]!r} is to begin with history, which a network of motes does not keep"
        raise InputError(f"{wrong}; use --runtime spark or fjord, or leave backfill out")


def _describe_subscriptions(subscriptions: Sequence[Subscription]) -> str:
    """How many there are, and a digest of what they say."""
    digest = hashlib.sha256(repr(sorted(map(repr, subscriptions))).encode()).hexdigest()
    return f"{len(subscriptions)} subscriptions, sha256 {digest[:16]}" if subscriptions else ""
