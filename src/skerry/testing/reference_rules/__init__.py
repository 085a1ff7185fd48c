"""The reference engine: plain, obvious and slow. It is the oracle of the others."""

from skerry.testing.reference_rules.engine import Reference

__all__ = ["Reference"]
