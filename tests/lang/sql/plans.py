"""Plans of one view over some sources."""

import pytest

from skerry.catalog import Catalog
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.plan.node import Node
from skerry.plan.view import ViewPlan

__all__ = ["Sources"]


class Sources:
    """Declared sources; a query over them is planned, or refused."""

    def __init__(self, script: str) -> None:
        self._script = script

    def planned(self, query: str, options: str = "") -> ViewPlan:
        session = Session(Catalog.in_memory())
        session.execute(f"{self._script} CREATE MATERIALIZED VIEW v {options} AS {query}")
        return session.plan("v")

    def found(self, kind: type[Node], query: str, options: str = "") -> Node:
        """The first node of a kind below the root."""
        node = self.planned(query, options).root
        while not isinstance(node, kind):
            (node,) = node.inputs
        return node

    def refused(self, query: str, options: str = "") -> str:
        with pytest.raises(InputError) as caught:
            self.planned(query, options)
        return str(caught.value)
