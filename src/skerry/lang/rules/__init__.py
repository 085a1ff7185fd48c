"""Rule programs, read by lark."""

from skerry.lang.rules.reading import read

__all__ = ["read"]
