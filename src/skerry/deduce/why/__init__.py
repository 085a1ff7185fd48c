"""Why a tuple holds, or does not."""

from skerry.deduce.why.explanation import Why

__all__ = ["Why"]
