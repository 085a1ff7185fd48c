"""The three programs of a traffic sensor, as a proxy chooses between them: what they deliver and what they cost.

The columns are those of a simulated traffic source. Where a station stands is known to its proxy, so every program
delivers that for nothing. The rest is worked out from what goes over the radio (``readings``), so that leaving out a
column saves no bits.
"""

from skerry.sensors.program import Program

__all__ = ["COUNTS", "PROGRAMS", "RAW", "VEHICLES"]

_KNOWN = ("sensor", "ts", "segment", "side", "position", "lane", "latitude", "longitude")

RAW = Program("raw", (*_KNOWN, "flow", "speed", "length", "occupancy"), bits=16, shared_bits=16)
"""Every sample, as it was taken."""

VEHICLES = Program(
    "vehicles",
    (*_KNOWN, "flow", "speed", "length"),
    bits=36,
    readings_per_s=5.0,
    shared_bits=36,
    counted_in="flow",
)
"""For each vehicle, when it began and ceased to cover a loop: (t0, t2) of the one, (t1, t3) of the other."""

COUNTS = Program("counts", (*_KNOWN, "flow"), bits=8, readings_per_s=1.0, shared_bits=8)
"""For each second, how many vehicles began to cover a loop."""

PROGRAMS = (COUNTS, VEHICLES, RAW)
"""The cheapest first."""
