"""Skerry: standing queries over sensor networks."""

__all__ = ["__version__"]

__version__ = "0.1.0"
