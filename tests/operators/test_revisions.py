"""Operators whose rows can be taken back: saved and restored they go on alike, and in the end the net is the answer."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.session_window import SessionWindow
from skerry.model.slices import Slices
from skerry.model.time import END_OF_TIME, seconds
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.joins.outer_join import OuterJoin
from skerry.operators.joins.revised_outer_join import RevisedOuterJoin
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.operators.partial_revisions import PartialChanges, PartialGroups
from skerry.operators.revised_aggregate import RevisedAggregate
from skerry.operators.revised_sessions import RevisedSessions
from skerry.operators.session_aggregate import PartialSessions, SessionAggregate
from skerry.operators.top_rows import TopRows
from skerry.plan.over import OrderKey
from skerry.plan.side import Side
from skerry.testing import laws
from tests.operators.readings import ALL_FOLDS, SCHEMA, WINDOWS, steps
from tests.operators.two_halves import TwoHalves

FIELDS = [SCHEMA.field(key) for key in ("segment", "sensor")]
FOLDS = [each for each in ALL_FOLDS if each.argument in (None, "sensor", "speed", "odometer")]
GAP = SessionWindow(seconds(3))
WINDOW = WINDOWS[2]


def revised_window():
    return TwoHalves(
        PartialAggregate(Slices.of([WINDOW]), "ts", FIELDS, FOLDS), RevisedAggregate(WINDOW, FIELDS, FOLDS)
    )


def closed_windows():
    return TwoHalves(PartialAggregate(Slices.of([WINDOW]), "ts", FIELDS, FOLDS), WindowAggregate(WINDOW, FIELDS, FOLDS))


def closed_sessions():
    return TwoHalves(PartialSessions(GAP, "ts", FIELDS, FOLDS), SessionAggregate(GAP, FIELDS, FOLDS))


def running():
    return TwoHalves(PartialGroups(FIELDS, FOLDS), RevisedAggregate(None, FIELDS, FOLDS))


def revised_sessions():
    return TwoHalves(PartialSessions(GAP, "ts", FIELDS, FOLDS), RevisedSessions(GAP, FIELDS, FOLDS))


def top():
    return TopRows(SCHEMA, [OrderKey("flow", descending=True), OrderKey("ts")], 3, 1)


def joined(kind):
    sides = [Side("a", SCHEMA, ("segment",), "ts", 3_000_000), Side("b", SCHEMA, ("segment",), "ts", 1_000_000)]
    join = kind(sides)

    class BothSides(TwoHalves):
        """Wet readings are those of one side, and the others of the other."""

        def transition(self, batch, stream=0):
            wet = batch.column("wet").fill_null(False)
            join.transition(batch.filter(wet), 0)
            return join.transition(batch.filter(pc.invert(wet)), 1)

    return BothSides(join, join)


MAKERS = [revised_window, running, revised_sessions, top, lambda: joined(RevisedOuterJoin)]


def net_of(operator, given_steps) -> Counter:
    left = Counter()
    for batch, watermark in [*given_steps, *([(given_steps[0][0].slice(0, 0), END_OF_TIME)] if given_steps else [])]:
        for found in (operator.transition(batch), operator.advance(watermark)):
            for op, *row in laws.rows_of(found).elements():
                left[tuple(row)] += 1 if op == "'+'" else -1
    assert all(count >= 0 for count in left.values()), "a row was taken back that was not given"
    return +left


@pytest.mark.parametrize("make", MAKERS, ids=["window", "running", "sessions", "top", "outer join"])
@settings(max_examples=6, deadline=None)
@given(steps=steps())
def test_an_operator_goes_on_as_it_was_saved(make, steps):
    laws.snapshot_mid_stream_changes_nothing(make, steps)
    laws.incremental_changes_equal_snapshot(make, steps)


@pytest.mark.parametrize(
    ("make", "final"),
    [
        (revised_window, closed_windows),
        (revised_sessions, closed_sessions),
        (lambda: joined(RevisedOuterJoin), lambda: joined(OuterJoin)),
    ],
    ids=["window", "sessions", "outer join"],
)  # fmt: skip
@settings(max_examples=8, deadline=None)
@given(steps=steps())
def test_the_net_is_what_is_given_when_all_is_settled(make, final, steps):
    assert net_of(make(), steps) == laws.answers(final(), steps)


@settings(max_examples=10, deadline=None)
@given(steps=steps(), kept=st.integers(0, 2**30))
def test_rows_that_came_and_went_leave_nothing_in_any_aggregate(steps, kept):
    """Each reading comes, and all but some go again: the groups are those of the readings that stay."""
    if not steps:
        return
    rows = pa.concat_batches([batch for batch, _ in steps])
    stays = [bool(kept >> (row % 30) & 1) for row in range(rows.num_rows)]
    gone = rows.filter(pa.array([not each for each in stays], pa.bool_()))
    schema = pa.schema([pa.field("_op", pa.string()), *SCHEMA])
    signed = [pa.RecordBatch.from_arrays([pa.array([op] * part.num_rows, pa.string()), *part.columns], schema=schema)
              for op, part in (("+", rows), ("-", gone))]  # fmt: skip
    operator = TwoHalves(PartialChanges(FIELDS, FOLDS), RevisedAggregate(None, FIELDS, FOLDS, is_signed=True))
    found = net_of(operator, [(batch, seconds(0)) for batch in signed])
    assert found == net_of(running(), [(rows.filter(pa.array(stays, pa.bool_())), seconds(0))])
