"""The motes of a run: given their programs and their facts, and read out when nothing is left to do."""

from collections.abc import Iterator, Sequence

from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.deduce.values import Row
from skerry.errors import RuleLimit
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.rules.agenda import Agenda, ArrivalAgenda, StageAgenda
from skerry.network.rules.component import Component
from skerry.network.rules.given_facts import GivenFacts
from skerry.network.rules.holdings import Holding
from skerry.network.rules.homes import find_home
from skerry.network.rules.install import bound_hop, install
from skerry.network.rules.measures import Measures
from skerry.network.rules.network_facts import fit_rows
from skerry.network.rules.node_program import NodeProgram
from skerry.network.rules.plans import list_plans
from skerry.network.rules.routes import Routes, find_routes
from skerry.plan.program import Checked

__all__ = ["RuleNetwork"]


class RuleNetwork:
    """A network with a program on every mote.

    When a link comes or goes, or a mote dies or is back, all motes begin anew, with the new links, and with the facts
    that they still have. They wait first, until nothing of before is on the air. So the answers are those of the new
    links and of these facts. Facts of a mote that dies are lost.
    """

    def __init__(
        self,
        network: Network,
        routes: Sequence[Routes],
        strategy: str,
        program: NodeProgram,
        calls: Calls,
        order: str,
    ) -> None:
        self.network, self.given = network, GivenFacts()
        self._strategy, self._program, self._calls, self._order = strategy, program, calls, order
        self._measures = Measures(len(network.boards))
        self._changes = 0
        """How often links have changed."""
        self._is_ready = True
        self.components = self._install(routes)
        network.on_change = self._wait_for_quiet

    @property
    def measures(self) -> Measures:
        """What has been measured so far."""
        return self._measures.add(self.components)

    @property
    def holdings(self) -> Iterator[Holding]:
        """What holds, on all motes together."""
        return (holding for component in self.components for holding in component.holdings)

    def list_rows(self, predicate: str) -> Iterator[Row]:
        """What holds of a predicate. Tuples that the program's text says live nowhere: every mote knows them."""
        yield from self._program.schemas[predicate].known or ()
        yield from (holding.row for holding in self.holdings if holding.predicate == predicate)

    def run(self, checked: Checked, facts: Facts) -> None:
        """Give every mote its facts, and let time go on until nothing happens any more."""
        self.begin(checked, facts)
        self.go_on(None)

    def begin(self, checked: Checked, facts: Facts) -> None:
        """Have every mote start, and be given its facts in time."""
        simulation = self.network.simulation
        simulation.at(0, self._start, priority=-1)
        for tick in facts.ticks:
            time = 0 if tick.now is None else self._program.calendar.to_clock(tick.now)
            for name, row in fit_rows(checked, tick.deletes):
                simulation.at(time, self._delete, name, row)
            for name, row in fit_rows(checked, tick.inserts):
                simulation.at(time, self._insert, name, row)

    def go_on(self, until: int | None) -> None:
        """Let time go on, up to a time if one is given."""
        try:
            self.network.simulation.run(until)
        except OverflowError as error:
            raise RuleLimit(str(error), "declare a limit, or count in floats") from None

    def _install(self, routes: Sequence[Routes]) -> list[Component]:
        installation = install(self._strategy, self._program, self.network, routes)
        program, plans = installation.program, list_plans(installation.program)

        def make(board: Board) -> Component:
            agenda = self._make_agenda(board, program.timing.hold_us)
            return Component(board, program, plans, routes[board.mote], self._calls, agenda, installation.technique)

        return self.network.install(make)

    def _make_agenda(self, board: Board, hold_us: int) -> Agenda:
        return StageAgenda(board.wake, hold_us) if self._order == "stage" else ArrivalAgenda()

    def _start(self) -> None:
        for component in self._living():
            component.start()

    def _living(self) -> Iterator[Component]:
        boards = self.network.boards
        return (each for each, board in zip(self.components, boards, strict=True) if board.is_alive)

    def _insert(self, predicate: str, row: Row) -> None:
        """A fact has come, where it arises: there it is kept, and lost if the mote is dead."""
        mote = find_home(self._program.schemas[predicate], row, self._program.motes)
        if self.given.insert(mote, predicate, row, self.network.boards[mote].is_alive) and self._is_ready:
            self.components[mote].insert(predicate, row)

    def _delete(self, predicate: str, row: Row) -> None:
        mote = find_home(self._program.schemas[predicate], row, self._program.motes)
        if self.given.delete(predicate, row) and self._is_ready:
            self.components[mote].delete(predicate, row)

    def _wait_for_quiet(self) -> None:
        """Links have changed, or a mote: everybody forgets, and begins when nothing of before is on the air."""
        if self._is_ready:
            self._measures, self._is_ready = self.measures, False
        self.given.lose(board.mote for board in self.network.boards if not board.is_alive)
        self.network.reboot()
        self._changes += 1
        quiet_us = bound_hop(self.network.radio.settings) + 1
        self.network.simulation.after(quiet_us, self._begin_anew, self._changes)

    def _begin_anew(self, changes: int) -> None:
        if changes != self._changes:
            return  # links have changed again
        self.components, self._is_ready = self._install(find_routes(self.network.living_topology)), True
        self._start()
        for mote, predicate, row in self.given:
            self.components[mote].insert(predicate, row)
