"""CREATE MATERIALIZED VIEW ... WITH (rules='file.dl', output='p'): a view made of rules, or a SELECT over them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlglot import exp

from skerry.catalog import Source, View
from skerry.deduce.builtins import list_allowed_modules
from skerry.deduce.checks import check
from skerry.errors import InputError, OptionError, RuleError, UnknownStream
from skerry.lang.rules import read
from skerry.lang.rules.bind_streams import deduce_node
from skerry.lang.sql.query import query_plan
from skerry.lang.sql.streams import Streams
from skerry.model.expression import Expression
from skerry.plan.deduce import Deduce
from skerry.plan.node import Node
from skerry.plan.program import Output
from skerry.plan.project import Project
from skerry.plan.view import ViewPlan

__all__ = ["rules_outputs", "rules_plan"]

_OPTIONS = {"late_to", "output", "rules"}
_BESIDE = {"changes": ["_ts", "_op"], "snapshot": ["_ts"]}
"""What a mode tells of a tuple beside its columns."""


def rules_plan(view: View, base: Path, tree: exp.Expr | None, streams: Streams, options: Mapping[str, str]) -> Node:
    """Bind a view's program to the catalogue, and what is selected from it."""
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise OptionError(f"a view made of rules has no option {unknown[0]!r}; known are {', '.join(sorted(_OPTIONS))}")
    node = _bind_program(view, base, streams)
    if tree is None:
        names = [*_BESIDE.get(node.output.mode, ()), *node.columns.names]
        return Project(node, tuple((name, Expression.of(name, node.schema.field(name).type)) for name in names))
    streams.add(ViewPlan(node.output.predicate, node))
    return query_plan(tree, streams, {})


def rules_outputs(program: str, file: str) -> tuple[Output, ...]:
    """What a program gives."""
    with _name_file(file):
        return check(read(program)).outputs


def _bind_program(view: View, base: Path, streams: Streams) -> Deduce:
    def find(name: str) -> Source:
        found = streams.find(name)
        if found is None:
            raise UnknownStream(name, streams.known)
        return found

    builtins = (tuple(list_allowed_modules(base)), str(base.resolve()))
    with _name_file(view.options["rules"]):
        return deduce_node(read(view.program), view.options.get("output"), find, builtins)


@contextmanager
def _name_file(file: str) -> Iterator[None]:
    """Name the file of a program in what is wrong with it: locations are those of the file."""
    try:
        yield
    except RuleError as error:
        raise InputError(f"{file}: {error}") from None
