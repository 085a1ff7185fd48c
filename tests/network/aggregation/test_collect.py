from math import fsum
from random import Random
from statistics import mean

import pytest

from skerry.errors import InputError
from skerry.network.aggregation.collect import collect_over_rings, collect_over_tree
from skerry.network.aggregation.synopses import standard_error
from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.routing.build_tree import build_tree
from skerry.network.routing.tree import Tree, find_tree
from skerry.network.topology.read_topology import read_topology

SLOW_TWINS = {"avg": lambda values: fsum(values) / len(values), "count": len, "max": max, "min": min, "sum": fsum}


def values_of(epoch, motes=60):
    random = Random(epoch)
    return [random.uniform(0.0, 100.0) for _ in range(motes)]


@pytest.mark.parametrize("name", SLOW_TWINS)
@pytest.mark.parametrize("skew", [0, 30_000])
def test_tree_is_exact_without_loss(name, skew):
    network = Network(read_topology("geometric:60:0.25:1"), seed=3, most_skew_us=skew)
    tree, _ = build_tree(network, root=7)
    found = collect_over_tree(network, tree, name, lambda mote, epoch: ((), values_of(epoch)[mote]), epochs=3)
    assert found == [{(): SLOW_TWINS[name](values_of(epoch))} for epoch in range(3)]


def test_tree_takes_one_transmission_per_mote_and_epoch():
    network = Network(read_topology("grid:6x6"))
    collect_over_tree(network, find_tree(network.topology, 0), "avg", lambda mote, epoch: ((), 1), epochs=4)
    assert network.radio.tally.total == 4 * 35


def test_groups_are_kept_apart():
    network = Network(read_topology("grid:4x4"))
    tree = find_tree(network.topology, 5)
    (found,) = collect_over_tree(network, tree, "sum", lambda mote, epoch: (mote % 3, mote) if mote else None)
    assert found == {group: sum(range(group, 16, 3)) for group in range(3)}


def test_retries_make_trees_exact_under_loss():
    network = Network(read_topology("grid:6x6"), RadioSettings(loss=0.2, retries=20), seed=2)
    found = collect_over_tree(network, find_tree(network.topology, 0), "count", lambda mote, epoch: ((), 1), epochs=3)
    assert found == [{(): 36}] * 3


def test_dead_mote_costs_its_subtree():
    network = Network(read_topology("grid:1x5"))
    network.kill(2)
    tree = find_tree(network.topology, 0)
    assert collect_over_tree(network, tree, "count", lambda mote, epoch: ((), 1)) == [{(): 2}]


def test_motes_outside_the_tree_say_nothing():
    network = Network(read_topology("grid:1x3"))
    assert collect_over_tree(network, Tree(0, (None, 0, None)), "count", lambda mote, epoch: ((), 1)) == [{(): 2}]


@pytest.mark.parametrize(("name", "truth"), [("count", 30), ("sum", 465), ("avg", 15.5)])
def test_rings_estimate_within_their_error(name, truth):
    network = Network(read_topology("geometric:30:0.4:2"))
    tree = find_tree(network.topology, 0)
    found = collect_over_rings(network, tree, name, lambda mote, epoch: ((), mote + 1), epochs=12)
    errors = [answer[()] / truth - 1.0 for answer in found]
    assert abs(mean(errors)) < 3 * standard_error(64) / 12**0.5
    assert max(map(abs, errors)) < 4 * standard_error(64)


@pytest.mark.parametrize(("name", "truth"), [("min", 1), ("max", 36)])
def test_extremes_over_rings_are_exact_without_loss(name, truth):
    network = Network(read_topology("grid:6x6"))
    found = collect_over_rings(network, find_tree(network.topology, 14), name, lambda mote, epoch: ((), mote + 1))
    assert found == [{(): truth}]


def test_rings_bear_loss_that_trees_do_not():
    topology = read_topology("geometric:100:0.25:1")
    tree = find_tree(topology, 0)
    network = Network(topology, RadioSettings(loss=0.2), seed=1)
    exact = collect_over_tree(network, tree, "count", lambda mote, epoch: ((), 1), epochs=4)
    robust = collect_over_rings(network, tree, "count", lambda mote, epoch: ((), 1), epochs=4)
    assert mean(answer[()] for answer in exact) < 70
    assert 85 < mean(answer[()] for answer in robust) < 115


def test_unknown_aggregate_is_refused():
    network = Network(read_topology("grid:1x2"))
    with pytest.raises(InputError, match="known: avg, count, max, min, sum"):
        collect_over_tree(network, find_tree(network.topology, 0), "median", lambda mote, epoch: None)
