"""Magic sets: for a question with constants, derive only what can bear on it."""

from skerry.deduce.magic.narrow import Narrowed, fits, keep_relevant, narrow

__all__ = ["Narrowed", "fits", "keep_relevant", "narrow"]
