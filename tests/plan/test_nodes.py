import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.expression import Expression
from skerry.model.time import seconds
from skerry.model.window import Window
from skerry.plan.aggregate import Aggregate
from skerry.plan.fold import Fold
from skerry.plan.node import Stateful
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "segment": pa.int32(), "speed": pa.float64()})
TRAFFIC = Source("traffic", SCHEMA, "file")
SCAN = Scan(TRAFFIC)
SLOW = Expression('"speed" < 30', pa.bool_())
WINDOW = Window(seconds(30), seconds(30))
MEAN = Fold("avg", "speed", pa.float64(), "mean")


def test_scan_has_the_schema_of_its_source():
    assert SCAN.schema == SCHEMA


def test_selection_keeps_the_schema():
    assert Select(SCAN, SLOW).schema == SCHEMA


def test_selection_needs_a_truth_value():
    with pytest.raises(InputError, match="a predicate must be BOOLEAN, got double"):
        Select(SCAN, Expression.of("speed", pa.float64()))


def test_projection_has_the_columns_it_computes():
    assert Project(SCAN, (("slow", SLOW),)).schema == pa.schema({"slow": pa.bool_()})


def test_projection_refuses_two_columns_of_one_name():
    with pytest.raises(InputError, match="two columns have the name 'slow'; give one another name with AS"):
        Project(SCAN, (("slow", SLOW), ("slow", SLOW)))


def test_aggregate_has_window_keys_and_folds():
    found = Aggregate(SCAN, WINDOW, "ts", ("segment",), (MEAN,)).schema
    assert found.names == ["window_start", "window_end", "segment", "mean"]
    assert found.field("segment").type == pa.int32()


@pytest.mark.parametrize(
    ("time", "keys", "argument", "missing"),
    [("when", (), "speed", "when"), ("ts", ("lane",), "speed", "lane"), ("ts", (), "sped", "sped")],
)
def test_aggregate_needs_its_columns(time, keys, argument, missing):
    fold = Fold("avg", argument, pa.float64(), "mean")
    with pytest.raises(InputError, match=f"an aggregate needs column '{missing}'; its input has ts, segment, speed"):
        Aggregate(SCAN, WINDOW, time, keys, (fold,))


def test_aggregate_needs_a_timestamp():
    with pytest.raises(InputError, match="a window needs a TIMESTAMP; 'speed' is double"):
        Aggregate(SCAN, WINDOW, "speed", (), (MEAN,))


def test_view_knows_the_sources_it_reads():
    root = Project(Aggregate(Select(SCAN, SLOW), WINDOW, "ts", (), (MEAN,)), ())
    assert ViewPlan("v", root).sources == (TRAFFIC,)


def test_nodes_are_values():
    assert Select(Scan(TRAFFIC), SLOW) == Select(SCAN, SLOW)


def test_a_node_that_does_not_say_needs_every_column_of_its_input():
    assert Aggregate(SCAN, WINDOW, "ts", (), (MEAN,)).columns_below(0, frozenset()) == frozenset(SCHEMA.names)


def test_a_selection_needs_what_it_asks_about_and_hands_its_parts_down():
    both = Select(SCAN, Expression('"speed" < 30 AND "segment" = 3', pa.bool_()))
    assert both.columns_below(0, frozenset({"ts"})) == {"ts", "speed", "segment"}
    assert [each.sql() for each in both.conditions_below(())] == ['"speed" < 30', '"segment" = 3']


def test_a_projection_hands_down_conditions_on_columns_that_it_renames():
    columns = (("v", Expression.of("speed", pa.float64())), ("w", Expression('"segment" + 1', pa.int32())))
    above = Select(Project(SCAN, columns), Expression('"v" < 30 AND "w" = 3', pa.bool_()))
    (only,) = above.input.conditions_below(above.conditions_below(()))
    assert only.sql() == '"speed" < 30'


def test_a_node_with_state_that_does_not_say_needs_every_reading():
    assert Stateful.needs_every_reading
    assert not Aggregate.needs_every_reading
