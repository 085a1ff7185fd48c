"""Simulated traffic on Interstate 80: a source that needs no sensors, and is the same on every run.

A reading comes about in four steps, a file each: ``traffic`` lets vehicles drive on the ``road`` (and
``incidents`` stop them), ``loops`` measure them, the ``feed`` loses, delays and garbles lines, and
``columns`` turns lines into Arrow. The ``connector`` hands out any part of it.
"""

from skerry.sources.sim.connector import TrafficConnector
from skerry.sources.sim.incidents import Incident
from skerry.sources.sim.lane import TrafficLane

__all__ = ["Incident", "TrafficConnector", "TrafficLane"]
