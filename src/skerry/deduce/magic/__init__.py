"""Magic sets: for a question with constants, derive only what can bear on it."""

from skerry.deduce.magic.narrow import Asked, asked, fits, relevant

__all__ = ["Asked", "asked", "fits", "relevant"]
