"""CREATE MATERIALIZED VIEW ... WITH (rules='file.dl', output='p'): a view made of rules, or a SELECT over them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from skerry.catalog import Source, View
from skerry.deduce.checks import check
from skerry.deduce.project_settings import list_allowed_modules, read_project_limits
from skerry.errors import InputError, OptionError, RuleError, UnknownStream
from skerry.lang.rules import read
from skerry.lang.rules.bind_streams import deduce_node
from skerry.lang.rules.program_file import read_program_text
from skerry.lang.sql.changes import gives_changes
from skerry.lang.sql.query import query_plan
from skerry.lang.sql.streams import Streams
from skerry.model.backfill_span import BACKFILL
from skerry.model.changes import OP
from skerry.model.expression import Expression
from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.plan.deduce import Deduce
from skerry.plan.limits import LIMITS, Limits, option_of, parse_limits
from skerry.plan.node import Node
from skerry.plan.program import Output
from skerry.plan.project import Project
from skerry.plan.view import ViewPlan

__all__ = ["read_program_text", "rules_outputs", "rules_plan"]

_OPTIONS = {
    BACKFILL.name,
    "emit",
    "late_to",
    "output",
    "rules",
    *map(option_of, LIMITS),
    *(option.name for option in SAMPLING_OPTIONS),
}
_BESIDE = {"changes": ["_ts", "_op"], "snapshot": ["_ts"]}
"""What a mode tells of a tuple beside its columns."""


def rules_plan(
    view: View, base: Path, limits: Limits, tree: exp.Expr | None, streams: Streams, options: Mapping[str, str]
) -> Node:
    """Bind a view's program to the catalogue, and what is selected from it. ``limits``: those of the command."""
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise OptionError(f"a view made of rules has no option {unknown[0]!r}; known are {', '.join(sorted(_OPTIONS))}")
    if options.get("emit") == "early":
        raise OptionError("a view made of rules gives what holds, and gives it up: emit is final or changes")
    node = _bind_program(view, base, limits, streams)
    if gives_changes(options):
        return _bind_changes(node, tree, streams)
    if tree is None:
        names = [*_BESIDE.get(node.output.mode, ()), *node.columns.names]
        return Project(node, tuple((name, Expression.of(name, node.schema.field(name).type)) for name in names))
    streams.add(ViewPlan(node.output.predicate, node))
    return query_plan(tree, streams, {})


def _bind_changes(node: Deduce, tree: exp.Expr | None, streams: Streams) -> Node:
    """The tuples that hold, as a relation that changes: when they began and ended is not part of them."""
    changing = replace(node, changing=True, output=replace(node.output, mode="changes"))
    names = [OP, *node.columns.names]
    root = Project(changing, tuple((name, Expression.of(name, changing.schema.field(name).type)) for name in names))
    if tree is None:
        return root
    streams.add(ViewPlan(node.output.predicate, root))
    return query_plan(tree, streams, {"emit": "changes"})


def rules_outputs(program: str, file: str) -> tuple[Output, ...]:
    """What a program gives."""
    with _name_file(file):
        return check(read(program)).outputs


def _bind_program(view: View, base: Path, limits: Limits, streams: Streams) -> Deduce:
    def find(name: str) -> Source:
        found = streams.find(name)
        if found is None:
            raise UnknownStream(name, streams.known)
        return found

    builtins = (tuple(list_allowed_modules(base)), str(base.resolve()))
    with _name_file(view.options["rules"]):
        program = read(view.program)
        nearest = limits.over(_read_limits(view)).over(program.limits).over(read_project_limits(base))
        return deduce_node(replace(program, limits=nearest), view.options.get("output"), find, builtins)


def _read_limits(view: View) -> Limits:
    """The limits that stand behind WITH."""
    found = Limits()
    for name in LIMITS:
        try:
            found = parse_limits({name: view.options.get(option_of(name))}).over(found)
        except ValueError as error:
            given = view.options[option_of(name)]
            message = f"view {view.name!r}: option {option_of(name)} must be {error}; got {given!r}"
            raise OptionError(message) from None
    return found


@contextmanager
def _name_file(file: str) -> Iterator[None]:
    """Name the file of a program in what is wrong with it: locations are those of the file."""
    try:
        yield
    except RuleError as error:
        raise InputError(f"{file}: {error}") from None
