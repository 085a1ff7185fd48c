"""Python behind a program's built-in functions and predicates."""

from skerry.deduce.builtins.builtins import Builtins, allowed_modules

__all__ = ["Builtins", "allowed_modules"]
