"""The motes of a run: given their programs and their facts, and read out when nothing is left to do."""

from collections.abc import Sequence

from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.deduce.values import Row
from skerry.errors import RuleLimit
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.rules.agenda import Agenda, ArrivalAgenda, StageAgenda
from skerry.network.rules.component import Component
from skerry.network.rules.homes import find_home
from skerry.network.rules.install import Installation
from skerry.network.rules.network_facts import fit_rows
from skerry.network.rules.plans import list_plans
from skerry.network.rules.routes import Routes
from skerry.plan.program import Checked

__all__ = ["RuleNetwork"]


class RuleNetwork:
    """A network with a program on every mote."""

    def __init__(
        self, network: Network, routes: Sequence[Routes], installation: Installation, calls: Calls, order: str
    ) -> None:
        self.network, self._program, self._order = network, installation.program, order
        plans, technique = list_plans(self._program), installation.technique

        def make(board: Board) -> Component:
            return Component(
                board, self._program, plans, routes[board.mote], calls, self._make_agenda(board), technique
            )

        self.components = network.install(make)

    def run(self, checked: Checked, facts: Facts) -> None:
        """Give every mote its facts, and let time go on until nothing happens any more."""
        self.begin(checked, facts)
        self.go_on(None)

    def begin(self, checked: Checked, facts: Facts) -> None:
        """Have every mote start, and be given its facts in time."""
        simulation = self.network.simulation
        for component in self.components:
            simulation.at(0, component.start, priority=-1)
        for tick in facts.ticks:
            time = 0 if tick.now is None else self._program.calendar.to_clock(tick.now)
            for name, row in fit_rows(checked, tick.deletes):
                simulation.at(time, self._find(name, row).delete, name, row)
            for name, row in fit_rows(checked, tick.inserts):
                simulation.at(time, self._find(name, row).insert, name, row)

    def go_on(self, until: int | None) -> None:
        """Let time go on, up to a time if one is given."""
        try:
            self.network.simulation.run(until)
        except OverflowError as error:
            raise RuleLimit(str(error), "declare a limit, or count in floats") from None

    def _make_agenda(self, board: Board) -> Agenda:
        hold_us = self._program.timing.hold_us
        return StageAgenda(board.wake, hold_us) if self._order == "stage" else ArrivalAgenda()

    def _find(self, predicate: str, row: Row) -> Component:
        """The mote on which a fact arises."""
        return self.components[find_home(self._program.schemas[predicate], row, self._program.motes)]
