"""The simulator: floods over a grid, each transmission heard by up to four motes. Ours against SimPy in the same run.

On SimPy the flood is written twice: as lean as its kernel allows (a timeout per transmission with a callback, which
does what our radio does), and, for a smaller grid, as its documentation would (a process and a store per mote). Every
mote must have heard every flood, and the number of transmissions must agree, before a time is printed. Times are those
of the processor.

    python benchmarks/network.py --quick
    python benchmarks/network.py --json network.json
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import simpy
from _report import Report

from skerry.network.message import Kind, Message
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.tally import Tally
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology

LEAST_US, MOST_US = 5_000, 20_000


class Flood:
    """Passes on what it has not heard before."""

    def __init__(self, board: "Board | SimPyBoard") -> None:
        self.board, self.heard = board, set[int]()

    def start(self, flood: int) -> None:
        self.heard.add(flood)
        self.board.broadcast(Message(Kind.CONTROL, (flood,), 13))

    def receive(self, sender: int, message: Message) -> None:
        (flood,) = message.body
        if flood not in self.heard:
            self.heard.add(flood)
            self.board.broadcast(message)


def run_skerry(topology: Topology, floods: int) -> int:
    network = Network(topology, seed=7)
    programs = network.install(Flood)
    for flood in range(floods):
        programs[flood * 37 % len(topology)].start(flood)
    network.simulation.run()
    check([program.heard for program in programs], floods)
    return network.radio.tally.total


def run_simpy_processes(topology: Topology, floods: int) -> int:
    """A process per mote waits at its store; a timeout carries each reception there."""
    environment, random = simpy.Environment(), Random(7)
    stores = [simpy.Store(environment) for _ in topology.neighbours]
    heard: list[set[int]] = [set() for _ in topology.neighbours]
    sent = [0] * len(topology)

    def carry(store: simpy.Store, flood: int) -> Iterator[Any]:
        yield environment.timeout(random.randint(LEAST_US, MOST_US))
        yield store.put(flood)

    def broadcast(mote: int, flood: int) -> None:
        heard[mote].add(flood)
        sent[mote] += 1
        for other in topology.neighbours[mote]:
            environment.process(carry(stores[other], flood))

    def listen(mote: int) -> Iterator[Any]:
        while True:
            flood = yield stores[mote].get()
            if flood not in heard[mote]:
                broadcast(mote, flood)

    for mote in range(len(topology)):
        environment.process(listen(mote))
    for flood in range(floods):
        broadcast(flood * 37 % len(topology), flood)
    environment.run()
    check(heard, floods)
    return sum(sent)


class SimPyBoard:
    """What our board and radio do, on SimPy's kernel: count, delay, keep order, and hand over to all that hear."""

    def __init__(self, mote: int, radio: "SimPyRadio") -> None:
        self.mote, self.radio, self.last_arrival = mote, radio, 0

    def broadcast(self, message: Message) -> None:
        radio = self.radio
        radio.tally.count(self.mote, message.kind, message.bytes)
        arrival = max(radio.environment.now + radio.random.randint(LEAST_US, MOST_US), self.last_arrival)
        self.last_arrival = arrival
        timeout = radio.environment.timeout(arrival - radio.environment.now, (self.mote, message))
        timeout.callbacks.append(radio.deliver)


class SimPyRadio:
    def __init__(self, topology: Topology) -> None:
        self.environment, self.random, self.tally = simpy.Environment(), Random(7), Tally(len(topology))
        self.neighbours = topology.neighbours
        self.programs = [Flood(SimPyBoard(mote, self)) for mote in range(len(topology))]

    def deliver(self, event: simpy.Event) -> None:
        sender, message = event.value
        for mote in self.neighbours[sender]:
            self.tally.heard_by_mote[mote] += 1
            self.tally.bytes_heard_by_mote[mote] += message.bytes
            self.programs[mote].receive(sender, message)


def run_simpy_callbacks(topology: Topology, floods: int) -> int:
    """A timeout per transmission, whose callback hands it to all that hear it. The programs are ours."""
    radio = SimPyRadio(topology)
    for flood in range(floods):
        radio.programs[flood * 37 % len(topology)].start(flood)
    radio.environment.run()
    check([program.heard for program in radio.programs], floods)
    return radio.tally.total


def check(heard: list[set[int]], floods: int) -> None:
    if any(len(each) != floods for each in heard):
        raise SystemExit("a mote has not heard a flood")


def measure(run: Callable[[Topology, int], int], topology: Topology, floods: int) -> float:
    begun = time.process_time()
    sent = run(topology, floods)
    if sent != floods * len(topology):
        raise SystemExit(f"{sent} transmissions, not {floods * len(topology)}")
    return time.process_time() - begun


def compare(report: Report, name: str, rival: Callable[[Topology, int], int], side: int, floods: int) -> None:
    topology = make_grid(side, side)
    print(f"{floods} floods over {side} x {side} motes: {floods * len(topology):,} transmissions")
    ours = measure(run_skerry, topology, floods)
    report.tell(f"skerry, {side} x {side}", ours)
    report.tell(f"skerry, {side} x {side}, transmissions per second", floods * len(topology) / ours, "1/s")
    took = measure(rival, topology, floods)
    report.tell(f"SimPy, {name}", took)
    report.tell(f"SimPy, {name}, over skerry", took / ours, "times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 x 30 motes and 20 floods instead of 100 x 100 and 100")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    options = parser.parse_args()
    side, floods = (30, 20) if options.quick else (100, 100)
    report = Report()
    compare(report, "callbacks", run_simpy_callbacks, side, floods)
    compare(report, "processes", run_simpy_processes, 30, 10)
    if options.json:
        options.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
