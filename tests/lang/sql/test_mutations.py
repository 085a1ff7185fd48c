"""Whatever a user types, the answer is a plan or an error in plain words."""

import re

import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Catalog
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.model.dialect import Declarations

SCRIPT = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector='file', path='traffic.csv');
CREATE MATERIALIZED VIEW slow WITH (emit='final') AS
SELECT sensor, speed * 2 AS twice, upper(sensor) FROM traffic AS t WHERE t.speed < 30 AND segment IN (1, 2);
CREATE MATERIALIZED VIEW mean AS
SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) FILTER (WHERE speed > 1) FROM
HOP(traffic, ts, INTERVAL '10' SECOND, INTERVAL '30' SECOND) GROUP BY segment, window_start HAVING MAX(speed) < 45;
DROP MATERIALIZED VIEW slow;
"""
TOKENS = [SCRIPT[token.start : token.end + 1] for token in sqlglot.tokenize(SCRIPT, read=Declarations)]
STRANGE = ["*", "(", ")", ",", ";", "'", '"', "--", "/*", "''", "[", "{", "?", "$1", ".", "::", "=>", "@", "é", "\x00"]
STRANGE += [
    "NULL",
    "0",
    "-1",
    "1e999",
    "SELECT",
    "JOIN",
    "OVER",
    "DISTINCT",
    "CASE",
    "now()",
    "TUMBLE",
    "x.y.z",
    "LIKE",
]

edits = st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from(["delete", "insert", "replace", "double"]))
words = st.sampled_from([*TOKENS, *STRANGE])
leak = re.compile(r"<class|<Token|object at 0x|Traceback|sqlglot|\x1b")


def edited(changes):
    tokens = list(TOKENS)
    for (place, how), word in changes:
        place = min(place, len(tokens))
        kept = tokens[place : place + 1] if how in ("insert", "double") else []
        given = [word] if how in ("insert", "replace") else kept * (how == "double")
        tokens[place : place + 1] = given + kept
    return " ".join(tokens)


def refusal(session, script):
    """Why a script is refused, or None if it is carried out and its views can be planned."""
    try:
        session.execute(script)
        session.plans()
    except InputError as error:
        return str(error)
    return None


def test_script_is_carried_out_if_nothing_is_changed():
    Session(Catalog.in_memory()).execute(edited([]))


@settings(max_examples=300)
@given(st.lists(st.tuples(edits, words), min_size=1, max_size=4))
def test_mutated_script_is_carried_out_or_refused_in_plain_words(changes):
    session = Session(Catalog.in_memory())
    told = refusal(session, edited(changes))
    assert told is None or not leak.search(told)
    assert told is None or session.catalog.names() == []


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_any_text_is_carried_out_or_refused(text):
    told = refusal(Session(Catalog.in_memory()), text)
    assert told is None or not leak.search(told)
