"""Python behind a program's built-in functions and predicates."""

from skerry.deduce.builtins.builtins import Builtins

__all__ = ["Builtins"]
