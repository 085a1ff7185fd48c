"""Views that give changes (``WITH (emit='changes')``), and what reads them."""

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from skerry.errors import OptionError
from skerry.lang.sql.scalar import Scope, condition
from skerry.model.changes import drop_op
from skerry.model.landmark import Landmark
from skerry.plan.node import Node
from skerry.plan.rewrites.carry_changes import as_changes
from skerry.plan.select import Select

__all__ = ["gives_changes", "list_visible", "select_since", "settle_emit"]


def gives_changes(options: Mapping[str, str] | None) -> bool:
    """Whether a view is asked for its changes."""
    return bool(options) and options is not None and options.get("emit") == "changes"


def settle_emit(root: Node, options: Mapping[str, str]) -> Node:
    """The plan of a view with answers as they were asked for."""
    if gives_changes(options):
        return as_changes(root)
    if root.is_changing and options.get("emit") == "final":
        message = "emit = 'final' is not for a view over rows that can be taken back: its answers can be too"
        raise OptionError(f"{message}; leave emit out, or aggregate over TUMBLE")
    return root


def list_visible(node: Node) -> list[pa.Field]:
    """The columns of a relation but the one that says what becomes of a row."""
    return list(drop_op(node.schema) if node.is_changing else node.schema)


def select_since(node: Node, time: str, window: Landmark) -> Node:
    """The rows of a window that only has a start."""
    moment = exp.Anonymous(this="epoch_us", expressions=[exp.column(time, quoted=True)])
    asked = exp.GTE(this=moment, expression=exp.Literal.number(int(window.start_us)))
    return Select(node, condition(asked, Scope("", node.schema)), f"{time} from {window.describe().split('from ')[1]}")
