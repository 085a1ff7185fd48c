"""Guess what a broker or a folder carries: a source that would read it, and its sensors."""

from skerry.sensors.discover.propose import Proposal, propose
from skerry.sensors.discover.samples import Sample

__all__ = ["Proposal", "Sample", "propose"]
