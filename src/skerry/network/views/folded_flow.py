"""An aggregate in a deployment, folded on its way."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView
from skerry.build.table import build_partial
from skerry.model.time import Micros
from skerry.network.mote import Board
from skerry.network.views.deployment import Deployment
from skerry.network.views.flow import NetworkFlow
from skerry.network.views.fold_mote import FoldMote
from skerry.network.views.fold_plan import make_fold_plan
from skerry.network.views.placement import Placement
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.partial_aggregate import SLICE
from skerry.plan.aggregate import Aggregate

__all__ = ["FoldedFlow"]


class FoldedFlow(NetworkFlow):
    """An aggregate that is folded up a tree or at cluster heads, slice by slice; windows close at the base station."""

    def __init__(
        self, view: CutView, tables: Mapping[str, pa.RecordBatch], deployment: Deployment, placement: Placement
    ) -> None:
        super().__init__(view, tables, deployment, placement)
        assert isinstance(view.state, Aggregate)
        state = view.state
        self._partial, self._slice_us = build_partial(state), state.window.slice_us
        self._merging = WindowAggregate(state.window, state.key_fields, state.folds)
        self._plan = make_fold_plan(deployment, placement)
        self._folding = self.network.install(self._make_mote)
        self._open: set[int] = set()

    def _make_mote(self, board: Board) -> FoldMote:
        stop, next_hop = self._plan.stops[board.mote], partial(self.routing.next_hop, board.mote)
        return FoldMote(
            board, stop, self.deployment.base, next_hop, self._partial.schema, self._merging.merge, self._deliver
        )

    def _take(self, number: int, mote: int, rows: pa.RecordBatch) -> None:
        folded = self._partial.transition(rows)
        starts = folded.column(SLICE).to_numpy()
        for start in np.unique(starts):
            self._folding[mote].keep(int(start), folded.take(pa.array(np.flatnonzero(starts == start))))
            self._open.add(int(start))

    def _deliver(self, rows: pa.RecordBatch) -> None:
        assert self.work is not None
        self._answer(self.deployment.base, self.work.transition(rows))

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Have the slices that are over sent up, then close windows."""
        assert self.work is not None
        for source, moment in newest.items():
            self.work.note_newest(source, moment)
        over = sorted(start for start in self._open if start + self._slice_us <= self.work.watermark)
        for start in over:
            self._send_up(start)
        self._open -= set(over)
        self.network.simulation.run()
        super().advance(newest, heard)

    def _send_up(self, start: int) -> None:
        """Each mote in its slot: longer than any hop takes, with all repetitions."""
        radio, simulation = self.deployment.radio, self.network.simulation
        slot_us = radio.most_delay_us * (radio.retries + 1) + 1
        ended = max(start + self._slice_us, simulation.now)
        for slot, mote in sorted((slot, mote) for mote, slot in enumerate(self._plan.slots)):
            simulation.at(ended + slot * slot_us, self._folding[mote].send, start)
