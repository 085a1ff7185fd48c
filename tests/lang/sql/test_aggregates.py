import pytest

from tests.lang.sql.scripts import HOP, TUMBLE, answers, refused_view, session, view

READINGS = [
    {"segment": 1, "speed": 20.0, "sensor": "A", "flow": 5, "ts": 0},
    {"segment": 1, "speed": 40.0, "sensor": "a", "flow": 6, "ts": 10},
    {"segment": 2, "speed": None, "sensor": "a", "flow": 7, "ts": 20},
    {"segment": 2, "speed": 60.0, "sensor": None, "flow": 8, "ts": 40},
]


def grouped(columns, tail="", window=TUMBLE):
    return [tuple(row.values()) for row in answers(f"SELECT {columns} FROM {window} {tail}", *READINGS)]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("COUNT(*)", 3),
        ("COUNT(speed)", 2),
        ("COUNT(DISTINCT segment)", 2),
        ("SUM(segment)", 4),
        ("AVG(speed)", 30.0),
        ("MIN(sensor)", "A"),
        ("MAX(flow)", 7),
        ("STDDEV_POP(speed)", 10.0),
        ("STDDEV(speed) = STDDEV_SAMP(speed)", True),
        ("COUNT(*) FILTER (WHERE speed > 30)", 1),
        ("SUM(flow) FILTER (WHERE sensor = 'a')", 13),
        ("COUNT(DISTINCT flow) FILTER (WHERE segment = 1)", 2),
        ("AVG(speed) FILTER (WHERE false)", None),
        ("MAX(speed) - MIN(speed)", 20.0),
        ("AVG(speed * 2 + 1)", 61.0),
        ("COUNT(*) / 2", 1),
        ("SUM(segment) / 3", 1),
    ],
)
def test_aggregates_mean_what_sql_says(call, expected):
    assert grouped(call)[0] == (expected,)


def test_same_aggregate_in_any_spelling_is_computed_once():
    plan = view(f'SELECT AVG(speed) AS a, avg(Speed) AS b, AVG("speed") AS c, AVG(traffic.speed) AS d FROM {TUMBLE}')
    assert len(plan.root.inputs[0].folds) == 1


def test_texts_that_differ_in_case_make_different_aggregates():
    call = "COUNT(*) FILTER (WHERE sensor = '{}')"
    assert grouped(f"{call.format('A')} AS a, {call.format('a')} AS b")[0] == (1, 2)


@pytest.mark.parametrize(
    "tail",
    [
        *("GROUP BY segment", "GROUP BY SEGMENT", 'GROUP BY "segment"', "GROUP BY traffic.segment", "GROUP BY 1"),
        *("GROUP BY segment, window_start", "GROUP BY 1, window_end", "GROUP BY segment, segment"),
    ],
)
def test_groups_can_be_named_in_many_ways(tail):
    assert grouped("segment, COUNT(*)", tail) == [(1, 2), (2, 1), (2, 1)]


@pytest.mark.parametrize("key", ["1", "half", "segment / 2", "SEGMENT/2", "(segment / 2)"])
def test_groups_can_be_expressions_aliases_or_places(key):
    assert grouped("segment / 2 AS half, COUNT(*)", f"GROUP BY {key}") == [(0, 2), (1, 1), (1, 1)]


def test_what_is_computed_from_a_key_needs_no_group_of_its_own():
    assert grouped("(segment / 2) * 10 AS x, COUNT(*)", "GROUP BY segment / 2")[0] == (0, 2)


def test_column_is_meant_before_an_alias_of_its_name():
    assert grouped("segment / 2 AS segment, COUNT(*)", "GROUP BY segment") == [(0, 2), (1, 1), (1, 1)]


def test_null_is_a_group():
    assert grouped("sensor, COUNT(*)", "GROUP BY sensor") == [("A", 1), ("a", 2), (None, 1)]


def test_having_may_test_an_aggregate_that_is_not_selected():
    assert grouped("segment", "GROUP BY segment HAVING COUNT(*) > 1") == [(1,)]


def test_having_may_test_keys_and_windows():
    tail = "GROUP BY segment HAVING segment = 2 AND window_start > TIMESTAMP '1970-01-01'"
    assert grouped("segment, COUNT(*)", tail) == [(2, 1)]


def test_having_without_groups_tests_the_window():
    assert grouped("COUNT(*)", "HAVING COUNT(*) > 1") == [(3,)]


def test_where_is_tested_before_readings_are_grouped():
    assert grouped("COUNT(*)", "WHERE segment = 1") == [(2,)]


def test_where_may_test_the_window_of_a_reading():
    assert grouped("COUNT(*)", "WHERE window_start = TIMESTAMP '1970-01-01'") == [(3,)]


def test_groups_without_an_aggregate_are_listed():
    assert grouped("segment", "GROUP BY segment") == [(1,), (2,), (2,)]


def test_hopping_windows_count_a_reading_more_than_once():
    assert [count for (count,) in grouped("COUNT(*)", window=HOP)] == [1, 2, 3, 2, 2, 1, 1]


def test_window_is_shown_if_asked_for():
    (row, _) = grouped("window_start, window_end, COUNT(*)", "GROUP BY window_start, window_end")
    assert [str(value) for value in row] == ["1970-01-01 00:00:00", "1970-01-01 00:00:30", "3"]


@pytest.mark.parametrize("name", ["slice", "_time", "_fold0", "_argument0", "window start", "count(*)", "Segment"])
def test_key_may_have_any_name(name):
    source = f"CREATE SOURCE s (\"{name}\" INT, ts TIMESTAMP) WITH (connector='file')"
    query = f'SELECT "{name}" AS key, COUNT(*) AS n FROM TUMBLE(s, ts, INTERVAL \'30\' SECOND) GROUP BY "{name}"'
    made = session(source, f"CREATE MATERIALIZED VIEW v AS {query}")
    assert made.plan("v").root.schema.names == ["key", "n"]


@pytest.mark.parametrize(
    ("columns", "tail", "message"),
    [
        ("segment, speed", "GROUP BY 1", "column 17: column 'speed' must stand in GROUP BY or inside an aggregate"),
        ("segment", "GROUP BY segmnt", "unknown column 'segmnt'; traffic has sensor, ts, segment"),
        ("segmnt, COUNT(*)", "GROUP BY segment", "column 8: unknown column 'segmnt'; traffic has sensor, ts, segment"),
        ("x.segment", "GROUP BY segment", "column 8: unknown table 'x'; the query reads traffic"),
        ("segment", "GROUP BY x.segment", "unknown table 'x'; the query reads traffic"),
        ("segment, COUNT(*)", "GROUP BY 3", "GROUP BY 3 is outside the 2 columns"),
        ("segment, COUNT(*)", "GROUP BY 0", "GROUP BY 0 is outside the 2 columns"),
        ("segment, COUNT(*)", "GROUP BY 2", "GROUP BY cannot hold an aggregate"),
        ("COUNT(*)", "GROUP BY [segment]", "GROUP BY cannot compare INT[]"),
        ("*, COUNT(*)", "", "column 8: * cannot stand here"),
        ("SUM(sensor)", "", "column 8: SUM needs a number, got VARCHAR"),
        ("AVG(*)", "", "AVG needs a column"),
        ("SUM(AVG(speed))", "", "column 12: an aggregate cannot hold another"),
        ("COUNT(DISTINCT speed, flow)", "", "COUNT(DISTINCT ...) takes one column; write"),
        ("CORR(DISTINCT speed, flow)", "", "CORR takes no DISTINCT"),
        ("CORR(speed)", "", "CORR has two arguments"),
        ("MEDIAN(speed, 3)", "", "MEDIAN has one argument"),
        ("MEDIAN(*)", "", "MEDIAN needs a column"),
        ("QUANTILE_CONT(speed, flow)", "", "flow must be a constant here"),
        ("QUANTILE_CONT(speed, 2)", "", "can only take parameters in the range"),
        ("APPROX_QUANTILE(speed, 2)", "", "APPROX_QUANTILE takes fractions from 0 to 1, got 2"),
        (
            "STRING_AGG(DISTINCT sensor, ',' ORDER BY ts)",
            "",
            "STRING_AGG(DISTINCT ...) can be ordered by its own value",
        ),
        ("ARRAY_AGG(speed ORDER BY ts LIMIT 2)", "", "ARRAY_AGG takes no LIMIT; write list_slice"),
        ("FIRST(speed ORDER BY [ts])", "", "FIRST cannot order rows by"),
        ("PERCENTILE_CONT(0.5)", "", "the aggregate PERCENTILE_CONT is not available; known are ANY_VALUE"),
        ("SUM(speed) OVER ()", "", "rows are taken in the order of their time"),
        ("MIN([segment])", "", "MIN of INT[] is not available; write CAST([segment] AS VARCHAR) in it"),
        ("MAX(ts - ts)", "", "MAX of INTERVAL is not available; write epoch(ts - ts) in it"),
        ("AVG(ts)", "", "AVG needs a number, got TIMESTAMP; write AVG(epoch(ts))"),
        ("MAX(flow, 0)", "", "n value must be > 0"),
        ("BITSTRING_AGG(flow)", "", "by providing the statistics explicitly"),
        ("VARIANCE(sensor)", "", "VAR_SAMP needs a number, got VARCHAR"),
        ("COUNT(*)", "WHERE COUNT(*) > 1", "the aggregate COUNT cannot stand here"),
        ("COUNT(*)", "HAVING COUNT(*)", "a condition must be BOOLEAN; this is BIGINT"),
    ],
)
def test_wrong_aggregates_are_refused(columns, tail, message):
    told = refused_view(f"SELECT {columns} FROM {TUMBLE} {tail}")
    assert told.startswith("line 2, column ")
    assert message in told


def test_window_of_a_reading_is_unknown_where_it_has_several():
    told = refused_view(f"SELECT COUNT(*) FROM {HOP} WHERE window_start > TIMESTAMP '1970-01-01'")
    assert "unknown column 'window_start'" in told
