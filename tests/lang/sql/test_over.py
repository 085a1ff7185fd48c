import pytest

from skerry.build.explain import explain
from skerry.plan.over import Over
from tests.lang.sql.plans import Sources

ROAD = Sources(
    "CREATE SOURCE s (k VARCHAR, ts TIMESTAMP, x DOUBLE, n INT, at TIMESTAMP,"
    " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
    " WITH (connector='file', path='s.csv');"
    "CREATE SOURCE plain (k VARCHAR, at TIMESTAMP, x DOUBLE) WITH (connector='file', path='p.csv');"
)
MINUTE = "TUMBLE(s, ts, INTERVAL '1' MINUTE)"
BY_TIME = "OVER (PARTITION BY k ORDER BY ts"


def over(query: str) -> Over:
    found = ROAD.found(Over, query)
    assert isinstance(found, Over)
    return found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT SUM(x) OVER (PARTITION BY k ORDER BY x) FROM s", "OVER (PARTITION BY ... ORDER BY ts); any other"),
        ("SELECT SUM(x) OVER (PARTITION BY k ORDER BY at) FROM s", "rows are taken in the order of their time"),
        ("SELECT LAG(x) OVER (ORDER BY at) FROM plain", "ORDER BY the time that WATERMARK FOR declares"),
        ("SELECT x FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1", "is never settled"),
        (f"SELECT NTILE(3) {BY_TIME}) FROM s", "NTILE goes by all rows of a partition"),
        (f"SELECT MEDIAN(x) {BY_TIME}) FROM s", "keeps every one of them; bound it: RANGE BETWEEN"),
        (f"SELECT NTH_VALUE(x, 2) {BY_TIME}) FROM s", "keeps every one of them"),
        (f"SELECT SUM(x) {BY_TIME} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM s", "waited for row by row"),
        (f"SELECT SUM(x) {BY_TIME} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) FROM s", "ends with CURRENT ROW"),
        (f"SELECT SUM(x) {BY_TIME} RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM s", "RANGE goes by a span of time"),
        (f"SELECT SUM(x) {BY_TIME}, n RANGE INTERVAL '5' SECOND PRECEDING) FROM s", "goes by one time, ascending"),
        (f"SELECT SUM(x) {BY_TIME} ROWS 1 PRECEDING EXCLUDE TIES) FROM s", "without EXCLUDE"),
        (f"SELECT SUM(x) {BY_TIME} ROWS n PRECEDING) FROM s", "ROWS takes a whole number"),
        (f"SELECT CORR(x, n) {BY_TIME} ROWS 3 PRECEDING) FROM s", "CORR is not available with OVER; known are"),
        (f"SELECT LIST(DISTINCT x) {BY_TIME} ROWS 3 PRECEDING) FROM s", "is available in COUNT, not in LIST"),
        (f"SELECT LIST(x ORDER BY n) {BY_TIME} ROWS 3 PRECEDING) FROM s", "leave the ORDER BY inside it out"),
        (f"SELECT SUM(DISTINCT x) {BY_TIME} ROWS 3 PRECEDING) FROM s", "SUM is not available with OVER so"),
        (f"SELECT BOOL_OR(x) {BY_TIME}) FROM s", "BOOL_OR needs a condition, got DOUBLE"),
        (f"SELECT LAG(x, n) {BY_TIME}) FROM s", "the number of rows in LAG is a whole number"),
        (f"SELECT LAG(x, 1, k) {BY_TIME}) FROM s", "the third argument of LAG is VARCHAR, the first DOUBLE"),
        (f"SELECT SUM(k) {BY_TIME}) FROM s", "SUM needs a number, got VARCHAR"),
        (f"SELECT SUM(LAG(x) {BY_TIME})) {BY_TIME}) FROM s", "an OVER clause cannot hold another"),
        (f"SELECT LEAD(x) {BY_TIME}), SUM(x) {BY_TIME}) FROM s", "LEAD and FOLLOWING wait for rows"),
        ("SELECT LAG(x) OVER w FROM s", "unknown window 'w'"),
        ("SELECT x FROM s QUALIFY x > 3", "a condition on rows is written WHERE"),
        ("SELECT x FROM s ORDER BY x", "any other order goes within a window"),
        ("SELECT x FROM s LIMIT 3", "3 rows per window"),
        (f"SELECT x FROM {MINUTE} LIMIT n", "LIMIT and OFFSET take whole numbers"),
        (f"SELECT x FROM {MINUTE} ORDER BY 2", "ORDER BY 2 is outside the 1 columns"),
        (f"SELECT DISTINCT LAG(x) {BY_TIME}) FROM s", "DISTINCT beside OVER is not available"),
        (f"SELECT x FROM s WHERE LAG(x) {BY_TIME}) > 3", "OVER (...) cannot stand here"),
        (f"SELECT nope, LAG(x) {BY_TIME}) FROM s", "unknown column 'nope'; s has"),
        (f"SELECT LAG(x) {BY_TIME}) AS d FROM s QUALIFY d > nope", "unknown column 'nope'; s has"),
    ],
)
def test_what_is_never_settled_or_bounded_is_refused_with_the_way_out(query, message):
    assert message in ROAD.refused(query)


def test_options_of_overload_are_refused():
    assert "it has no option 'on_overload'" in ROAD.refused(
        f"SELECT LAG(x) {BY_TIME}) FROM s", "WITH (on_overload='shed')"
    )


def test_answers_that_are_amended_are_refused():
    gather = "GATHER(s, key => n, across => k, within => INTERVAL '5' SECOND)"
    query = f"SELECT key, LAG(arity) OVER (ORDER BY ts) AS last FROM {gather} AS g"
    assert "gives a row once" in ROAD.refused(query, "WITH (emit='early')")


def test_one_time_may_be_written_in_two_ways():
    rank = "RANK() OVER (PARTITION BY window_start ORDER BY x)"
    found = over(f"SELECT k, ts, LAG(x) {BY_TIME}) AS last, {rank} AS rank FROM {MINUTE}")
    assert found.window is not None
    assert [clause.is_whole for clause in found.clauses] == [False, True]


def test_names_of_select_stand_for_what_they_name():
    query = f"SELECT x, LAG(x) {BY_TIME}) AS last, x - last AS change FROM s QUALIFY change > 10"
    root = ROAD.planned(query).root
    assert root.schema.names == ["x", "last", "change"]
    assert len(over(query).calls) == 1


def test_equal_calls_are_computed_once_and_clauses_share_a_sort():
    found = over(f"SELECT LAG(x) {BY_TIME}), LAG(x) {BY_TIME}) + 1 AS y, SUM(x) {BY_TIME}) AS z FROM s")
    assert [len(clause.calls) for clause in found.clauses] == [2]


def test_buckets_are_by_what_all_clauses_are_partitioned_by():
    found = over(f"SELECT LAG(x) {BY_TIME}), LAG(x) OVER (PARTITION BY n, k ORDER BY ts) AS y FROM s")
    assert found.describe_buckets() == "by k"
    alone = over("SELECT LAG(x) OVER (ORDER BY ts) FROM s")
    assert alone.describe_buckets().startswith("in one bucket")


def test_times_pass_through_with_their_lag():
    root = ROAD.planned(f"SELECT ts, LAG(x) {BY_TIME}) AS y FROM s").root
    assert root.lag_us("ts") == 0
    top = ROAD.planned(
        f"SELECT ts FROM {MINUTE} QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY x) = 1"
    ).root
    assert top.lag_us("ts") == 60_000_000
    groups = f"SELECT k, window_start, window_end, COUNT(*) AS n FROM {MINUTE} GROUP BY k, window_start, window_end"
    trend = ROAD.planned(f"SELECT *, LAG(n) OVER (PARTITION BY k ORDER BY window_end) AS m FROM ({groups}) AS g").root
    assert (trend.lag_us("window_end"), trend.lag_us("window_start")) == (0, 60_000_000)
    ahead = ROAD.planned(f"SELECT ts, LEAD(x) {BY_TIME}) AS y FROM s").root
    assert ahead.lag_us("ts") is None


def test_explain_tells_what_is_kept():
    texts = {
        f"LAG(x, 3) {BY_TIME})": "the last 3 rows per partition (it grows with the partitions)",
        f"SUM(x) {BY_TIME})": "one accumulator per partition (it grows with the partitions; a window would bound it)",
        f"AVG(x) {BY_TIME} RANGE INTERVAL '5' MINUTE PRECEDING)": "rows for 5 MINUTE",
    }
    for call, words in texts.items():
        text = explain(ROAD.planned(f"SELECT {call} AS y FROM s"))
        assert f"-- operate: by k; state: rows until the watermark has passed them, {words}" in text
    lag = "LAG(AVG(x)) OVER (PARTITION BY k ORDER BY window_start)"
    trend = f"SELECT k, window_start, {lag} AS y FROM {MINUTE} GROUP BY 1, 2"
    text = explain(ROAD.planned(trend))
    assert "Over LAG(AVG(x)) OVER (PARTITION BY k ORDER BY window_start)" in text
    assert "the last row per partition" in text
    assert "_over" not in text
    top = f"SELECT x FROM {MINUTE} ORDER BY x DESC LIMIT 3"
    assert "Over rows of each window by x DESC; 3 rows of each window" in explain(ROAD.planned(top))
    assert "rows until the watermark has passed its window (TUMBLE 1 MINUTE)" in explain(ROAD.planned(top))
