"""SNJoin* by counts: thousands of sensors, millions of tuples."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skerry.errors import InputError
from skerry.kernels.network.draws import find_cell
from skerry.kernels.network.occurrence_lists import lay_out_lists
from skerry.kernels.network.probing import simulate
from skerry.kernels.network.probing_state import BEGUN, TOTAL_NAMES, Rules, World, start_run
from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.network.radio import RadioSettings
from skerry.network.snjoin.relevance import RelevanceSettings
from skerry.network.snjoin.settings import JoinSettings
from skerry.network.snjoin.wire import count_note_bytes, count_probe_bytes, count_tuple_bytes

__all__ = ["Counted", "CountedJoin", "Probing"]

_FOREVER = 2**61


@dataclass(frozen=True)
class Probing:
    """How heads probe: all (no ``relevance``), or by relevance feedback; with one table per head or per sensor.

    ``announce_us``: that often heads announce how selective they are, and all are probed in that order.
    """

    relevance: RelevanceSettings | None = None
    table_per_sensor: bool = False
    announce_us: int = 0


@dataclass(frozen=True)
class Counted:
    """What a run gave after its warm-up, by the names of ``TOTAL_NAMES``."""

    totals: dict[str, int]
    found: Int64s
    """Per tuple, in order of (time, sensor): how many tuples its answer has; -1 if no answer came."""
    begun: int
    head_count: int


@dataclass(frozen=True)
class CountedJoin:
    """Sensors in clusters. As ``ClusteredJoin``, but members of answers are counted only, and nothing is lost.

    >>> counted = CountedJoin([0, 0, 2, 2]).run(np.array([1_000, 2_000]), np.array([1, 3]), np.array([7, 7]))
    >>> counted.found.tolist()
    [0, 1]
    """

    head_of: Sequence[int]
    settings: JoinSettings = field(default_factory=JoinSettings)
    probing: Probing = field(default_factory=Probing)
    radio: RadioSettings = field(default_factory=RadioSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        if self.radio.most_delay_us > self.settings.settle_us or self.radio.loss:
            raise InputError(f"counts need links that lose nothing and are no slower than settle_us; got {self.radio}")

    def run(
        self, times: Int64s, sensors: Int64s, values: Int64s, warm_up_us: int = 0, end_us: int = _FOREVER
    ) -> Counted:
        """Let sensors read values at times, in order of (time, sensor); count from ``warm_up_us`` to ``end_us``."""
        world = self._lay_out(times, sensors.astype(np.int64), values)
        run = start_run(times.size, self.heads.size, self._make_relevance())
        run = simulate(world, run, self._make_rules(warm_up_us, end_us))
        totals = dict(zip(TOTAL_NAMES, run.sums.tolist(), strict=True))
        return Counted(totals, world.found, int(run.counters[BEGUN]), self.heads.size)

    @property
    def heads(self) -> Int64s:
        """The heads' motes, in order."""
        return np.unique(np.asarray(self.head_of, np.int64))

    def _lay_out(self, times: Int64s, sensors: Int64s, values: Int64s) -> World:
        """What is known beforehand."""
        heads, head_of, known = self.heads, np.asarray(self.head_of, np.int64), np.unique(values)
        number_of = np.searchsorted(heads, head_of)
        sizes, codes, owners = np.bincount(number_of), np.searchsorted(known, values), number_of[sensors]
        is_sent = head_of[sensors] != sensors
        return World(
            times=times,
            sensors=sensors,
            values=codes,
            heads=owners,
            lowers=np.searchsorted(times, times - self.settings.window_us),
            stored=np.zeros(times.size, np.int64),
            receipts=self._receive(times, is_sent),
            following=np.zeros(times.size, np.int64),
            head_lists=lay_out_lists(owners, codes, heads.size, known.size),
            sensor_lists=lay_out_lists(sensors, codes, head_of.size, known.size),
            lookups=sizes if self.probing.table_per_sensor else np.ones(heads.size, np.int64),
            cells=self._find_cells(known)[codes],
            starts=np.append(0, np.cumsum(sizes)),
            members=np.argsort(number_of, kind="stable"),
            found=np.full(times.size, -1),
            is_sent=is_sent,
        )

    def _receive(self, times: Int64s, is_sent: Bools) -> Int64s:
        """When which tuple reaches its head, in that order."""
        least, most = self.radio.least_delay_us, self.radio.most_delay_us
        arrivals = times + is_sent * np.random.default_rng(self.seed).integers(least, most + 1, times.size)
        order = np.argsort(arrivals, kind="stable")
        return np.stack([arrivals[order], order], axis=1)

    def _find_cells(self, values: Int64s) -> Int64s:
        cells = 1 if self.probing.relevance is None else self.probing.relevance.cells
        return np.array([find_cell(int(value), cells) for value in values], np.int64)

    def _make_relevance(self) -> Float64s:
        relevance, size = self.probing.relevance, self.heads.size
        return np.empty((0, 0, 0)) if relevance is None else np.full((size, relevance.cells, size), relevance.base)

    def _make_rules(self, warm_up_us: int, end_us: int) -> Rules:
        settings, radio = self.settings, self.radio
        relevance = self.probing.relevance or RelevanceSettings()
        probe, note = count_probe_bytes(0, 0), count_note_bytes(0)
        return Rules(
            settle_us=settings.settle_us,
            buffer_size=settings.buffer_size,
            operation_us=float(settings.operation_us),
            drawing=(self.seed, relevance.least, relevance.normalised),
            least_delay_us=radio.least_delay_us,
            most_delay_us=radio.most_delay_us,
            seed=self.seed,
            gives_feedback=self.probing.relevance is not None,
            warm_up_us=warm_up_us,
            end_us=end_us,
            announce_us=self.probing.announce_us,
            tuple_bytes=count_tuple_bytes(),
            probe_bytes=probe,
            head_bytes=count_probe_bytes(1, 0) - probe,
            member_bytes=count_probe_bytes(0, 1) - probe,
            note_bytes=note,
            weight_bytes=count_note_bytes(1) - note,
        )
