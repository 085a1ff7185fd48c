"""What two programs on motes share that could be changed: nothing, if they speak by messages alone."""

from collections import deque
from types import FunctionType, MethodType

from skerry.network.mote import Board
from skerry.network.radio import Radio
from skerry.network.simulation import Simulation

_OUTSIDE = (Board, Radio, Simulation, type, FunctionType)
"""The hardware, and code. A program reaches others over its board alone, which the radio's tests are about."""


def find_shared(programs):
    """Objects that can be changed and are reached from two programs."""
    owners, shared = {}, []
    for number, program in enumerate(programs):
        for found in reach(program):
            if owners.setdefault(id(found), number) != number:
                shared.append(found)
    return shared


def reach(root):
    """All objects that can be changed, from a program on."""
    seen, todo = {}, [root]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _OUTSIDE):
            continue
        seen[id(one)] = one
        todo += list_parts(one)
    return [one for one in seen.values() if can_change(one)]


def list_parts(one):
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset | deque):
        return list(one)
    if isinstance(one, MethodType):
        return [one.__self__]
    return [*getattr(one, "__dict__", {}).values(), *(getattr(one, name) for name in slots_of(one))]


def slots_of(one):
    return [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(one, name)]


def can_change(one):
    if isinstance(one, dict | list | set | deque | bytearray):
        return True
    parameters = getattr(type(one), "__dataclass_params__", None)
    return hasattr(one, "__dict__") and not (parameters and parameters.frozen)
