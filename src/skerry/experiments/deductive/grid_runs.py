"""One run on a grid: the hand-written search, or a rule program, and what is measured of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import cast

from skerry.experiments.deductive.programs import PROGRAMS, write_program
from skerry.network.radio import RadioSettings
from skerry.network.rules.run import Run, simulate
from skerry.network.tally import Tally
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology
from skerry.plan.program import Checked
from skerry.rivals.network.found_paths import LastStep, list_last_steps
from skerry.rivals.network.shortest_paths import find_shortest_paths

__all__ = ["BY_STAGE", "PROCEDURAL", "TECHNIQUES", "GridRun", "GridWorkload", "measure_grid"]

PROCEDURAL, BY_STAGE = "procedural", " by stage"
TECHNIQUES = (PROCEDURAL, *PROGRAMS, *(f"{program}{BY_STAGE}" for program in PROGRAMS))
"""The paper's order is that of arrival; by stage, a mote settles what it has learnt from the lowest stage up."""


@dataclass(frozen=True)
class GridRun:
    """What one run came to; ``missed`` is a share of last steps, ``far_off`` of motes without their distance."""

    technique: str
    side: int
    loss: float
    seed: int
    messages: int
    missed: float
    far_off: float
    mean_tuples: float = 0.0
    most_tuples: int = 0
    mean_derivations: float = 0.0
    most_derivations: int = 0


@dataclass(frozen=True)
class GridWorkload:
    """A square grid with its root in the middle."""

    side: int

    @cached_property
    def topology(self) -> Topology:
        """Unit links."""
        return make_grid(self.side, self.side)

    @property
    def root(self) -> int:
        """In the middle; of four, the one with the highest number."""
        return self.side // 2 * self.side + self.side // 2

    @cached_property
    def true_steps(self) -> frozenset[LastStep]:
        """What a search that sees all links finds."""
        return list_last_steps(self.topology, self.root)

    @cached_property
    def programs(self) -> dict[str, Checked]:
        """The rule programs for this grid."""
        return {name: write_program(name, self.root, 2 * (self.side - 1)) for name in PROGRAMS}

    def measure(self, technique: str, loss: float, seed: int) -> GridRun:
        """One run of a technique."""
        settings = RadioSettings(loss=loss)
        if technique == PROCEDURAL:
            found = find_shortest_paths(self.topology, self.root, settings, seed)
            return self._judge(technique, loss, seed, found.tally, found.last_steps)
        name, order = technique.removesuffix(BY_STAGE), "stage" if technique.endswith(BY_STAGE) else "arrival"
        # Nothing is expected: the true last steps are known, and the engine in one process need not run.
        run = simulate(
            self.programs[name], None, self.topology, strategy="broadcast", radio=settings, seed=seed, order=order,
            expected={"H": []},
        )  # fmt: skip
        steps = cast("frozenset[LastStep]", frozenset(run.answers["H"]))
        return self._judge(technique, loss, seed, run.tally, steps, run)

    def _judge(
        self, technique: str, loss: float, seed: int, tally: Tally, steps: frozenset[LastStep], run: Run | None = None
    ) -> GridRun:
        missed = len(self.true_steps - steps) / len(self.true_steps)
        near = {(y, d) for _, y, d in steps & self.true_steps}
        far_off = 1.0 - len(near) / len(self.topology)
        memory = () if run is None else _measure_memory(run)
        return GridRun(technique, self.side, loss, seed, tally.total, missed, far_off, *memory)


def measure_grid(side: int, techniques: Sequence[str], losses: Sequence[float], seeds: int) -> Iterator[GridRun]:
    """Every technique at every loss, seed after seed. Without loss, too: delays are drawn."""
    workload = GridWorkload(side)
    for technique in techniques:
        for loss in losses:
            yield from (workload.measure(technique, loss, seed) for seed in range(seeds))


def _measure_memory(run: Run) -> tuple[float, int, float, int]:
    tuples = run.tuples_per_mote
    return fmean(tuples), max(tuples), run.derivations_per_tuple, run.most_derivations
