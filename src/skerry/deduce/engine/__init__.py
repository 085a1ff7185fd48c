"""The engine that keeps a program's answers true at a cost that follows what changes."""

from skerry.deduce.engine.arrow_columns import arrow_type
from skerry.deduce.engine.engine import Engine

__all__ = ["Engine", "arrow_type"]
