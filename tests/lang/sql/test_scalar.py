import pytest

from tests.lang.sql.scripts import answers, refused_view, view


def value(expression, **reading):
    (row,) = answers(f"SELECT {expression} AS x FROM traffic", reading)
    return row["x"]


def refused_expression(expression):
    return refused_view(f"SELECT {expression} AS x FROM traffic")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("segment / 2", 2),
        ("flow / segment", 2),
        ("segment / 2.0", 2.5),
        ("speed / 2", 15.25),
        ("segment % 2", 1),
        ("segment / 0", None),
        ("2 ^ 3", 8.0),
    ],
)
def test_division_of_integers_is_that_of_postgresql(expression, expected):
    assert value(expression, segment=5, flow=14, speed=30.5) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("upper(sensor) || '!'", "I80!"),
        ("sensor LIKE 'i%'", True),
        ("sensor ILIKE 'I%'", True),
        ("sensor ~ '^i[0-9]+$'", True),
        ("substring(sensor FROM 2 FOR 2)", "80"),
        ("split_part(sensor, '8', 1)", "i"),
        ("coalesce(flow, 9)", 9),
        ("nullif(segment, 5)", None),
        ("CASE WHEN speed > 30 THEN 'fast' ELSE 'slow' END", "fast"),
        ("speed BETWEEN 30 AND 31 AND segment IN (4, 5)", True),
        ("CAST(speed AS INT)", 30),
        ("CAST(sensor AS INT)", None),
        ("EXTRACT(MINUTE FROM ts)", 1),
        ("greatest(segment, 7)", 7),
        ("flow IS NULL", True),
        ("'it''s'", "it's"),
        ("list_sum([segment, 1])", 6),
    ],
)
def test_expressions_mean_what_sql_says(expression, expected):
    assert value(expression, sensor="i80", segment=5, speed=30.25, ts=61) == expected


def test_difference_of_times_is_an_interval():
    assert value("ts - TIMESTAMP '1970-01-01' = INTERVAL '90' SECOND", ts=90) is True


@pytest.mark.parametrize("name", ["speed", "SPEED", "Speed", '"speed"', "traffic.speed", "Traffic.SPEED"])
def test_column_is_found_in_any_case(name):
    assert value(name, speed=2.5) == 2.5


@pytest.mark.parametrize("function", ["ABS(speed)", "abs(speed)", "Abs(Speed)"])
def test_function_is_found_in_any_case(function):
    assert value(function, speed=-2.5) == 2.5


def test_quoted_column_must_be_spelled_exactly():
    assert refused_expression('"Speed"') == (
        "line 2, column 8: unknown column 'Speed'; traffic has sensor, ts, segment, speed, flow"
    )


def test_unknown_column_tells_the_known_ones():
    assert refused_expression("1 + spede") == (
        "line 2, column 12: unknown column 'spede'; traffic has sensor, ts, segment, speed, flow"
    )


def test_unknown_table_tells_the_known_one():
    assert refused_expression("road.speed") == "line 2, column 8: unknown table 'road'; the query reads traffic"


def test_unknown_function_tells_those_that_look_like_it():
    assert refused_expression("1 + sqr(speed)") == "line 2, column 12: unknown function 'sqr'; did you mean sqrt?"


@pytest.mark.parametrize(
    "expression",
    [
        *("now()", "CURRENT_TIMESTAMP", "current_date", "current_time", "localtimestamp", "localtime", "today()"),
        *("random()", "gen_random_uuid()", "uuid()", "age(ts)", "ago(INTERVAL '1' DAY)", "current_setting('threads')"),
        *("upper(sensor || random()::VARCHAR)", "version()", "current_user", "getvariable('x')", "nextval('s')"),
        *("setseed(0.5)", "write_log('x')", "sleep_ms(5)", "uuidv7()", "transaction_timestamp()", "error('x')"),
        *("list_transform([1], lambda x: random())", "current_date::VARCHAR.upper()"),
    ],
)
def test_functions_of_clock_and_chance_are_refused(expression):
    assert "is not available: an answer must follow from the readings alone" in refused_expression(expression)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("repeat(sensor, 1000000000)", "'repeat' makes 1000000 characters or elements at the most, and not 1000000000"),
        ("printf('%999999999d', segment)", "'printf' makes 1000000"),
        ("range(0, 9000000, 2)", "'range' makes 1000000 characters or elements at the most, and not 4500001"),
        ("printf('%*d', 5, segment)", "'printf' is available with a constant format"),
        ("format('{:{}}', segment, 99999999)", "'format' is available with a constant format"),
        ("printf(sensor, segment)", "'printf' is available with a constant format"),
        ("repeat(repeat(sensor, 10000), 1000)", "functions inside each other make more than 1000000 elements"),
        ("repeat(repeat(sensor, segment), segment)", "functions inside each other make more than 1000000 elements"),
    ],
)
def test_functions_of_unbounded_growth_are_refused(expression, told):
    assert told in refused_expression(expression)


@pytest.mark.parametrize("call", ["repeat(sensor, {})", "lpad(sensor, {}, 'x')", "range({})", "generate_series(7, {})"])
def test_size_that_is_computed_is_bounded(call):
    expression = f"length({call.format('segment')})"
    assert value(expression, sensor="i80", segment=10) == value(f"length({call.format(10)})", sensor="i80")
    assert value(expression, sensor="i80", segment=2_000_000) is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("lpad(sensor, 5, '0')", "00i80"),
        ("repeat(sensor, 2)", "i80i80"),
        ("printf('%05.1f', speed)", "030.5"),
        ("format('{:>6}', sensor)", "   i80"),
        ("range(3)", [0, 1, 2]),
        ("list_sum(generate_series(1, 10, 3))", 22),
        ("rpad(sensor, -1, 'x')", ""),
    ],
)
def test_functions_of_bounded_growth_are_available(expression, expected):
    assert value(expression, sensor="i80", speed=30.5) == expected


@pytest.mark.parametrize(
    "expression",
    [
        *("read_text('/etc/passwd')", "read_blob('x')", "pg_read_file('x')", "getenv('HOME')", "space(7)"),
        *("regexp_split_to_table(sensor, '8')", "generate_subscripts([1], 1)"),
        *("json_serialize_sql('SELECT 1')", "__internal_compress_string_hugeint(sensor)", "pg_sleep(1)"),
    ],
)
def test_functions_that_reach_outside_are_unknown(expression):
    assert "line 2, column 8: unknown function" in refused_expression(expression)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("COLUMNS('s.*')", "COLUMNS"),
        ("?", "placeholder"),
        ("$1", "placeholder"),
        ("lttb(speed, flow, 3)", "the aggregate LTTB"),
    ],
)
def test_what_is_no_scalar_is_refused(expression, told):
    message = refused_expression(expression)
    assert message.startswith("line 2, column ")
    assert message.endswith(f"{told} cannot stand here")


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("(SELECT speed FROM traffic)", "stands in WHERE, as a condition of its own"),
        ("speed > ALL (SELECT speed FROM traffic)", "known are x = ANY (SELECT ...)"),
        ("speed IN (SELECT speed FROM traffic)", "stands in WHERE, as a condition of its own"),
        ("EXISTS (SELECT 1 FROM traffic)", "stands in WHERE, as a condition of its own"),
    ],
)
def test_queries_are_refused_with_the_way_out(expression, told):
    assert told in refused_expression(expression)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("sensor + 1", "types '+(VARCHAR, INTEGER)'; a cast may help, CAST(x AS DOUBLE)"),
        ("sensor LIKE 5", "types 'LIKE(VARCHAR, INTEGER)'; a cast may help"),
        ("round('a')", 'the function call "round(VARCHAR)"; a cast may help'),
        ("sensor < 3", "cannot compare values of type VARCHAR"),
        ("abs()", "no function matches"),
        ("abs(speed, 1)", "no function matches"),
        ("CAST(speed AS NOSUCH)", "nosuch"),
    ],
)
def test_types_that_do_not_fit_are_refused(expression, told):
    message = refused_expression(expression)
    assert message.startswith("line 2, column ")
    assert told.lower() in message.lower()


def test_expression_that_is_too_deep_is_refused():
    assert refused_expression("1" + " + 1" * 4000) == "line 2, column 8: the expression is nested too deeply"


def test_types_follow_from_the_columns():
    schema = view("SELECT segment + 1 AS a, speed * 2 AS b, sensor AS c, speed > 1 AS d FROM traffic").root.schema
    assert [str(field.type) for field in schema] == ["int32", "double", "string", "bool"]
