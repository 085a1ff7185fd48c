"""Views that come and go while a run goes on.

A run looks into its catalogue between two steps. What has come and gone there makes another version of its views, which
stands in the position of the next step, so that all who read the step see the same views, and see them again if the
step is repeated. What a version is lies in a folder of the run, written before a step can name it:

    000000000000.base    all views, as text        000000000001.changes   000000000002.changes   what each changes

Views that come are planned and tried out here. One that cannot be answered is refused with the reason; the others, and
the run, go on.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skerry.build.cut import CutView
from skerry.catalog import Catalog, Source, View, ViewNews
from skerry.errors import CatalogError, CheckpointError, SkerryError
from skerry.history.writer import HistoryWriter
from skerry.lang.sql import Session
from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, list_answered
from skerry.pipeline.pipeline_builder import PipelineBuilder
from skerry.pipeline.view_planner import ViewPlanner, describe_source, leave_group
from skerry.pipeline.view_set import Group, ViewChange, ViewSet
from skerry.pipeline.view_trial import Candidate, ViewTrial
from skerry.plan.limits import Limits
from skerry.plan.sharing import Copy
from skerry.plan.view import ViewPlan
from skerry.replay.replay import Inputs
from skerry.sources.source import Connector
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["ViewVersions", "is_kept_in"]

_NO_FIRST = "is missing, or has no first version of the views"

_CHANGES_A_BASE = 100
_log = logging.getLogger(__name__)

Listener = Callable[[Sequence[ViewPlan], Sequence[str]], None]
"""Is told the plans of views that come, and the names of those that go."""


class ViewVersions:
    """The versions of a run's views, where its steps are planned.

    ``pipeline`` gives that of a version. ``refused`` are the views that are not answered, and why. Listeners are told
    the plans of views that come, and the names of those that go.
    """

    def __init__(self, catalog: Catalog, limits: Limits, builder: PipelineBuilder) -> None:
        self._catalog, self._builder = catalog, builder
        self._planner = ViewPlanner(catalog, limits, builder)
        self._receive: Callable[[Sequence[Connector]], None] = lambda connectors: None
        self._files: SealedFolder | None = None
        self._sets: dict[int, ViewSet] = {}
        self._changes: dict[int, ViewChange] = {}
        self._pipelines: dict[int, Pipeline] = {}
        self.newest = 0
        self.refused: dict[str, str] = {}
        self._listeners: Sequence[Listener] = ()
        with catalog.all_or_nothing():  # before anything is planned: what comes later is taken up later
            self._first_views = {view.name: view for view in catalog.views()}
            self._first_catalogue = catalog.view_log.version

    def begin(self, plans: Sequence[ViewPlan], listeners: Sequence[Listener] = ()) -> None:
        """Know what the views mean that a run begins with, and whom to tell of others."""
        self._planner.plans |= {plan.name: plan for plan in plans}
        self._listeners = listeners

    def start(
        self,
        files: SealedFolder | None,
        version: int,
        first: Pipeline,
        fit: Callable[[Connector], Connector],
        register: Callable[[Sequence[Source]], RegistryFolder] | None = None,
        *,
        seen: int | None = None,
    ) -> Pipeline:
        """Begin with a pipeline; or, if a run that went before has left versions, go on with one of these.

        ``seen`` is the newest version that steps which come again see, if there are such steps: it must be there.

        ``fit`` makes what a runtime needs of a connector that was opened. ``register`` makes the registry of
        subscriptions to some streams: those that the run began with. The versions after the one that a run goes on
        with, of steps that come again, are known then, too.
        """
        self._files, self._planner.fit = files, fit
        self._planner.folder = files.path.parent if files else Path()
        is_kept = files is not None and is_kept_in(files.path)
        if files is not None and seen is not None and not is_kept:
            raise CheckpointError(str(files.path), _NO_FIRST)
        found = self._read_set(version) if is_kept else self._describe_first(first)
        first = (
            self._planner.plan_set(found) if is_kept else replace(first, connectors=tuple(map(fit, first.connectors)))
        )
        streams = [source for source in first.own_sources if source.name in found.streams]
        self._sets, self.newest = {version: found}, version
        self._pipelines = {version: replace(first, registry=register(streams) if register else None)}
        if files is not None:
            if not is_kept:
                self._write_base(found)
            while files.file(_name(self.newest + 1)).exists():
                self._enter(ViewChange.from_json(json.loads(files.read(_name(self.newest + 1)))))
            if seen is not None and self.newest < seen:
                raise CheckpointError(str(files.file(_name(self.newest + 1))), "is missing")
        if is_kept:
            running = [self._planner.plans[name] for name in self._sets[self.newest].numbers]
            for listener in self._listeners:
                listener(running, ())
        return self._pipelines[version]

    def record_with(self, history: HistoryWriter) -> None:
        """Have what is accepted kept."""
        self._pipelines = {version: replace(each, history=history) for version, each in self._pipelines.items()}

    def receive(self, receive: Callable[[Sequence[Connector]], None]) -> None:
        """Have what is sent to sources received as soon as views come that read them: one that fails is refused."""
        self._receive = receive

    def read_kept(self, files: SealedFolder) -> Pipeline:
        """The pipeline that a run which went before has had last, before anything of it is taken up."""
        self._files, self._planner.folder = files, files.path.parent
        versions = [int(path.stem) for path in files.path.glob("*.*") if path.stem.isdigit()]
        return self._planner.plan_set(self._read_set(max(versions)))

    @property
    def plans(self) -> Sequence[ViewPlan]:
        """What the views mean that are answered."""
        return list(self._planner.plans.values())

    def _describe_first(self, first: Pipeline) -> ViewSet:
        """The views that a run begins with."""
        views, session = self._first_views, self._planner.open_session(self._first_views.values())
        groups = {
            number: Group(number, *_list_members(first.list_answered(cut), views, session, self._planner.plans))
            for number, cut in first.views_by_number.items()
        }
        sources = {connector.definition.name: describe_source(connector) for connector in first.connectors}
        sources |= {source.name: source.text for source in (*first.foreign, *first.tables) if source.text}
        streams = tuple(source.name for source in first.own_sources if not source.is_table)
        return ViewSet(0, self._first_catalogue, groups, len(groups), sources, streams)

    def pipeline(self, version: int) -> Pipeline:
        """The pipeline of a version."""
        return self._pipelines[version]

    def next_version(self, version: int) -> int:
        """The version of the next step, from that of the step before: what has changed by now is taken up."""
        return max(version, self.look())

    def look(self) -> int:
        """Take up what has changed in the catalogue; give the newest version.

        While somebody else has the catalogue to himself there is nothing new.
        """
        try:
            with self._catalog.all_or_nothing():
                changed = self._catalog.view_log.since(self._sets[self.newest].catalogue)
                if changed:
                    self._take_up(list(changed), max(changed.values()))
        except CatalogError as error:
            _log.warning("changes of views wait: %s", error)
        return self.newest

    def inputs(self, version: int) -> Inputs:
        """What a version reads."""
        pipeline = self._pipelines[version]
        return Inputs(pipeline.connectors, pipeline.most_lags)

    def sum_up(self, before: int, version: int, batch: int) -> Outcome:
        """What came and went with a batch, which sees a version where the batch before has seen another."""
        outcome = Outcome(views=version)
        for number in range(before + 1, version + 1):
            if change := self._changes.get(number):
                came, went = dict.fromkeys(change.came_names, batch), dict.fromkeys(change.went_names, batch)
                outcome = outcome.then(Outcome(came=came, went=went))
        return outcome

    def note_batch(self, run: str, batch: int, changes: Outcome) -> None:
        """Let the catalogue know what came and went with a batch."""
        went = [ViewNews(name, run, batch, "went") for name in changes.went]
        came = [ViewNews(name, run, batch, "came") for name in changes.came if name in self._planner.plans]
        self._put_news([*went, *came])

    def forget(self, version: int) -> None:
        """No step before this version comes again."""
        if version == min(self._sets):
            return
        for old in [known for known in self._sets if known < version]:
            del self._sets[old], self._pipelines[old]
            self._changes.pop(old, None)
        files = self._files
        if files is None:
            return
        old_changes = [path for path in files.path.glob("*.changes") if int(path.stem) <= version]
        if len(old_changes) >= _CHANGES_A_BASE:
            self._write_base(self._sets[version])
            for path in [*old_changes, *files.path.glob("*.base")]:
                if int(path.stem) < version:
                    path.unlink()

    def _take_up(self, changed: Sequence[str], catalogue: int) -> None:
        """Make another version of what has changed in the catalogue."""
        before = self._sets[self.newest]
        numbers, views = before.numbers, {view.name: view for view in self._catalog.views()}
        session = self._planner.open_session(views.values())
        names = [*changed, *self._list_restarted(changed, views, session)]
        went = tuple((numbers[name], name) for name in names if name in numbers)
        change = ViewChange(self.newest + 1, catalogue, went=went)
        for name in names:
            self.refused.pop(name, None)
        found = [self._try(views[name], session) for name in names if name in views]
        candidates = [candidate for candidate in found if candidate]
        try:
            change, pipeline = self._make(before, change, candidates, session)
        except Exception:  # which of them it is shows one by one
            change, pipeline = self._make_one_by_one(before, change, candidates, session)
        if self._files is not None:
            self._files.write(_name(change.version), json.dumps(change.to_json()).encode())
        self._keep(change, pipeline)
        self._tell(change, [candidate.plan for candidate in candidates if candidate.view.name in change.came_names])

    def _list_restarted(self, changed: Sequence[str], views: Mapping[str, View], session: Session) -> list[str]:
        """The views that read one that has changed, and mean something else by that."""
        found = []
        for group in self._sets[self.newest].groups.values():
            if not {view.name for view in group.read}.isdisjoint(changed):
                unchanged = [name for name in group.names if name not in changed and name in views]
                found += [name for name in unchanged if self._means_something_else(name, session)]
        return found

    def _means_something_else(self, name: str, session: Session) -> bool:
        try:
            return session.plan(name) != self._planner.plans.get(name)
        except SkerryError:
            return True

    def _try(self, view: View, session: Session) -> Candidate | None:
        """Plan a view and try it out; None if it is refused."""
        try:
            found = self._make_trial().try_out(view, session, self._sets[self.newest].sources)
            self._receive(list(found.connectors.values()))
        except SkerryError as error:
            self._refuse(view.name, str(error))
        except Exception as error:  # whatever it is, the other views go on
            _log.exception("view %r cannot be answered", view.name)
            self._refuse(view.name, f"{type(error).__name__}: {error}")
        else:
            return found
        return None

    def _make_trial(self) -> ViewTrial:
        return ViewTrial(self._pipelines[self.newest], self._builder, self._catalog, self._planner.fit)

    def _refuse(self, name: str, reason: str) -> None:
        _log.warning("view %r is not answered: %s", name, reason)
        self.refused[name] = reason
        self._put_news([ViewNews(name, "", -1, "refused", reason)])

    def _put_news(self, news: Sequence[ViewNews]) -> None:
        try:
            with self._catalog.all_or_nothing():
                self._catalog.view_log.put_news(news)
        except CatalogError as error:
            _log.warning("the catalogue does not know yet which views are answered: %s", error)

    def _make_one_by_one(
        self,
        before: ViewSet,
        change: ViewChange,
        candidates: Iterable[Candidate],
        session: Session,
    ) -> tuple[ViewChange, Pipeline]:
        """The same for all candidates but those with which there would be no pipeline."""
        good: list[Candidate] = []
        for candidate in candidates:
            try:
                self._make(before, change, [*good, candidate], session)
                good.append(candidate)
            except Exception as error:  # whatever it is, the other views go on
                self._refuse(candidate.view.name, str(error))
        return self._make(before, change, good, session)

    def _make(
        self,
        before: ViewSet,
        change: ViewChange,
        candidates: Sequence[Candidate],
        session: Session,
    ) -> tuple[ViewChange, Pipeline]:
        """The change with these candidates, and the pipeline after it."""
        plans = [candidate.plan for candidate in candidates]
        shared, copies = self._builder.share(plans)
        cuts = [candidate.cut for candidate in candidates]
        if len(shared) < len(plans):
            cuts = [self._builder.cut(plan) for plan in shared]
        views = {candidate.view.name: candidate.view for candidate in candidates}
        came = [
            Group(
                number, *_list_members(list_answered(cut, copies), views, session, {plan.name: plan for plan in plans})
            )
            for number, cut in enumerate(cuts, before.next_number)
        ]
        connectors = {name: each for candidate in candidates for name, each in candidate.connectors.items()}
        trial = self._make_trial()
        tables = {table.name: table for plan in plans for table in plan.tables if not trial.has_table(table)}
        sources = {name: describe_source(connector) for name, connector in connectors.items()}
        sources |= {table.name: table.text for table in tables.values() if table.text}
        made = replace(change, came=tuple(came), sources=sources)
        after = before.then(made)
        known = {group.number: cut for group, cut in zip(came, cuts, strict=True)}
        return made, self._build(after, known, copies, list(connectors.values()), list(tables.values()))

    def _build(
        self,
        after: ViewSet,
        came: Mapping[int, CutView],
        copies: Sequence[Copy],
        connectors: Sequence[Connector],
        tables: Sequence[Source],
    ) -> Pipeline:
        """The pipeline of the version after the newest."""
        before, pipeline = self._sets[self.newest], self._pipelines[self.newest]
        cuts, found = dict(came), list(copies)
        for number in after.groups.keys() - came.keys():
            cut, gone = pipeline.views_by_number[number], after.groups[number].gone[len(before.groups[number].gone) :]
            cuts[number], rest = leave_group(cut, pipeline.list_copies(cut), gone)
            found += rest
        return replace(
            pipeline,
            connectors=(*pipeline.connectors, *connectors),
            tables=(*pipeline.tables, *tables),
            views=tuple(cuts[number] for number in after.groups),
            numbers=tuple(after.groups),
            copies=tuple(found),
        ).keep_selections(pipeline)

    def _enter(self, change: ViewChange) -> None:
        """Take a version up that was written down before."""
        planned = {group.number: self._planner.plan_group(group) for group in change.came}
        came = {number: cut for number, (cut, _) in planned.items()}
        copies = [copy for _, each in planned.values() for copy in each]
        connectors, _ = self._planner.reopen(change.sources)
        trial = self._make_trial()
        tables = {table.name: table for cut in came.values() for table in cut.view.tables if not trial.has_table(table)}
        after = self._sets[self.newest].then(change)
        self._keep(change, self._build(after, came, copies, connectors, list(tables.values())))

    def _keep(self, change: ViewChange, pipeline: Pipeline) -> None:
        before = self._sets[self.newest]
        self._sets[change.version], self._changes[change.version] = before.then(change), change
        self._pipelines[change.version] = pipeline
        self.newest = change.version

    def _tell(self, change: ViewChange, plans: Sequence[ViewPlan]) -> None:
        for name in change.went_names:
            self._planner.plans.pop(name, None)
        self._planner.plans |= {plan.name: plan for plan in plans}
        for listener in self._listeners:
            listener(plans, change.went_names)

    def _read_set(self, version: int) -> ViewSet:
        """The views of a version, from the last base and what has changed since."""
        assert self._files is not None
        bases = [int(path.stem) for path in self._files.path.glob("*.base")]
        base = max((number for number in bases if number <= version), default=None)
        if base is None:
            raise CheckpointError(str(self._files.path), _NO_FIRST)
        found = ViewSet.from_json(json.loads(self._files.read(f"{base:012}.base")))
        for number in range(base + 1, version + 1):
            found = found.then(ViewChange.from_json(json.loads(self._files.read(_name(number)))))
        return found

    def _write_base(self, found: ViewSet) -> None:
        assert self._files is not None
        self._files.write(f"{found.version:012}.base", json.dumps(found.to_json()).encode())


def is_kept_in(folder: Path) -> bool:
    """Whether a run has left versions in a folder."""
    return any(folder.glob("*.base"))


def _name(version: int) -> str:
    return f"{version:012}.changes"


def _list_members(
    names: Sequence[str], views: Mapping[str, View], session: Session, plans: Mapping[str, ViewPlan]
) -> tuple[tuple[View, ...], tuple[View, ...]]:
    """Some views, and those that they read, directly or not."""
    found: dict[str, View] = {}
    waiting = [read for name in names for read in plans[name].views]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = session.catalog.view(name)
            waiting += (plans.get(name) or session.plan(name)).views
    return tuple(views[name] for name in names), tuple(found.values())
