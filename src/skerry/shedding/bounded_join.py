"""The complete join of several streams, each window within a budget."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError, LimitError
from skerry.kernels.joins.snjoin import Tuples, check_tuples
from skerry.kernels.shedding.bounded_join import COUNTERS, LOG, POLICY, WINDOWS, join, sweep
from skerry.kernels.shedding.loss_counters import COMMON, LIMIT, LOGGED, PAGES, REFUSING, empty_counters, sample_hashes
from skerry.kernels.shedding.policies.pattern import drop_counts, recount
from skerry.kernels.shedding.window_arrays import complete, empty_windows, grow_windows, rows_held, strip
from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import Micros
from skerry.shedding.losses import Ledger, SpanLoss
from skerry.shedding.packing import pack_arrays, unpack_arrays
from skerry.shedding.policies import POLICIES, make_policy

__all__ = ["POLICIES", "Balance", "BoundedJoin"]


_MOST_STREAMS = 64
_MOST = 2.0**61
_FEW = 1024
_UNUSUAL = 2.0
"""When not all is taken in, a step may give so many times the combinations that its share leads one to expect."""
_ALWAYS = 10_000
"""As many combinations a step may give, whatever is usual."""
_SAVED_AS = {"class_index": "places", "situation_index": "places"}
"""Fields that are saved under an older name, so that state saved before they were renamed can still be restored."""


class Balance(NamedTuple):
    """What became of the tuples of each stream; received = shed + expired + kept."""

    received: Int64s
    shed: Int64s
    expired: Int64s
    kept: Int64s


class BoundedJoin:
    """A complete join whose window of stream i holds at most ``budgets[i]`` tuples; a policy says who must go.

    Tuples are taken one at a time, in the order given. As long as no budget is reached, the answers are those of
    ``OccurrenceTable``, disorder included. A ``sample`` of the keys is never shed, to measure what the others lose;
    it is smaller if it would take more than a tenth of a window. Losses are reported by spans of event time, each
    ``span_us`` long. ``share`` is the fraction of arrivals that are taken in at all. If it is less than one, the
    arrivals that promise least are refused; and so is the rest of a call that gives far more combinations than
    recent calls did for such a share, for the time of a call grows with its combinations. With ``hash_values``
    patterns are those of a table of so many hash values.

    >>> join = BoundedJoin(2, np.array([1, 1]), "oldest", sample=0.0, span_us=100)
    >>> streams, keys, starts = np.array([0, 0, 1, 1]), np.array([7, 8, 7, 8]), np.array([1, 2, 3, 4])
    >>> join.join(Tuples(streams, keys, starts, ends=starts + 10, rows=np.array([0, 1, 0, 1])), limit=10).tolist()
    [[1, 1]]
    >>> join.balance().shed.tolist()
    [1, 1]
    """

    def __init__(
        self,
        stream_count: int,
        budgets: Int64s,
        policy: str,
        *,
        hash_values: int = 0,
        sample: float = 0.01,
        span_us: int,
        seed: int = 0,
    ) -> None:
        if budgets.size != stream_count:
            raise KernelError("streams and their budgets differ in number:", stream_count, budgets.size)
        if not 0 < stream_count <= _MOST_STREAMS:
            raise KernelError(f"bounded windows are for up to {_MOST_STREAMS} streams, got", stream_count)
        if budgets.min() < 1 or span_us < 1:
            raise KernelError("budgets and spans are at least 1, got", int(budgets.min()), span_us)
        self.share = 1.0
        self._usual = 0.0
        self._windows = empty_windows(budgets.astype(np.int64))
        self._policy = make_policy(policy, self._windows, seed, hash_values)
        self._hash_values = hash_values
        self._counters = empty_counters(stream_count, self._policy.label_count, span_us, sample)
        self._ledger = Ledger(stream_count, Micros(span_us))

    def join(self, tuples: Tuples, limit: int) -> Int64s:
        """Take tuples in, give each combination that one of them completes: its rows, one per stream.

        Once there are as many as allowed, all others are refused. Those of the sample may give as many again.
        """
        tuples, pieces, row, given, wanted = self._begin(tuples), [], 0, 0, 0
        enough = self._enough(tuples.keys.size, limit)
        while row < tuples.keys.size:
            output = self._output(min(max(wanted, 2 * given, _FEW), enough - given))
            row, filled, _, answers, reason = join(
                self._windows, self._policy, self._counters, tuples, row, output, False
            )
            pieces.append(output[:, :filled])
            given += filled
            wanted = int(min(answers, _MOST))
            if given + wanted > enough:
                if self._refuses_all():
                    message = (
                        f"the sample of a step gives {given + wanted} combinations of tuples or more, the limit is"
                    )
                    raise LimitError(message, 2 * limit)
                self._refuse_all()
                enough = 2 * limit
            self._make_room(reason)
        if tuples.keys.size:
            self._usual = (self._usual + given / (tuples.keys.size * self.share)) / 2
        return np.concatenate(pieces or [self._output(0)], axis=1).T

    def count(self, tuples: Tuples) -> float:
        """Take tuples in, give how many combinations they complete, without spelling them out."""
        tuples, row, given, nothing = self._begin(tuples), 0, 0.0, self._output(0)
        while row < tuples.keys.size:
            row, _, counted, _, reason = join(self._windows, self._policy, self._counters, tuples, row, nothing, True)
            given += counted
            self._make_room(reason)
        return given

    def sweep(self, watermark: Micros) -> None:
        """Forget the tuples of each stream that ended before ``watermark``, until the first that has not."""
        sweep(self._windows, self._policy, watermark)

    def live_rows(self, stream: int) -> Int64s:
        """The rows that a window holds, in order."""
        return np.sort(rows_held(self._windows, stream), kind="stable")

    @property
    def kept(self) -> int:
        """How many tuples all windows hold."""
        return int(self._windows.streams["held"].sum())

    def balance(self) -> Balance:
        """What became of all tuples so far."""
        return Balance(*(self._windows.streams[name].copy() for name in ("received", "shed", "expired", "held")))

    def losses(self, before: Micros) -> tuple[SpanLoss, ...]:
        """What the spans that ended by a moment cost; each is reported once."""
        self._read_counters()
        return self._ledger.close(before, float(self._counters.marks[LIMIT] / 2**53))

    def save(self) -> bytes:
        """All there is to know, to go on elsewhere as if nothing had happened; room that is not in use is left out."""
        self._read_counters()
        ledger = np.frombuffer(self._ledger.save(), np.uint8)
        return pack_arrays({**self._parts(), "ledger": ledger, "pace": np.array([self.share, self._usual])})

    def restore(self, blob: bytes) -> None:
        """Take over what was saved."""
        kinds = {name: array.dtype for name, array in self._parts().items()}
        arrays = unpack_arrays(blob, {**kinds, "ledger": np.dtype(np.uint8), "pace": np.dtype(np.float64)})
        self._windows = complete(_rebuild(self._windows, arrays, "windows"))
        self._policy = recount(_rebuild(self._policy, arrays, "policy"), self._windows, self._hash_values)
        self._counters = _rebuild(self._counters, arrays, "books")
        self._ledger.restore(arrays["ledger"].tobytes())
        self.share, self._usual = arrays["pace"].tolist()

    def _parts(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays by the name they are saved under, but for those that follow from others."""
        records = {"windows": strip(self._windows), "policy": drop_counts(self._policy), "books": self._counters}
        return {
            full_name: array for name, record in records.items() for full_name, array in _arrays(record, name).items()
        }

    def _begin(self, tuples: Tuples) -> Tuples:
        """The tuples as kernels take them; what is to be refused of them is settled."""
        self._counters.marks[REFUSING] = self.share < 1.0
        self._counters.cuts[:, 2] = 1.0 - self.share
        if self._refuses_all():
            self._counters.cuts[:, 3] = 0.0
        if self.share < 1.0:
            for stream, (recent, judged) in enumerate(zip(self._counters.recent, self._counters.judged, strict=True)):
                self._counters.cuts[stream, :2] = _find_cut(np.sort(recent[:judged]), 1.0 - self.share)
        else:
            self._counters.cuts[:, 3] = 0.0
        return check_tuples(tuples, len(self._windows.streams))

    def _enough(self, arrivals: int, limit: int) -> int:
        """How many combinations a call may give before the rest is refused."""
        if self.share == 1.0:
            return limit
        return int(min(limit, max(_ALWAYS, _UNUSUAL * self._usual * arrivals * self.share)))

    def _refuse_all(self) -> None:
        """Take nothing in but the sample: there is always more to be refused."""
        self._counters.marks[REFUSING] = True
        self._counters.cuts[:, 2:] = 1.0, np.inf

    def _refuses_all(self) -> bool:
        return bool(np.isinf(self._counters.cuts[:, 3]).any())

    def _output(self, size: int) -> Int64s:
        """Room for so many combinations, stream by stream."""
        return np.empty((len(self._windows.streams), size), np.int64)

    def _make_room(self, reason: int) -> None:
        """Make room for what a kernel had none for."""
        before = self._windows
        if reason == WINDOWS:
            self._windows = grow_windows(before)
        if reason in (WINDOWS, POLICY):
            if self._policy.is_crowded():
                self._read_counters()  # what is counted there goes by the policy's numbers, and these may change
            self._policy = self._policy.grow(before, self._windows)
            self._widen_pages()
        if reason in (COUNTERS, LOG):
            if reason == LOG and not self._counters.marks[LOGGED]:
                self._lengthen_log()
            self._read_counters()

    def _widen_pages(self) -> None:
        pages = self._counters.pages
        more = 1 + len(self._windows.streams) + self._policy.label_count - pages.shape[1]
        if more > 0:
            self._counters = self._counters._replace(pages=np.pad(pages, ((0, 0), (0, more))))

    def _lengthen_log(self) -> None:
        spans, sums = self._counters.log_spans, self._counters.log_sums
        self._counters = self._counters._replace(
            log_spans=np.concatenate([spans, spans]), log_sums=np.concatenate([sums, sums])
        )

    def _read_counters(self) -> None:
        """Take what the kernels counted into the ledger, and begin new pages."""
        marks, streams = self._counters.marks, len(self._windows.streams)
        pages = self._counters.pages[: marks[PAGES]]
        labels = np.flatnonzero(pages[:, 1 + streams :].any(axis=0)).tolist()
        names = {streams + label: self._policy.describe_label(label) for label in labels}
        for span, *counts in pages.tolist():
            shed = {name: counts[column] for column, name in names.items() if counts[column]}
            self._ledger.count_arrivals(span, counts[:streams], shed)
        logged = self._counters.log_spans[: marks[LOGGED]].tolist()
        for (span, sampled, key), sums in zip(logged, self._counters.log_sums, strict=False):
            if sampled:
                self._ledger.count_sample(span, key, sums)
            else:
                self._ledger.count_answers(span, float(sums[0]))
        marks[PAGES] = marks[LOGGED] = marks[COMMON] = 0
        keys = np.array(self._ledger.sampled_keys(), np.int64)
        self._ledger.drop(keys[sample_hashes(keys) >= marks[LIMIT]].tolist())


def _find_cut(recent: Float64s, fraction: float) -> tuple[float, float]:
    """What an arrival must be worth so that a fraction is refused, and the fraction to refuse of those worth that."""
    if not recent.size:
        return -np.inf, 0.0
    cut = recent[min(int(fraction * recent.size), recent.size - 1)]
    below, equal = np.count_nonzero(recent < cut), np.count_nonzero(recent == cut)
    return float(cut), (fraction * recent.size - below) / equal


def _arrays(record: Any, name: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a tuple with named fields, and of those within it."""
    if isinstance(record, np.ndarray):
        return {name: record}
    parts = (_arrays(value, f"{name}.{_SAVED_AS.get(part, part)}") for part, value in record._asdict().items())
    return {full_name: array for found in parts for full_name, array in found.items()}


def _rebuild(record: Any, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Any:
    """A tuple like this one, made of other arrays."""
    if isinstance(record, np.ndarray):
        return arrays[name]
    return record._replace(
        **{
            part: _rebuild(value, arrays, f"{name}.{_SAVED_AS.get(part, part)}")
            for part, value in record._asdict().items()
        }
    )
