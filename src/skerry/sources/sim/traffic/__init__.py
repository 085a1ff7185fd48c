"""Simulated traffic on Interstate 80.

A reading comes about in four steps, a file each: ``vehicles`` drive on the ``road`` (and ``incidents`` slow them),
``loops`` measure them, the ``channel`` loses, delays and garbles lines, and ``columns`` turns lines into Arrow. The
``connector`` hands out any part of it.
"""

from skerry.sources.sim.traffic.connector import TrafficConnector
from skerry.sources.sim.traffic.incidents import Incident
from skerry.sources.sim.traffic.lane import TrafficLane

__all__ = ["Incident", "TrafficConnector", "TrafficLane"]
