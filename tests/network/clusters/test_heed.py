from math import ceil, log2

import pytest

from skerry.errors import InputError
from skerry.network.clusters.heed import HeedSettings, form_clusters
from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.topology.read_topology import read_topology

FIELDS = ["geometric:80:0.25:1", "geometric:80:0.25:2", "holes:80:0.25:3", "grid:8x8", "tree:40:4:1"]


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("field", FIELDS)
def test_everybody_is_a_head_or_hears_its_own(field, loss):
    network = Network(read_topology(field), RadioSettings(loss=loss), seed=3)
    clusters = form_clusters(network, seed=5)
    for mote, head in enumerate(clusters.head_of):
        assert head == mote or head in network.topology.neighbours[mote]
        assert clusters.head_of[head] == head


@pytest.mark.parametrize("least", [1e-4, 0.01])
def test_rounds_are_bounded(least):
    network = Network(read_topology("geometric:60:0.3:4"))
    settings = HeedSettings(least=least)
    residuals = [0.0] * 60
    form_clusters(network, residuals, settings)
    most = ceil(log2(1 / least)) + 1
    assert network.simulation.now <= (most + 2) * 20_001


def test_heads_are_fewer_where_ranges_are_longer():
    near, far = (
        len(form_clusters(Network(read_topology(f"geometric:100:{reach}:2")), seed=1).heads) for reach in (0.2, 0.5)
    )
    assert far < near < 50


def test_heads_do_not_grow_with_density():
    sparse, dense = (
        len(form_clusters(Network(read_topology(f"geometric:{motes}:0.2:1"))).heads) for motes in (150, 600)
    )
    assert dense < 1.3 * sparse


def test_motes_with_more_energy_are_heads_more_often():
    network = Network(read_topology("geometric:80:0.25:6"))
    residuals = [1.0 if mote % 2 else 0.05 for mote in range(80)]
    heads = [mote for epoch in range(10) for mote in form_clusters(network, residuals, seed=epoch).heads]
    assert sum(mote % 2 for mote in heads) > 0.6 * len(heads)


def test_epochs_draw_other_heads():
    network = Network(read_topology("geometric:80:0.25:6"))
    assert form_clusters(network, seed=1) != form_clusters(network, seed=2)


def test_dead_motes_have_no_head_and_are_none():
    network = Network(read_topology("grid:5x5"))
    network.kill(12)
    clusters = form_clusters(network)
    assert clusters.head_of[12] is None
    assert 12 not in clusters.head_of


def test_wrong_probabilities_are_refused():
    with pytest.raises(InputError, match="probabilities of HEED"):
        HeedSettings(share=0.0)
