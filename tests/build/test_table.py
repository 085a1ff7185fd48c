"""Every node has a builder that is there: the table names them, and loads their files late."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

from skerry import plan
from skerry.build import table
from skerry.plan.node import Node, Stateful, Stateless
from skerry.plan.project import Project
from skerry.plan.select import Select

NAMES = [*table._STATELESS.values(), *(each.build for each in table._STATEFUL.values())]
NAMES += [each.partial for each in table._STATEFUL.values() if each.partial]


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_the_table_names_functions_that_are_there(name: str) -> None:
    file, function = name.split(".")
    assert function in import_module(f"skerry.build.{file}").__all__


def test_every_kind_of_node_has_a_builder() -> None:
    for file in iter_modules(plan.__path__):
        import_module(f"{plan.__name__}.{file.name}")
    known = {*table._STATELESS, *table._STATEFUL, Select, Project}
    assert {kind for kind in _list_kinds(Node) if issubclass(kind, Stateful | Stateless)} <= known


def test_a_builder_is_loaded_when_a_node_asks_for_it() -> None:
    asked = "import sys, skerry.build.table; print('skerry.deduce.engine' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", asked], text=True) == "False\n"


def _list_kinds(kind: type) -> set[type]:
    """The classes under one that have none under them."""
    below = kind.__subclasses__()
    return set().union(*map(_list_kinds, below)) if below else {kind}
