import pyarrow as pa
import pytest

from skerry.build.cut import cut_view
from skerry.errors import SqlError
from skerry.model.arrival import ARRIVAL
from skerry.plan.join import Join
from skerry.plan.project import Project
from skerry.plan.select import Select
from tests.lang.sql.plans import Sources

SOURCES = """
CREATE SOURCE a (k INT, name VARCHAR, ts TIMESTAMP, x DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='a.csv');
CREATE SOURCE b (k BIGINT, name VARCHAR, ts TIMESTAMP, y DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='b.csv');
CREATE SOURCE c (k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector='file', path='c.csv');
CREATE SOURCE timeless (k INT)
WITH (connector='file', path='t.csv');
"""
A = "SLIDING(a, ts, INTERVAL '1' MINUTE) AS a"
B = "SLIDING(b, ts, INTERVAL '2' MINUTE) AS b"
C = "SLIDING(c, ts, INTERVAL '3' MINUTE) AS c"
TUMBLE = "TUMBLE(b, ts, INTERVAL '1' MINUTE) AS t"
HOP = "HOP(c, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) AS h"


SCRIPT = Sources(SOURCES)
planned, refused = SCRIPT.planned, SCRIPT.refused


def join_of(query, options=""):
    return SCRIPT.found(Join, query, options)


def test_equal_columns_become_keys():
    found = join_of(f"SELECT x, y FROM {A} JOIN {B} ON a.name = b.name")
    assert [side.keys for side in found.sides] == [("name",), ("name",)]


def test_windows_are_those_of_the_streams():
    found = join_of(f"SELECT x, y FROM {A} JOIN {B} ON a.name = b.name")
    assert [side.span_us for side in found.sides] == [60_000_000, 120_000_000]


def test_only_needed_columns_travel():
    found = join_of(f"SELECT x FROM {A} JOIN {B} ON a.name = b.name")
    assert [set(side.schema.names) for side in found.sides] == [{"name", "ts", "x"}, {"name", "ts"}]


def test_keys_of_different_types_are_compared_in_a_common_one():
    found = join_of(f"SELECT x FROM {A} JOIN {B} ON a.k = b.k")
    assert [side.schema.field(side.keys[0]).type for side in found.sides] == [pa.int64(), pa.int64()]


def test_keys_may_be_expressions():
    found = join_of(f"SELECT x FROM {A} JOIN {B} ON upper(a.name) = b.name || '!'")
    assert [side.keys for side in found.sides] == [("#0",), ("#0",)]


def test_key_is_found_through_a_chain_of_equalities():
    found = join_of(f"SELECT x FROM {A} JOIN {B} ON a.k = b.k JOIN {C} ON c.k = b.k")
    assert [len(side.keys) for side in found.sides] == [1, 1, 1]


def test_key_is_found_through_a_star_of_equalities():
    found = join_of(f"SELECT x FROM {A}, {B}, {C} WHERE b.k = a.k AND a.k = c.k")
    assert [len(side.keys) for side in found.sides] == [1, 1, 1]


def test_equality_of_some_streams_only_is_left_for_the_combinations():
    node = planned(f"SELECT x FROM {A} JOIN {B} ON a.k = b.k AND a.name = b.name JOIN {C} ON c.k = b.k").root
    assert isinstance(node, Project)
    assert isinstance(node.input, Select)
    assert node.input.text == "a.name = b.name"


def test_condition_on_one_stream_goes_down_to_it():
    found = join_of(f"SELECT x FROM {A} JOIN {B} ON a.k = b.k AND a.x > 3 WHERE y < 2")
    texts = [side.input.text for side in found.relations]
    assert texts == ["a.x > 3", "y < 2"]


def test_condition_across_streams_stays_above():
    node = planned(f"SELECT x FROM {A} JOIN {B} ON a.k = b.k WHERE a.ts < b.ts").root
    assert node.input.text == "a.ts < b.ts"


def test_stream_joins_itself_by_alias():
    view = planned(
        "SELECT l.x FROM SLIDING(a, ts, INTERVAL '1' SECOND) AS l "
        "JOIN SLIDING(a, ts, INTERVAL '1' SECOND) AS r USING (k)"
    )
    assert [source.name for source in view.sources] == ["a"]
    assert [feed.name for feed in cut_view(view).feeds] == ["l", "r"]


def test_star_stands_for_the_columns_of_a_stream():
    assert planned(f"SELECT a.*, y FROM {A} JOIN {B} USING (k)").root.schema.names == ["k", "name", "ts", "x", "y"]


def test_column_of_using_needs_no_table():
    assert planned(f"SELECT k FROM {A} JOIN {B} USING (k)").root.schema.types == [pa.int32()]


def test_technique_can_be_chosen():
    assert join_of(f"SELECT x FROM {A} JOIN {B} USING (k)", "WITH (join='snjoin')").technique == "snjoin"


def test_counted_rows_need_one_bucket_and_an_order_of_arrival():
    found = cut_view(planned(f"SELECT x FROM {A} JOIN LAST_ROWS(b, 10) AS b ON a.k = b.k"))
    assert not found.is_spread
    assert all(ARRIVAL in side.schema.names for side in found.state.sides)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (f"SELECT x FROM {A} JOIN b ON a.k = b.k", "a stream is joined over a window: SLIDING(b, ts"),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(timeless, 3) AS t ON a.k = t.k", "needs a time to be joined"),
        (f"SELECT x FROM {A} JOIN {A} ON a.k = a.k", "two relations are called 'a'"),
        (f"SELECT k FROM {A} JOIN {B} ON a.k = b.k", "column 'k' is ambiguous; write a.k or b.k"),
        (f"SELECT z.k FROM {A} JOIN {B} ON a.k = b.k", "unknown table 'z'; the query reads a, b"),
        (f"SELECT w FROM {A} JOIN {B} ON a.k = b.k", "unknown column 'w'"),
        (f"SELECT a.y FROM {A} JOIN {B} ON a.k = b.k", "unknown column 'y'; a has k, name, ts, x"),
        ("SELECT x FROM a JOIN b ON a.k = b.k AND b.ts > a.ts", "or say it in ON: b.ts BETWEEN a.ts - INTERVAL"),
        ("SELECT x FROM a LEFT JOIN b ON a.k = b.k AND b.ts < a.ts", "or say it in ON: a.ts BETWEEN b.ts - INTERVAL"),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(b, 3) AS b ON a.x < b.y", "LAST_ROWS needs a key that all streams share"),
        (f"SELECT x FROM {A} NATURAL JOIN LAST_ROWS(timeless, 3) AS t", "needs a time to be joined"),
        ("SELECT x FROM a ASOF JOIN b ON a.k = b.k", "ASOF JOIN compares two times, one of each side"),
        ("SELECT x FROM a ASOF JOIN b ON a.k = b.k AND a.ts <= b.ts", "so that b is the earlier; write ASOF JOIN"),
        ("SELECT x FROM a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts AND a.x > b.y", "a.x > b.y is something else"),
        (
            f"SELECT x FROM a ASOF JOIN {TUMBLE} ON a.k = t.k AND a.ts >= t.ts",
            "the latest reading of 't' without a window",
        ),
        (f"SELECT x FROM {A} LEFT JOIN {B} ON b.k = c.k JOIN {C} ON TRUE", "ON names a relation that is joined later"),
        (f"SELECT x FROM {A} JOIN {B} ON a.k = b.name", "a.k (INT) and b.name (VARCHAR) cannot be compared"),
        (f"SELECT x FROM {A} JOIN {B} USING (x)", "USING (x) needs the column on both sides"),
        (f"SELECT COUNT(*) FROM {A} JOIN {B} USING (k)", "an aggregate over a join needs the window of one"),
        (f"SELECT COUNT(*) FROM {TUMBLE} JOIN {HOP} USING (k)", "have one window, or SLIDING"),
        (f"SELECT a.window_end FROM {A} JOIN {TUMBLE} USING (k) GROUP BY 1", "that of the window, t.window_end"),
        (f"SELECT x FROM {A} JOIN {TUMBLE} USING (k) GROUP BY k", "must stand in GROUP BY or inside an aggregate"),
        (f"SELECT a.k, b.k FROM {A} JOIN {B} ON a.k = b.k", "two columns have the name 'k'"),
        (f"SELECT x FROM {A} JOIN {B} ON a.k = b.k AND a.x + b.y", "a condition must be BOOLEAN"),
        ("SELECT x FROM SLIDING(a, ts) AS a JOIN c USING (k)", "SLIDING has 3 arguments, got 2"),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(b, 0) AS b USING (k)", "LAST_ROWS keeps 1 to"),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(b, x) AS b USING (k)", "is a number of rows"),
    ],
)
def test_join_that_means_nothing_is_told(query, told):
    assert told in refused(query)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("join='nested'", "known are snjoin"),
        ("max_combinations='many'", "max_combinations is a number"),
        ("emit='early'", "emit = 'early' is for GATHER"),
    ],
)
def test_wrong_option_of_a_join_is_told(options, told):
    assert told in refused(f"SELECT x FROM {A} JOIN {B} USING (k)", f"WITH ({options})")


@pytest.mark.parametrize("options", ["on_overload='shed', memory_rows='100'", "spill_to='disk', memory_rows='100'"])
def test_an_aggregate_needs_all_combinations_in_time(options):
    told = refused(f"SELECT COUNT(*) FROM {A} JOIN {TUMBLE} USING (k) GROUP BY k", f"WITH ({options})")
    assert "it can neither shed nor spill" in told


def test_option_of_a_join_is_refused_without_one():
    assert "has no option 'join'" in refused("SELECT x FROM a", "WITH (join='snjoin')")


def test_early_answers_are_refused_without_gather():
    assert "emit = 'early' is for GATHER" in refused("SELECT x FROM a", "WITH (emit='early')")


def test_error_knows_its_place():
    with pytest.raises(SqlError, match=r"line 11, column \d+: unknown table 'z'"):
        planned(f"\nSELECT z.k FROM {A} JOIN {B} ON a.k = b.k")
