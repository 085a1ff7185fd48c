"""Rule programs, read by lark."""

from skerry.lang.rules.read_program import read

__all__ = ["read"]
