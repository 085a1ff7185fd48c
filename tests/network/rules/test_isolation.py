"""Motes share nothing but messages: from one mote's component no way leads to another's."""

import gc
from collections import deque
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType

import pytest

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.lang.rules import read
from skerry.network.message import is_plain
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.radio import Radio
from skerry.network.rules.compile_program import compile_program
from skerry.network.rules.component import Component
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import make_calendar, read_network_facts
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.routes import Routes, find_routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.network.rules.store import Store
from skerry.network.rules.survey import Survey
from skerry.network.simulation import Simulation
from skerry.network.topology.grid import make_grid

PROGRAM = Path(__file__).parents[3] / "examples" / "rules" / "logicJ.dl"
OUTSIDE = (Simulation, Radio, NodeProgram, Builtins, type, ModuleType, BuiltinFunctionType)
CHANGEABLE = (dict, list, set, deque, Component, Store)
OWN = (Component, Board, Store, Routes)


def run(strategy):
    checked, network = check(read(PROGRAM.read_text())), Network(make_grid(3, 3))
    facts, routes = read_network_facts(None, checked), find_routes(network.topology)
    program = compile_program(checked, Survey.of(routes), make_calendar(facts))
    motes = RuleNetwork(network, routes, strategy, program, Builtins({}), "stage")
    motes.run(checked, facts)
    return motes


def reach(start):
    """All that one object leads on to, but for its hardware and its program; functions by what they close over."""
    seen, waiting = {id(start): start}, [start]
    while waiting:
        for found in list_parts(waiting.pop()):
            if id(found) not in seen and not isinstance(found, OUTSIDE):
                seen[id(found)] = found
                waiting.append(found)
    return seen.values()


def list_parts(one):
    if not isinstance(one, FunctionType):
        return gc.get_referents(one)
    cells = [cell.cell_contents for cell in one.__closure__ or ()]
    return [*cells, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]


def find_shared(components):
    """What can be changed and is reached from two motes. The plans, which are data of the program, are none of it."""
    plans = {id(found) for found in reach(components[0]._plans)}
    owners, shared = {}, []
    for component in components:
        for found in reach(component):
            if isinstance(found, CHANGEABLE) and id(found) not in plans:
                if id(found) in owners:
                    shared.append(found)
                owners[id(found)] = component
    return shared


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_a_component_reaches_only_its_own_state(strategy):
    components = run(strategy).components
    for component in components:
        reached = [each for each in reach(component) if isinstance(each, OWN)]
        assert sorted(type(each).__name__ for each in reached) == ["Board", "Component", "Routes", "Store"]
    assert find_shared(components) == []


def plant_component(one, other):
    one._technique.neighbour = other


def plant_closure(one, other):
    store = other.store
    one.store.on_drop = lambda identity: store.drop(identity)


def plant_list(one, other):
    one.heard = other.heard = []


@pytest.mark.parametrize("plant", [plant_component, plant_closure, plant_list])
def test_state_that_motes_share_is_found(plant):
    components = run("broadcast").components
    plant(components[3], components[5])
    assert find_shared(components)


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_messages_are_plain(strategy, monkeypatch):
    said, count = [], Board.broadcast
    send = Board.send
    monkeypatch.setattr(Board, "broadcast", lambda board, message: (said.append(message), count(board, message)))
    monkeypatch.setattr(Board, "send", lambda board, to, message: (said.append(message), send(board, to, message)))
    run(strategy)
    assert said
    assert all(is_plain(message.body) for message in said)
