import logging

import pytest

from skerry.errors import Location, SqlError
from skerry.lang.sql.statements import location_of, read


def told(script: str) -> str:
    with pytest.raises(SqlError) as caught:
        read(script)
    return str(caught.value)


def texts(script: str) -> list[str]:
    return [statement.text for statement in read(script)]


def test_script_is_cut_at_its_semicolons():
    assert texts("DROP SOURCE a;\n\n DROP SOURCE b ; ") == ["DROP SOURCE a", "DROP SOURCE b"]


def test_semicolon_in_a_text_does_not_cut():
    assert texts("SELECT ';' ; DROP SOURCE a") == ["SELECT ';'", "DROP SOURCE a"]


def test_text_is_kept_as_it_was_written():
    script = "create   SOURCE  t\n ( a Int ) -- why\n with (connector = 'file')"
    assert texts(script) == [script]


def test_text_beyond_ascii_is_cut_in_the_right_place():
    assert texts("SELECT 'Åse 🚗';\nSELECT 'ø'") == ["SELECT 'Åse 🚗'", "SELECT 'ø'"]


@pytest.mark.parametrize("script", ["", "  \n", ";;", "-- nothing", "/* nothing */ ;", "; -- a\n;"])
def test_script_of_nothing_has_no_statements(script):
    assert read(script) == []


def test_comment_around_a_statement_is_not_part_of_it():
    assert texts("-- before\nDROP SOURCE a; /* after */") == ["DROP SOURCE a"]


def test_statement_knows_where_it_begins():
    assert [each.location for each in read("DROP SOURCE a;\n  DROP SOURCE b")] == [Location(1, 1), Location(2, 3)]


def test_node_knows_where_it_begins():
    (statement,) = read("SELECT a,\n  b + c FROM t")
    assert [location_of(part) for part in statement.tree.selects] == [Location(1, 8), Location(2, 3)]


def test_node_that_does_not_know_its_place_has_that_of_its_surroundings():
    (statement,) = read("SELECT NULL AS x FROM t")
    assert location_of(statement.tree.selects[0].this) is not None


def test_node_after_a_text_of_two_lines_has_a_place():
    (statement,) = read("SELECT 'a\nb', c FROM t")
    assert location_of(statement.tree.selects[0]) == Location(2, 1)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("SELECT a FROM", "line 1, column 10: expected table name at 'FROM'"),
        ("SELECT a\nFROM t WHERE", "line 2, column 8: something is missing at 'WHERE'"),
        ("SELECT a FROM t WHERE a <", "line 1, column 25: something is missing at '<'"),
        ("SELECT (a FROM t", "line 1, column 11: expected ) at 'FROM'"),
        ("SELECT a) FROM t", "line 1, column 9: cannot read ')' here"),
        ("SELECT CAST(a AS) FROM t", "line 1, column 17: expected TYPE after CAST at ')'"),
        ("SELECT a b c FROM t", "line 1, column 12: cannot read 'c' here"),
        ("DROP SOURCE a b", "line 1, column 15: cannot read 'b' here"),
        ("SELECT a\nFROM t WHERE b='x", "line 2, column 16: a quoted text begins here and does not end; ' is missing"),
        ('SELECT "a', 'line 1, column 8: a quoted text begins here and does not end; " is missing'),
        ("SELECT a /* b", "the script ends inside a quoted text or a comment, after 'SELECT a /* b'"),
        ("CREATE MATERIALIZED VIEW AS SELECT 1", "line 1, column 26: expected table name at 'AS'"),
        ("CREATE MATERIALIZED VIEW v AS\nSELECT a b c FROM t", "line 2, column 12: cannot read 'c' here"),
        ("SELECT 1;\nCREATE MATERIALIZED VIEW v AS SELECT a\nFROM t u w", "line 3, column 10: cannot read 'w' here"),
        ("CREATE SOURCE s (a INT) WITH (connector)", "line 1, column 31: expected ) at 'connector'"),
    ],
)
def test_what_cannot_be_read_is_told_in_plain_words(script, message):
    assert told(script) == message


def test_statement_nested_too_deeply_is_refused():
    assert told("SELECT " + "(" * 5000 + "1" + ")" * 5000) == "a statement is nested too deeply"


def test_script_that_is_too_long_is_refused():
    assert "may have 10000000 characters" in told(" " * 10_000_001)


def test_statement_that_sqlglot_gives_up_is_not_logged(caplog):
    with caplog.at_level(logging.WARNING):
        read("SHOW TABLES")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ("'1' MNUTE", "line 1, column 47: 'MNUTE' is no unit of time; did you mean MINUTE?"),
        ("'5 minuets'", "line 1, column 43: 'minuets' is no unit of time; did you mean MINUTE?"),
        ("'1' FORTNIGHT", "'FORTNIGHT' is no unit of time; known are MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR"),
        ("'5 min and a bit'", "'5 min and a bit' is no span of time; write INTERVAL '5' SECOND"),
    ],
)
def test_unit_of_time_that_there_is_not_is_refused(span, message):
    assert message in told(f"SELECT x FROM TUMBLE(stream, ts, INTERVAL {span})")
    assert message.partition(": ")[2] in told(f"SELECT ts + INTERVAL {span} AS x FROM s")


def test_unit_of_time_that_there_is_not_is_refused_in_a_declaration():
    declared = "CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECNOD) WITH (connector='sim')"
    assert told(declared) == "line 1, column 70: 'SECNOD' is no unit of time; did you mean SECOND?"


def test_call_with_too_few_arguments_is_refused_by_its_name():
    assert told("SELECT LAG() OVER (ORDER BY ts) FROM s") == "line 1, column 12: LAG needs an argument more"
