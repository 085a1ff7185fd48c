import pyarrow as pa
import pytest

from skerry.build.cut import cut_view
from skerry.errors import InputError
from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME
from skerry.plan.aggregate import Aggregate
from skerry.plan.fold import Fold
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan
from skerry.testing import laws
from tests.plan.test_nodes import MEAN, SCAN, SCHEMA, SLOW, TRAFFIC, WINDOW

MEANS = Aggregate(SCAN, WINDOW, "ts", ("segment",), (MEAN,))
HIGH = Expression('"mean" > 10', pa.bool_())


def stages(root, **options):
    return cut_view(ViewPlan("v", root, options))


def batch(*speeds):
    rows = [{"ts": 0, "segment": 1, "speed": speed} for speed in speeds]
    return pa.RecordBatch.from_pylist(rows, SCHEMA)


def routed(root, *speeds):
    return stages(root).feeds[0].build_route().transition(batch(*speeds)).to_pylist()


def operated(root, *speeds):
    found = stages(root)
    operator = found.build_operate()
    operator.transition(found.feeds[0].build_route().transition(batch(*speeds)))
    return operator.advance(END_OF_TIME).to_pylist()


def test_plan_without_an_aggregate_has_one_stage():
    found = stages(Select(SCAN, SLOW))
    assert (found.stateful, found.feeds[0].keys, found.above) == (False, (), ())


def test_plan_with_an_aggregate_is_cut_there():
    found = stages(Project(Select(MEANS, HIGH), ()))
    assert (found.stateful, found.feeds[0].keys) == (True, ("segment",))
    assert [type(node) for node in found.above] == [Select, Project]


def test_scan_alone_routes_every_column():
    assert stages(SCAN).feeds[0].build_route().transition(batch(20.0)) == batch(20.0)


def test_selection_alone_keeps_every_column():
    assert [row["speed"] for row in routed(Select(SCAN, SLOW), 20.0, 50.0)] == [20.0]


def test_selection_is_taken_into_the_projection_above_it():
    root = Project(Select(SCAN, SLOW), (("twice", Expression('"speed" * 2', pa.float64())),))
    assert routed(root, 20.0, 50.0) == [{"twice": 40.0}]


def test_selection_above_a_projection_sees_its_columns():
    twice = Project(SCAN, (("twice", Expression('"speed" * 2', pa.float64())),))
    assert routed(Select(twice, Expression('"twice" < 50', pa.bool_())), 20.0, 50.0) == [{"twice": 40.0}]


def test_two_selections_must_both_hold():
    fast = Expression('"speed" > 15', pa.bool_())
    assert [row["speed"] for row in routed(Select(Select(SCAN, SLOW), fast), 10.0, 20.0, 50.0)] == [20.0]


@pytest.mark.parametrize(("speeds", "rows"), [((20.0, 30.0), 1), ((2.0, 3.0), 0)])
def test_selection_above_the_aggregate_tests_its_answers(speeds, rows):
    assert len(operated(Select(MEANS, HIGH), *speeds)) == rows


def test_selection_below_the_aggregate_tests_readings():
    root = Aggregate(Select(SCAN, SLOW), WINDOW, "ts", (), (MEAN,))
    assert [row["mean"] for row in operated(root, 20.0, 50.0)] == [20.0]


def test_aggregate_over_an_aggregate_waits_for_its_windows():
    found = stages(Aggregate(MEANS, WINDOW, "window_start", (), (Fold("max", "mean", pa.float64(), "best"),)))
    assert [(stage.reader, stage.stream, stage.lag_us) for stage in found.below] == [(1, 0, WINDOW.size_us)]
    assert (found.feeds[0].keys, found.is_spread, found.entries) == ((), False, ((0, 0),))


def test_window_over_a_column_that_comes_in_any_order_is_refused():
    stamped = Project(MEANS, (("ts", Expression("now()", pa.timestamp("us"))),))
    with pytest.raises(InputError, match="here window_start, window_end can be used"):
        stages(Aggregate(stamped, WINDOW, "ts", (), (Fold("count", None, None, "n"),)))


def test_late_readings_go_where_the_view_says():
    assert stages(SCAN, late_to="late").late_to == "late"
    assert stages(SCAN).late_to is None


def test_stages_know_name_and_source():
    found = stages(Select(Scan(TRAFFIC), SLOW))
    assert (found.name, found.feeds[0].source) == ("v", TRAFFIC)


def test_each_part_is_built_afresh():
    found = stages(MEANS)
    assert found.build_operate() is not found.build_operate()


def test_second_stage_keeps_the_laws():
    found = stages(Select(MEANS, HIGH))
    partials = [
        found.feeds[0].build_route().transition(batch(*speeds)) for speeds in ((20.0, 30.0), (1.0,), (5.0, -0.0))
    ]
    steps = [(partial, -5) for partial in partials]
    laws.check_laws(found.build_operate, steps, time="slice")
