"""A script: statements carried out against a catalogue, in order."""

from sqlglot import exp

from skerry.catalog import Catalog, Source, View
from skerry.errors import CatalogError, SqlError
from skerry.lang.sql.declare import check_options, declared_source, identifier, options_of
from skerry.lang.sql.query import query_plan
from skerry.lang.sql.reading import Statement, place_of, read
from skerry.plan.nodes import ViewPlan

__all__ = ["VIEW_OPTIONS", "Session"]

VIEW_OPTIONS: dict[str, tuple[str, ...]] = {"emit": ("final",), "late_to": ()}
"""What may stand behind WITH in a view, and which values; no value listed means any."""


class Session:
    """A catalogue that understands SQL.

    >>> session = Session(Catalog.in_memory())
    >>> session.execute("CREATE SOURCE t (speed DOUBLE) WITH (connector='file', path='t.csv')")
    >>> session.execute("CREATE MATERIALIZED VIEW slow AS SELECT speed FROM t WHERE speed < 30")
    >>> session.plan("slow").root.schema.names
    ['speed']
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def execute(self, script: str) -> None:
        """Carry out all statements. The first wrong one stops the script before it changed anything."""
        statements = read(script)
        with self.catalog.all_or_nothing():
            for statement in statements:
                self._carry_out(statement)

    def plan(self, name: str) -> ViewPlan:
        """What a view of the catalogue means."""
        view = self.catalog.view(name)
        (statement,) = read(view.text)
        assert isinstance(statement.tree, exp.Create)
        return self._bound(view, statement)

    def plans(self) -> list[ViewPlan]:
        """All views, in the order of their creation."""
        return [self.plan(view.name) for view in self.catalog.views()]

    def _carry_out(self, statement: Statement) -> None:
        tree = statement.tree
        if isinstance(tree, exp.Create) and tree.kind in ("SOURCE", "TABLE"):
            self._create(tree, declared_source(statement))
        elif isinstance(tree, exp.Create) and tree.kind == "VIEW":
            self._create_view(tree, statement)
        elif isinstance(tree, exp.Drop) and tree.kind in ("SOURCE", "TABLE", "VIEW"):
            for table in tree.args.get("tables") or [tree.this]:
                self._drop(tree, identifier(table))
        else:
            known = "CREATE SOURCE, CREATE TABLE, CREATE MATERIALIZED VIEW, DROP"
            raise SqlError(f"cannot run {statement.text.split()[0].upper()!r}; known are {known}", place_of(tree))

    def _create(self, tree: exp.Create, made: Source | View) -> None:
        if self.catalog.text_of(made.name) is not None:
            if tree.args.get("exists") or self.catalog.text_of(made.name) == made.text:
                return
            if not tree.args.get("replace"):
                raise CatalogError(f"{made.name!r} exists already; write CREATE OR REPLACE, or DROP it first")
            self.catalog.drop(made.name)
        self.catalog.add(made)

    def _create_view(self, tree: exp.Create, statement: Statement) -> None:
        properties = tree.args.get("properties")
        if not (properties and properties.find(exp.MaterializedProperty)):
            raise SqlError("a standing query is written CREATE MATERIALIZED VIEW", place_of(tree))
        options = options_of(tree)
        name = identifier(tree.this)
        check_options(options, VIEW_OPTIONS, f"view {name!r}")
        view = View(name, options, statement.text)
        self._bound(view, statement)
        self._create(tree, view)

    def _bound(self, view: View, statement: Statement) -> ViewPlan:
        streams = {source.name: source for source in self.catalog.sources()}
        return ViewPlan(view.name, query_plan(statement.tree.expression, streams), view.options)

    def _drop(self, tree: exp.Drop, name: str) -> None:
        if self.catalog.text_of(name) is None:
            if tree.args.get("exists"):
                return
            raise CatalogError(f"there is no {name!r} to drop; known are {', '.join(self.catalog.names()) or 'none'}")
        users = [view.name for view in self.catalog.views() if view.name != name and self._reads(view, name)]
        if users:
            raise CatalogError(f"{name!r} is read by {', '.join(users)}; drop these first")
        self.catalog.drop(name)

    def _reads(self, view: View, name: str) -> bool:
        return any(source.name == name for source in self.plan(view.name).sources)
