import pytest

from tests.lang.sql.scripts import HOP, TUMBLE, answers, refused, refused_view, view

READINGS = [{"speed": 20.0, "segment": 1}, {"speed": 50.0, "segment": 2}, {"speed": None, "segment": 3}]


def names(query):
    return view(query).root.schema.names


def test_selection_keeps_the_rows_for_which_it_holds():
    assert answers("SELECT segment FROM traffic WHERE speed < 30", *READINGS) == [{"segment": 1}]


def test_selection_that_is_null_does_not_hold():
    assert answers("SELECT segment FROM traffic WHERE NOT speed < 30", *READINGS) == [{"segment": 2}]


@pytest.mark.parametrize("star", ["*", "traffic.*", "Traffic.*"])
def test_star_is_all_columns(star):
    assert names(f"SELECT {star} FROM traffic") == ["sensor", "ts", "segment", "speed", "flow"]


def test_star_may_stand_beside_columns():
    assert names("SELECT *, speed * 2 AS twice FROM traffic")[-2:] == ["flow", "twice"]


@pytest.mark.parametrize(
    ("column", "name"),
    [
        *(("speed", "speed"), ("SPEED", "speed"), ("speed AS Fast", "fast"), ('speed AS "Fast"', "Fast")),
        *(("traffic.speed", "speed"), ("abs(speed)", "abs"), ("epoch_us(ts)", "epoch_us"), ("1 + 1", "column1")),
    ],
)
def test_answers_are_named_after_what_they_are(column, name):
    assert names(f"SELECT {column} FROM traffic") == [name]


@pytest.mark.parametrize("name", ["traffic", "TRAFFIC", '"traffic"', "traffic AS t"])
def test_stream_is_found_in_any_case(name):
    assert names(f"SELECT speed FROM {name}") == ["speed"]


def test_alias_takes_the_place_of_the_name():
    assert names("SELECT t.speed FROM traffic AS t") == ["speed"]
    assert refused_view("SELECT traffic.speed FROM traffic AS t").endswith("unknown table 'traffic'; the query reads t")


def test_window_of_a_reading_can_be_selected_and_tested():
    query = f"SELECT window_start, window_end FROM {TUMBLE} WHERE window_start >= TIMESTAMP '1970-01-01 00:00:30'"
    (row,) = answers(query, {"ts": 29}, {"ts": 31})
    assert (str(row["window_start"]), str(row["window_end"])) == ("1970-01-01 00:00:30", "1970-01-01 00:01:00")


@pytest.mark.parametrize(
    ("ts", "start"), [(-0.000001, "1969-12-31 23:59:30"), (-30, "1969-12-31 23:59:30"), (-31, "1969-12-31 23:59:00")]
)
def test_window_of_a_reading_before_the_epoch_is_aligned_to_it(ts, start):
    (row,) = answers(f"SELECT window_start FROM {TUMBLE}", {"ts": ts})
    assert str(row["window_start"]) == start


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT speed FROM trafic", "line 2, column 19: unknown stream 'trafic'; the catalogue has traffic"),
        ('SELECT speed FROM "Traffic"', "unknown stream 'Traffic'; the catalogue has traffic"),
        ("SELECT x.* FROM traffic", "line 2, column 8: unknown table 'x'; the query reads traffic"),
        ("SELECT speed, speed FROM traffic", "line 1, column 1: two columns have the name 'speed'; give one another"),
        ("SELECT speed", "line 2, column 8: a view needs FROM"),
        ("SELECT FROM traffic", "line 2, column 13: a view needs columns: SELECT column, ... FROM stream"),
        ("SELECT speed FROM traffic WHERE speed", "line 2, column 33: a condition must be BOOLEAN; this is DOUBLE"),
        ("SELECT speed FROM (traffic CROSS JOIN traffic) AS t", "a view reads streams; write FROM (SELECT ...) AS t"),
        ("SELECT speed FROM a.traffic", "a view reads a stream by its name alone: FROM stream AS alias"),
        ("SELECT a FROM traffic AS t(a)", "a view reads a stream by its name alone"),
        ("SELECT speed FROM traffic TABLESAMPLE (10)", "TABLESAMPLE is not available; write WHERE hash(key)"),
        ("VALUES (1)", "a view is made of SELECT and UNION ALL; this is VALUES"),
        ("SELECT speed FROM traffic INTERSECT SELECT 1", "this is INTERSECT; write JOIN SLIDING"),
        ("SELECT AVG(speed) FROM traffic", "line 2, column 8: an aggregate over a stream needs a window: FROM TUMBLE("),
    ],
)
def test_wrong_queries_are_refused(query, message):
    assert message in refused_view(query)


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("FOR UPDATE", "LOCKS"),
    ],
)
def test_clauses_that_are_not_available_are_refused(clause, told):
    assert f"{told} is not available in a view" in refused_view(f"SELECT traffic.speed FROM traffic {clause}")


def test_what_stands_before_the_columns_is_not_ignored():
    assert "would keep all that ever came" in refused_view("SELECT DISTINCT speed FROM traffic")


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("TUMBLE(traffic, ts)", "TUMBLE has 3 or 4 arguments, got 2: TUMBLE(stream, time, size[, offset])"),
        (
            "HOP(traffic, ts, INTERVAL '1' SECOND)",
            "HOP has 4 or 5 arguments, got 3: HOP(stream, time, slide, size[, offset])",
        ),
        ("TUMBLE(trafic, ts, INTERVAL '1' SECOND)", "column 26: unknown stream 'trafic'; the catalogue has traffic"),
        ("TUMBLE(traffic, t, INTERVAL '1' SECOND)", "column 35: unknown column 't'; traffic has sensor, ts, segment"),
        ("TUMBLE(traffic, speed, INTERVAL '1' SECOND)", "the second argument of TUMBLE is a TIMESTAMP column"),
        ("TUMBLE(traffic, 1, INTERVAL '1' SECOND)", "the second argument of TUMBLE is a TIMESTAMP column"),
        ("TUMBLE('traffic', ts, INTERVAL '1' SECOND)", "the first argument of TUMBLE is a stream"),
        ("TUMBLE((SELECT speed FROM traffic), ts, INTERVAL '1' SECOND)", "unknown column 'ts'; "),
        ("TUMBLE(traffic, ts, 30)", "column 39: expected an INTERVAL, got 30"),
        ("TUMBLE(traffic, ts, INTERVAL '1' MONTH)", "INTERVAL '1' MONTH has no fixed length; write INTERVAL '30' DAY"),
        (
            "TUMBLE(traffic, ts, INTERVAL '0' SECOND)",
            "a window's size and slide must be above zero, got a size of 0 SECOND",
        ),
        ("HOP(traffic, ts, INTERVAL '2' SECOND, INTERVAL '1' SECOND)", "slide must not exceed its size"),
        ("NOSUCH(traffic, ts, INTERVAL '2' SECOND)", "column 19: NOSUCH is not available as a window; known are"),
    ],
)
def test_wrong_windows_are_refused(window, message):
    told = refused_view(f"SELECT speed FROM {window}")
    assert told.startswith("line 2, column ")
    assert message in told


def test_window_must_go_by_the_time_of_the_watermark():
    source = "CREATE SOURCE s (a TIMESTAMP, b TIMESTAMP, WATERMARK FOR a AS a) WITH (connector='file')"
    query = "SELECT a FROM TUMBLE(s, b, INTERVAL '1' SECOND)"
    told = refused(f"{source}; CREATE MATERIALIZED VIEW v AS {query}")
    assert "TUMBLE goes by 'b', but the watermark of 's' by 'a'" in told


@pytest.mark.parametrize("window", [TUMBLE, HOP])
def test_star_over_a_window_has_its_ends(window):
    assert names(f"SELECT * FROM {window}")[-2:] == ["window_start", "window_end"]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("speed = 'fast'", "'fast' is not DOUBLE, as column 'speed' is"),
        ("segment > 1 OR 'yesterday' < ts", "'yesterday' is not TIMESTAMP, as column 'ts' is"),
        ("segment <> ''", "'' is not INT, as column 'segment' is"),
    ],
)
def test_text_that_a_column_can_never_be_compared_with_is_refused(condition, told):
    assert told in refused_view(f"SELECT sensor FROM traffic WHERE {condition}")


def test_text_that_is_a_value_of_a_column_is_compared():
    view("SELECT sensor FROM traffic WHERE speed > '3.5' AND ts > '2026-01-01' AND sensor = 'fast'")
