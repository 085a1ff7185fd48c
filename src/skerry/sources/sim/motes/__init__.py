"""A fleet of simulated motes on a real MQTT broker: they publish, obey control, drain batteries, die and come back."""

from skerry.sources.sim.motes.fleet import Fleet
from skerry.sources.sim.motes.settings import Faults, FleetSettings, parse_kinds

__all__ = ["Faults", "Fleet", "FleetSettings", "parse_kinds"]
