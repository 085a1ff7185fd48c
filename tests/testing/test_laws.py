"""Each law passes an operator that keeps it, and catches one that does not."""

import pyarrow as pa
import pytest

from skerry.model.batch import empty, join, pack, unpack
from skerry.model.time import END_OF_TIME, seconds
from skerry.operators.operator import Operator, PageChanges
from skerry.testing import laws


def batch(*moments: float) -> pa.RecordBatch:
    return pa.record_batch({"ts": pa.array([seconds(moment) for moment in moments], pa.timestamp("us"))})


STEPS = [(batch(1, 2), seconds(1)), (batch(4, 3, 1), seconds(3)), (batch(3, 9), seconds(5))]


class Hold(Operator):
    """Gives every row once the watermark has passed it, in one page of state."""

    schema = batch().schema

    def __init__(self) -> None:
        self.held = empty(self.schema)

    def transition(self, batch, stream=0):
        self.held = join([self.held, batch], self.schema)
        return empty(self.schema)

    def advance(self, watermark):
        passed = pa.array(self.held.column(0).cast(pa.int64()).to_numpy() < watermark)
        given, self.held = self.held.filter(passed), self.held.filter(pa.compute.invert(passed))
        return given

    def snapshot(self):
        return {"held": pack(self.held)}

    def changes(self):
        return PageChanges(self.snapshot())

    def restore(self, pages):
        self.held = unpack(pages["held"]) if "held" in pages else self.held


class Forgetful(Hold):
    def restore(self, pages):
        pass


class HalfSaved(Hold):
    def changes(self):
        return PageChanges({"held": pack(self.held.slice(0, 1))})


class Hasty(Hold):
    """Gives all rows in the end, but once restored without waiting for the watermark."""

    restored = False

    def advance(self, watermark):
        return super().advance(END_OF_TIME if self.restored else watermark)

    def restore(self, pages):
        super().restore(pages)
        self.restored = bool(pages)


class Unnamed(Hold):
    def changes(self):
        return PageChanges()


class CountsBatches(Hold):
    def transition(self, batch, stream=0):
        super().transition(batch)
        return batch.slice(0, 1)


class FirstOnly(Hold):
    def transition(self, batch, stream=0):
        return super().transition(batch if not self.held.num_rows else empty(self.schema))


class Undead(Hold):
    def advance(self, watermark):
        return self.held


def test_operator_that_keeps_all_laws_passes():
    laws.check_laws(Hold, STEPS, time="ts")


def test_no_steps_break_no_law():
    laws.check_laws(Hold, [], time="ts")


def test_operator_that_forgets_its_state_is_caught():
    with pytest.raises(AssertionError, match=r"saved and restored after each step.*missing \[\('1000000',\)"):
        laws.snapshot_mid_stream_changes_nothing(Forgetful, STEPS)


def test_operator_that_saves_half_of_its_changes_is_caught():
    with pytest.raises(AssertionError, match="restored from the changes after step 0, in step 1"):
        laws.incremental_changes_equal_snapshot(HalfSaved, STEPS)


@pytest.mark.parametrize("law", [laws.snapshot_mid_stream_changes_nothing, laws.incremental_changes_equal_snapshot])
def test_operator_that_gives_rows_in_another_step_once_restored_is_caught(law):
    with pytest.raises(AssertionError, match=r"in step \d, .* 0 missing"):
        law(Hasty, STEPS)


def test_operator_that_does_not_tell_of_a_page_is_caught():
    with pytest.raises(AssertionError, match=r"add up to pages \[\], the snapshot has \['held'\]"):
        laws.incremental_changes_equal_snapshot(Unnamed, STEPS)


def test_operator_that_counts_batches_is_caught():
    with pytest.raises(AssertionError, match="all in one batch, the operator gives other answers"):
        laws.one_batch_equals_many(CountsBatches, STEPS)


def test_operator_that_depends_on_order_is_caught():
    with pytest.raises(AssertionError, match=r"in another order \(seed 1\)"):
        laws.order_within_watermark_does_not_matter(FirstOnly, STEPS, time="ts", seed=1)


class Growing(Hold):
    def snapshot(self):
        return {"held": pack(self.held), **{str(row): b"" for row in range(self.held.num_rows)}}


class NeverLetsGo(Growing):
    def advance(self, watermark):
        return empty(self.schema)


def test_operator_that_leaves_panes_is_caught():
    with pytest.raises(AssertionError, match=r"snapshot still has \['0', '1'"):
        laws.state_stays_bounded(NeverLetsGo, STEPS)


def test_operator_that_leaves_rows_in_a_page_is_caught():
    with pytest.raises(AssertionError, match="bytes in page 'held'"):
        laws.state_stays_bounded(Undead, [(batch(*range(50)), seconds(9))])


def test_rows_are_compared_to_the_last_bit_and_nan_as_one():
    spelled = laws.rows_of(pa.record_batch({"x": [0.0, -0.0, float("nan"), float("nan"), 0.1 + 0.2, None]}))
    assert spelled == {("0.0",): 1, ("-0.0",): 1, ("nan",): 2, ("0.30000000000000004",): 1, ("None",): 1}


def test_answers_hold_what_the_end_of_time_settles():
    assert sum(laws.answers(Hold(), STEPS).values()) == 7


def test_changes_are_applied_as_a_runtime_would():
    saved = {"a": b"1", "b": b"2"}
    laws.apply_changes(PageChanges({"a": b"3"}, ["b"]), saved)
    assert saved == {"a": b"3"}


def test_moments_after_all_dates_can_be_compared():
    late = pa.record_batch({"ts": pa.array([END_OF_TIME], pa.timestamp("us"))})
    assert laws.rows_of(late) == {(str(END_OF_TIME),): 1}
