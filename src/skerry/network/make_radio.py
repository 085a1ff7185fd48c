"""The radio that settings ask for."""

from skerry.network.colliding_radio import CollidingRadio
from skerry.network.faulty_radio import FaultyRadio
from skerry.network.radio import Radio
from skerry.network.radio_settings import RadioSettings
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology

__all__ = ["make_radio"]


def make_radio(simulation: Simulation, topology: Topology, settings: RadioSettings, seed: int = 0) -> Radio:
    """A plain radio, one with collisions, or one with faults.

    >>> from skerry.network.topology.grid import make_grid
    >>> type(make_radio(Simulation(), make_grid(1, 2), RadioSettings(collisions=True))).__name__
    'CollidingRadio'
    """
    if settings.collisions:
        return CollidingRadio(simulation, topology, settings, seed)
    return (FaultyRadio if settings.is_faulty else Radio)(simulation, topology, settings, seed)
