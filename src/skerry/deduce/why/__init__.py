"""Why a tuple holds, or does not."""

from skerry.deduce.why.answer import Why

__all__ = ["Why"]
