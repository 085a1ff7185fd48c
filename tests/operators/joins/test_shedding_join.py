import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME
from skerry.operators.joins.shedding_join import SheddingJoin
from skerry.shedding.bounded_join import POLICIES
from skerry.shedding.report import LOSSES
from skerry.testing import laws
from tests.operators.joins.test_multi_join import SCHEMA, Streams, batch_of, side, steps

few = settings(max_examples=15)
policies = pytest.mark.parametrize("policy", sorted(POLICIES))
spans = st.lists(st.integers(0, 6), min_size=2, max_size=4)
STREAM = pa.field("stream", pa.int64())


class Shedding(Streams):
    def __init__(self, windows, memory_rows, policy, **options):
        super().__init__(windows, ("tag",))
        sides = [side(f"s{stream}", span_us=span) for stream, span in enumerate(windows)]
        self._join = join = SheddingJoin(sides, memory_rows, policy, **options)
        self.advance, self.changes, self.restore, self.snapshot = (
            join.advance,
            join.changes,
            join.restore,
            join.snapshot,
        )
        self.losses, self.figures, self.take_in = join.losses, join.figures, join.take_in

    def held_counts(self):
        """The rows of each side that its saved state holds."""
        pages = {name: blob for name, blob in self.snapshot().items() if name[0].isdigit()}
        found = [0] * self._stream_count
        for name, blob in pages.items():
            found[int(name.split("/")[0])] += pa.ipc.open_stream(blob).read_all().num_rows
        return found


def in_turn(count, first=0, keys=1):
    """Readings of two streams in turn."""
    rows = [{"stream": n % 2, "ts": n, "tag": n // 2 % keys, "row": n} for n in range(first, first + count)]
    return batch_of(rows, SCHEMA.append(STREAM))


@policies
@few
@given(steps=steps(), spans=spans)
def test_what_fits_into_the_budget_is_joined_as_ever(policy, steps, spans):
    expected = laws.answers(Streams(spans, ("tag",)), steps)
    assert laws.answers(Shedding(spans, 1_000, policy), steps) == expected


@policies
@few
@given(steps=steps(), spans=spans, memory_rows=st.integers(1, 3))
def test_answers_are_some_of_those_without_a_budget(policy, steps, spans, memory_rows):
    whole = laws.answers(Streams(spans, ("tag",)), steps)
    assert laws.answers(Shedding(spans, memory_rows, policy), steps) <= whole


@policies
@few
@given(steps=steps(), spans=spans, memory_rows=st.integers(1, 3))
def test_saving_and_restoring_changes_nothing(policy, steps, spans, memory_rows):
    laws.snapshot_mid_stream_changes_nothing(lambda: Shedding(spans, memory_rows, policy), steps)
    laws.incremental_changes_equal_snapshot(lambda: Shedding(spans, memory_rows, policy), steps)


@policies
@few
@given(steps=steps(), spans=spans, memory_rows=st.integers(1, 3))
def test_budget_holds_and_all_readings_are_accounted_for(policy, steps, spans, memory_rows):
    operator = Shedding(spans, memory_rows, policy)
    for batch, watermark in steps:
        operator.transition(batch)
        operator.advance(watermark)
        figures = operator.figures()
        assert max(operator.held_counts()) <= memory_rows
        assert sum(operator.held_counts()) <= figures["kept"]
        assert figures["received"] == figures["shed"] + figures["expired"] + figures["kept"]


def test_losses_are_reported_once_by_span_and_stream():
    operator = Shedding([2_000_000, 2_000_000], 2, "oldest")
    losses = []
    for first in range(0, 60, 20):
        operator.transition(in_turn(20, first))
        operator.advance(first)
        losses.append(operator.losses())
    operator.advance(END_OF_TIME)
    losses += [operator.losses(), operator.losses()]
    rows = [row for batch in losses for row in batch.to_pylist()]
    assert all(batch.schema == LOSSES for batch in losses)
    assert sum(row["shed"] for row in rows if row["stream"]) == operator.figures()["shed"] == 56
    assert [row["stream"] for row in rows] == ["s0", "s1", None]
    assert rows[0]["shed_by"] == [{"pattern": "oldest", "shed": 28}]


def test_overload_in_time_is_met_by_taking_less_in():
    operator = Shedding([10, 10], 1_000, "pattern")
    operator.transition(in_turn(400, keys=100))
    operator.advance(400)
    assert operator.figures()["shed"] == 0
    operator.take_in(0.1)
    operator.transition(in_turn(400, 400, keys=100))
    operator.advance(800)
    assert 300 < operator.figures()["shed"] <= 400
    operator.take_in(1.0)
    before = operator.figures()["shed"]
    operator.transition(in_turn(400, 800, keys=100))
    operator.advance(END_OF_TIME)
    assert operator.figures()["shed"] == before
    assert operator.figures()["kept"] == 0


def test_hashed_patterns_of_amjoin_give_no_false_answers():
    rows = [{"stream": n % 3, "ts": n, "tag": n // 3, "row": n} for n in range(90)]
    batch = batch_of(rows, SCHEMA.append(STREAM))
    found = laws.answers(Shedding([50] * 3, 20, "pattern", hashed=True), [(batch, END_OF_TIME)])
    assert found.total() == 30
