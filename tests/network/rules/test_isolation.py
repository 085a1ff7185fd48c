"""Motes share nothing but messages: from one mote's component no way leads to another's."""

import gc
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
from skerry.network.rules.install import TECHNIQUES, install
from skerry.network.rules.network_facts import make_calendar, read_network_facts
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.routes import Routes, find_routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.network.rules.store import Store
from skerry.network.rules.survey import Survey
from skerry.network.simulation import Simulation
from skerry.network.topology.grid import make_grid

PROGRAM = Path(__file__).parents[3] / "examples" / "rules" / "logicJ.dl"
OUTSIDE = (Simulation, Radio, NodeProgram, Builtins, type, ModuleType, FunctionType, BuiltinFunctionType)
OWN = (Component, Board, Store, Routes)


def run(strategy):
    checked, network = check(read(PROGRAM.read_text())), Network(make_grid(3, 3))
    facts, routes = read_network_facts(None, checked), find_routes(network.topology)
    program = compile_program(checked, Survey.of(routes), make_calendar(facts))
    motes = RuleNetwork(network, routes, install(strategy, program, network, routes), Builtins({}), "stage")
    motes.run(checked, facts)
    return motes


def reach(start):
    """All objects that lead on from one, but for its hardware and its program."""
    seen, waiting = {id(start): start}, [start]
    while waiting:
        for found in gc.get_referents(waiting.pop()):
            if id(found) not in seen and not isinstance(found, OUTSIDE):
                seen[id(found)] = found
                waiting.append(found)
    return seen.values()


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_a_component_reaches_only_its_own_state(strategy):
    components = run(strategy).components
    for component in components:
        reached = [each for each in reach(component) if isinstance(each, OWN)]
        assert sorted(type(each).__name__ for each in reached) == ["Board", "Component", "Routes", "Store"]


@pytest.mark.parametrize("strategy", TECHNIQUES)
def test_messages_are_plain(strategy, monkeypatch):
    said, count = [], Board.broadcast
    send = Board.send
    monkeypatch.setattr(Board, "broadcast", lambda board, message: (said.append(message), count(board, message)))
    monkeypatch.setattr(Board, "send", lambda board, to, message: (said.append(message), send(board, to, message)))
    run(strategy)
    assert said
    assert all(is_plain(message.body) for message in said)
