"""Python behind a program's built-in functions and predicates."""

from skerry.deduce.builtins.builtins import Builtins, list_allowed_modules

__all__ = ["Builtins", "list_allowed_modules"]
