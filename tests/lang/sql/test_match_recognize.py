"""MATCH_RECOGNIZE: what is refused, and what a plan has."""

import pytest

from skerry.lang.sql.pattern_text import read_pattern
from skerry.plan.node import walk
from skerry.plan.pattern import Chain, Choice, End, Repeat, Symbol
from skerry.plan.sequences import Sequences
from tests.lang.sql.scripts import refused_view, view

SLOW = "DEFINE A AS speed < 10"
BODY = f"PARTITION BY segment ORDER BY ts MEASURES A.ts AS t PATTERN (A B) WITHIN INTERVAL '1' MINUTE {SLOW}"


def query(body):
    return f"SELECT * FROM traffic MATCH_RECOGNIZE ({body}) AS m"


def node_of(text):
    return next(node for node in walk(view(text).root) if isinstance(node, Sequences))


def test_pattern_is_read_as_written():
    a, b, c = Symbol(0), Symbol(1), Symbol(2)
    assert read_pattern("A b+? (C | A{2} $){,3}", None) == (
        Chain((a, Repeat(b, 1, None, True), Repeat(Choice((c, Chain((Repeat(a, 2, 2), End())))), 0, 3))),
        ("a", "b", "c"),
    )


def test_columns_are_the_partition_and_the_measures():
    body = BODY.replace("A.ts AS t", "A.ts AS t, LAST(B.ts) - FIRST(A.ts) AS took, COUNT(*) AS n, CLASSIFIER() AS who")
    assert view(query(body)).root.schema.names == ["segment", "t", "took", "n", "who"]


def test_matches_can_be_windowed_over_by_their_times():
    windowed = "SELECT window_start, COUNT(*) AS n FROM TUMBLE(m, t, INTERVAL '1' HOUR) GROUP BY window_start"
    assert view(f"WITH m AS ({query(BODY)}) {windowed}").root.schema.names == ["window_start", "n"]


def test_rows_of_other_symbols_are_compared():
    define = "DEFINE B AS B.speed > A.speed + 5 AND B.flow = FIRST(A.flow) AND speed > PREV(speed)"
    node = node_of(query(BODY.replace(SLOW, define)))
    assert [(each.operator, each.is_first) for each in node.comparisons] == [(">", False), ("=", True)]
    assert [(each.column, each.offset) for each in node.previous] == [("speed", 1)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PATTERN (A B) WITHIN INTERVAL '1' MINUTE", "PATTERN (A B+)", "may go on for ever"),
        ("PATTERN (A B) WITHIN INTERVAL '1' MINUTE", "PATTERN (A $)", "$ is the end of WITHIN"),
        ("(A B)", "(A* B*)", "one row at the least"),
        ("(A B)", "((A? B?)+ C)", "what is repeated has one row"),
        ("(A B)", "(A {- B -})", "cannot read '{- B -}'"),
        ("(A B)", "(A{3,2} B)", "no number of times"),
        ("(A B)", "(A{900} B{900} (A{900}){900})", "too large"),
        ("ORDER BY ts", "ORDER BY speed", "goes by the event time, ascending: ORDER BY ts"),
        ("ORDER BY ts", "ORDER BY ts DESC", "goes by the event time, ascending"),
        ("PARTITION BY segment", "PARTITION BY segment + 1", "names columns"),
        ("A.ts AS t", "A.ts AS t ALL ROWS PER MATCH", "ONE ROW PER MATCH"),
        ("A.ts AS t", "A.ts AS t AFTER MATCH SKIP TO LAST A", "known are PAST LAST ROW and TO NEXT ROW"),
        ("A.ts AS t", "C.ts AS t", "unknown symbol 'C'; the pattern has a, b"),
        ("A.ts AS t", "A.speed + MEDIAN(B.speed) AS t", "MEDIAN is not available in MEASURES"),
        ("A.ts AS t", "SUM(A.speed + B.speed) AS t", "the rows of one symbol"),
        ("A.ts AS t", "A.spede AS t", "unknown column 'spede'"),
        (SLOW, "DEFINE C AS speed < 10", "DEFINE has 'c', which is not in the pattern"),
        (SLOW, "DEFINE B AS B.speed - A.speed > 5", "one side about the row itself"),
        (SLOW, "DEFINE B AS A.speed > 5 OR B.speed > 5", "one side about the row itself"),
        (SLOW, "DEFINE A AS speed < NEXT(speed)", "let a symbol of the pattern be that row"),
        (SLOW, "DEFINE A AS speed", "a condition must be BOOLEAN"),
    ],
)
def test_what_cannot_be_matched_is_refused_with_what_to_write(old, new, message):
    assert old in BODY
    assert message in refused_view(query(BODY.replace(old, new)))
