"""The kinds of motes there are. A new kind is a file here, and a line in the table."""

from collections.abc import Mapping

from skerry.sources.sim.motes.kinds.air import AIR
from skerry.sources.sim.motes.kinds.kind import Kind
from skerry.sources.sim.motes.kinds.soil import SOIL
from skerry.sources.sim.motes.kinds.traffic import TRAFFIC
from skerry.sources.sim.motes.kinds.vibration import VIBRATION

__all__ = ["KINDS"]

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (TRAFFIC, AIR, SOIL, VIBRATION)}
