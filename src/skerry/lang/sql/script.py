"""A script: statements carried out against a catalogue, in order."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType

import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Catalog, Source, Subscription, View
from skerry.catalog.arrow_tables import find_catalog_table, is_catalog_table
from skerry.errors import CatalogError, InputError, SqlError
from skerry.lang.sql.catalog_query import NOTHING_STORED, StoredTables, answer_catalog_query
from skerry.lang.sql.changes import settle_emit
from skerry.lang.sql.create_source import check_name, identifier, options_of, read_source
from skerry.lang.sql.predicates import Predicates
from skerry.lang.sql.query import query_plan
from skerry.lang.sql.statements import Statement, describe_foreign, location_of, read
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.subscriptions import SUBSCRIPTIONS, is_about_subscriptions, read_deleted_ids, read_inserted
from skerry.lang.sql.view_options import check_view_options
from skerry.model.batch import empty
from skerry.model.functions import functions_version
from skerry.model.options import Owner
from skerry.model.sampling import Sampling
from skerry.plan.check_times import check_times
from skerry.plan.limits import Limits
from skerry.plan.rewrites.carry_changes import carry_changes
from skerry.plan.rewrites.merge_selections import merge_selections
from skerry.plan.rewrites.narrow_waiting import narrow_waiting
from skerry.plan.rewrites.push_into_unions import push_into_unions
from skerry.plan.view import ViewPlan

__all__ = ["Session"]

_REWRITES = (push_into_unions, merge_selections, narrow_waiting)
"""What is done to every plan, in order."""


class Session:
    """A catalogue that understands SQL.

    >>> session = Session(Catalog.in_memory())
    >>> session.execute("CREATE SOURCE t (speed DOUBLE) WITH (connector='file', path='t.csv')")
    >>> session.execute("CREATE MATERIALIZED VIEW slow AS SELECT speed FROM t WHERE speed < 30")
    >>> session.plan("slow").root.schema.names
    ['speed']
    """

    def __init__(
        self,
        catalog: Catalog,
        base: Path = Path(),
        limits: Limits | None = None,
        before_select: Callable[[], None] = lambda: None,
        stored: StoredTables = NOTHING_STORED,
        read_table: Callable[[Source], pa.RecordBatch] = lambda table: empty(table.schema),
    ) -> None:
        """``before_select`` is called before the catalogue is asked, to bring it up to date.

        ``stored`` are tables in files, which SELECT can ask too; ``read_table`` gives the rows of a declared one.
        """
        self._before_select, self._stored, self._read_table = before_select, stored, read_table
        self.catalog, self._base, self._limits = catalog, base, limits or Limits()
        self._known: dict[str, tuple[View, ViewPlan, int]] = {}

    def execute(self, script: str, answered: Callable[[pa.Table], None] = lambda table: None) -> None:
        """Carry out all statements. The first wrong one stops the script before it changed anything.

        ``answered`` is given the rows of each SELECT over the catalogue.
        """
        statements = read(script)
        with self.catalog.all_or_nothing():
            for statement in statements:
                with _locate_errors(statement):
                    if isinstance(statement.tree, exp.Query):
                        answered(self._select(statement))
                    else:
                        self._carry_out(statement)

    def select(self, query: str) -> pa.Table:
        """The rows of one SELECT over the catalogue."""
        statements = read(query)
        if len(statements) != 1 or not isinstance(statements[0].tree, exp.Query):
            message = "expected one SELECT; other statements are for skerry run, or execute in Python"
            raise SqlError(_find_listing(query) or message)
        with self.catalog.all_or_nothing(), _locate_errors(statements[0]):
            return self._select(statements[0])

    def _select(self, statement: Statement) -> pa.Table:
        self._before_select()
        return answer_catalog_query(statement, self.catalog, self._read_table, self._stored)

    def plan(self, name: str, within: tuple[str, ...] = ()) -> ViewPlan:
        """What a view of the catalogue means; ``within`` are the views for whose sake that is asked."""
        view = self.catalog.view(name)
        if (known := self._find_known(view)) is not None:
            return known
        tree = read(view.text)[0].tree if view.text else exp.Create()
        assert isinstance(tree, exp.Create)
        return self._bind(view, tree, (*within, name))

    def plans(self) -> list[ViewPlan]:
        """All views, in the order of their creation."""
        return [self.plan(view.name) for view in self.catalog.views()]

    def add_rules(self, file: Path) -> list[str]:
        """Make a view of each output of a rule program, under the name it goes to or its own; give their names."""
        rules = _load_rules()
        program, made = rules.read_program_text(file), []
        with self.catalog.all_or_nothing():
            for output in rules.rules_outputs(program, str(file)):
                options = {"rules": str(file), "output": output.predicate}
                view = View(check_name(output.to or output.predicate), options, program=program)
                self._bind(view, exp.Create(), (view.name,))
                self.catalog.add(view)
                made.append(view.name)
        return made

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Enter subscriptions whose predicates can be asked of their streams."""
        predicates, found = Predicates({source.name: source for source in self.catalog.sources()}), []
        sinks, taken = self.catalog.subscriptions.sinks(), self._outputs()
        for subscription in predicates.check(list(subscriptions)):
            if subscription.sink is not None:
                _check_sink(subscription, subscription.sink, sinks, taken)
            found.append(subscription)
        self.catalog.subscriptions.add(found)

    def remove(self, names: Collection[str]) -> None:
        """Strike views and subscriptions: all, or if one of them is not there or is still read none."""
        views = {view.name for view in self.catalog.views()} & set(names)
        with self.catalog.all_or_nothing():
            for name in views:
                self._drop_unread(name, beside=views)
            self.catalog.subscriptions.remove([name for name in dict.fromkeys(names) if name not in views])

    def _outputs(self) -> set[str]:
        """What receives rows already: views, and what they name, in small letters: folders may not tell case."""
        views = self.catalog.views()
        named = {view.options[option] for view in views for option in ("late_to", "loss_to") if option in view.options}
        found = named | {view.name for view in views} | {SUBSCRIPTIONS, "dead_letters"}
        return {output.casefold() for output in found}

    def _carry_out(self, statement: Statement) -> None:
        tree = statement.tree
        if isinstance(tree, exp.Create) and tree.kind in ("SOURCE", "TABLE"):
            self._create(tree, read_source(statement))
        elif isinstance(tree, exp.Create) and tree.kind == "VIEW":
            self._create_view(tree, statement)
        elif isinstance(tree, exp.Drop) and tree.kind in ("SOURCE", "TABLE", "VIEW"):
            for table in tree.args.get("tables") or [tree.this]:
                self._drop(tree, _own_name(table))
        elif isinstance(tree, exp.Insert) and is_about_subscriptions(tree):
            self.subscribe(read_inserted(tree))
        elif isinstance(tree, exp.Delete) and is_about_subscriptions(tree):
            self.catalog.subscriptions.remove(read_deleted_ids(tree))
        else:
            made = "CREATE SOURCE, CREATE TABLE, CREATE MATERIALIZED VIEW"
            known = f"{made}, DROP, INSERT and DELETE of subscriptions, SELECT of the catalogue"
            words = " ".join(statement.text.split()[:2]).upper()
            raise SqlError(f"cannot run {words!r}; known are {known}", statement.location)

    def _create(self, tree: exp.Create, made: Source | View) -> None:
        if self.catalog.text_of(made.name) is None:
            self._check_catalog_readers(made.name)
            self.catalog.add(made)
            return
        if tree.args.get("exists") or self.catalog.text_of(made.name) == made.text:
            return
        if not tree.args.get("replace"):
            raise CatalogError(f"{made.name!r} exists already; write CREATE OR REPLACE, or DROP it first")
        self._check_kind(tree, made.name, "replace")
        self.catalog.drop(made.name)
        self.catalog.add(made)
        self._check_views(made.name)

    def _check_catalog_readers(self, name: str) -> None:
        """What a view reads is not to become something else: a name of the catalogue's that it reads is taken."""
        table = find_catalog_table(name)
        readers = [plan.name for plan in (self.plans() if table else []) if table in plan.named_tables]
        if readers:
            message = f"view {readers[0]!r} reads the table {name!r} of the catalogue"
            raise CatalogError(f"cannot make {name!r}; {message}; choose another name, or drop the view first")

    def _create_view(self, tree: exp.Create, statement: Statement) -> None:
        if not isinstance(tree.this, exp.Table):
            raise SqlError("a view's columns are named in its SELECT: SELECT speed AS name ...", location_of(tree))
        properties = tree.args.get("properties")
        if not (properties and properties.find(exp.MaterializedProperty)):
            raise SqlError("a standing query is written CREATE MATERIALIZED VIEW", location_of(tree))
        options = options_of(tree)
        if tree.expression is None and "rules" not in options:
            raise SqlError("a view needs a query: CREATE MATERIALIZED VIEW name AS SELECT ...", location_of(tree))
        name = _own_name(tree.this)
        check_view_options(name, options)
        Sampling.parse(options, Owner(f"view {name!r}"))
        for option in ("late_to", "loss_to"):
            check_name(options.get(option, name), location_of(tree))
        program = _load_rules().read_program_text(self._base / options["rules"]) if "rules" in options else ""
        view = View(name, options, statement.text, program)
        named = [name, *(options[option] for option in ("late_to", "loss_to") if option in options)]
        sinks = {sink.casefold() for sink in self.catalog.subscriptions.sinks()}
        taken = [output for output in named if output.casefold() in sinks]
        if taken:
            raise SqlError(f"{min(taken)!r} is the sink of subscriptions; choose another name", location_of(tree))
        self._bind(view, tree, (view.name,))
        self._create(tree, view)

    def _bind(self, view: View, tree: exp.Create, within: tuple[str, ...]) -> ViewPlan:
        streams = Streams(self.catalog, partial(self.plan, within=within), hidden=within)
        bind = partial(_load_rules().rules_plan, view, self._base, self._limits) if view.program else query_plan
        root = carry_changes(bind(tree.expression, streams, view.options), streams.plan)
        root = settle_emit(root, view.options)
        for rewrite in _REWRITES:
            root = rewrite(root)
        plan = ViewPlan(view.name, root, view.options, tuple(streams.plans))
        check_times(plan)
        if not plan.views and not view.program and not streams.asked_sensors:
            self._known[view.name] = view, plan, functions_version()
        return plan

    def _find_known(self, view: View) -> ViewPlan | None:
        """The plan that a view has had since it was bound last, if neither it nor what it reads is another by now."""
        bound, plan, version = self._known.get(view.name, (None, None, 0))
        if plan is None or bound != view or version != functions_version():
            return None
        sources = {source.name: source for source in self.catalog.sources()}
        reads = (read for read in (*plan.sources, *plan.named_tables) if not is_catalog_table(read))
        return plan if all(sources.get(read.name) == read for read in reads) else None

    def _drop(self, tree: exp.Drop, name: str) -> None:
        if self.catalog.text_of(name) is None:
            if tree.args.get("exists"):
                return
            raise CatalogError(f"there is no {name!r} to drop; known are {', '.join(self.catalog.names()) or 'none'}")
        self._check_kind(tree, name, "drop")
        if tree.args.get("cascade"):
            raise SqlError("DROP ... CASCADE is not available; drop the views first", location_of(tree))
        self._drop_unread(name, beside=())

    def _drop_unread(self, name: str, beside: Collection[str]) -> None:
        """Drop what nobody reads, but for views that go with it."""
        readers = [view for view in self.catalog.views() if view.name not in (name, *beside)]
        users = [view.name for view in readers if self._reads(view, name)]
        users += [subscription.id for subscription in self.catalog.subscriptions.all(name)[:5]]
        if users:
            raise CatalogError(f"{name!r} is read by {', '.join(users)}; drop these first")
        self.catalog.drop(name)

    def _reads(self, view: View, name: str) -> bool:
        plan = self.plan(view.name)
        return name in plan.views or any(source.name == name for source in [*plan.sources, *plan.named_tables])

    def _check_kind(self, tree: exp.Create | exp.Drop, name: str, verb: str) -> None:
        kinds = {source.name: "TABLE" if source.is_table else "SOURCE" for source in self.catalog.sources()}
        if kinds.get(name, "VIEW") != tree.kind:
            raise CatalogError(f"cannot {verb} the {tree.kind} {name!r}; it is a {kinds.get(name, 'VIEW')}")

    def _check_views(self, name: str) -> None:
        """What was replaced must still serve the views that read it."""
        for view in self.catalog.views():
            try:
                self.plan(view.name)
            except InputError as error:
                raise CatalogError(f"cannot replace {name!r}; view {view.name!r} reads it: {error}") from None


def _check_sink(subscription: Subscription, sink: str, sinks: dict[str, str], taken: Collection[str]) -> None:
    """A sink has answers of one stream alone, and nothing else."""
    check_name(sink)
    stream = sinks.setdefault(sink, subscription.stream)
    if sink.casefold() in taken:
        raise InputError(f"subscription {subscription.id!r}: the sink cannot be {sink!r}, which receives other rows")
    if stream != subscription.stream:
        raise InputError(f"subscription {subscription.id!r}: the sink {sink!r} is for answers of stream {stream!r}")


def _own_name(table: exp.Expr) -> str:
    """The name of what is made or dropped; there are no schemas to put it into."""
    if table.args.get("db"):
        raise SqlError(f"{table.sql('risingwave')!r} has a name in two parts; write {table.name}", location_of(table))
    return check_name(identifier(table), location_of(table))


def _find_listing(query: str) -> str | None:
    """What to write in place of a statement that asks what there is."""
    word = (query.split() or [""])[0].upper()
    listings = "SELECT * FROM sources, SELECT * FROM views"
    instead = {
        "DESCRIBE": f"the columns of sources are in {listings.partition(',')[0]}",
        "SHOW": f"what there is is told by {listings}",
        "SUMMARIZE": "write the aggregates: SELECT COUNT(*), MIN(x), MAX(x), AVG(x), APPROX_QUANTILE(x, 0.5) FROM ...",
    }
    return f"{word} is not available; {instead[word]}" if word in instead else None


def _load_rules() -> ModuleType:
    """What binds rule programs. Loaded when a script has some: it takes a tenth of a small script's start."""
    from skerry.lang.sql import rules

    return rules


@contextmanager
def _locate_errors(statement: Statement) -> Iterator[None]:
    """Say of every error where it stands, at least by its statement."""
    try:
        yield
    except SqlError as error:
        if (foreign := describe_foreign(statement)) is not None:
            raise foreign from None
        if error.args[-1] is None:
            raise SqlError(str(error), statement.location) from None
        raise
    except InputError as error:
        raise type(error)(f"{statement.location}: {error}") from None
    except RecursionError:
        raise SqlError("a statement is nested too deeply", statement.location) from None
