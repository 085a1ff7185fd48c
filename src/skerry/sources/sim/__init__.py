"""Simulated sources: they need no sensors, and are the same on every run. A folder per kind; so far ``traffic``."""

from skerry.sources.sim.connector import SimConnector

__all__ = ["SimConnector"]
