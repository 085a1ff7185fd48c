import pytest

from skerry.build.explain import explain
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.outer_join import OuterJoin
from skerry.plan.select import Select
from tests.lang.sql.plans import Sources
from tests.lang.sql.test_joins import SOURCES, TUMBLE, A, B

DEVICES = "CREATE TABLE devices (id INT, kind VARCHAR) WITH (connector='file', path='d.csv');"
SCRIPT = Sources(SOURCES + DEVICES)
LEFT = f"SELECT a.x, b.y FROM {A} LEFT JOIN {B} ON"


def test_keys_and_windows_are_those_of_the_streams():
    found = SCRIPT.found(OuterJoin, f"{LEFT} a.name = b.name")
    assert [(side.keys, side.span_us) for side in found.sides] == [(("name",), 60_000_000), (("name",), 120_000_000)]
    assert found.condition is None


def test_on_asks_the_second_stream_before_the_join_and_the_rest_of_combinations():
    found = SCRIPT.found(OuterJoin, f"{LEFT} a.k = b.k AND b.y > 1 AND a.x > 2 AND a.x < b.y")
    assert found.text == "a.x > 2 AND a.x < b.y"
    assert [type(relation.input) is Select for relation in found.relations] == [False, True]


def test_where_asks_the_first_stream_before_the_join_and_the_rest_of_its_answers():
    root = SCRIPT.planned(f"{LEFT} a.k = b.k WHERE a.x > 2 AND b.y IS NULL").root
    assert (root.input.text, root.input.input.condition) == ("b.y IS NULL", None)
    assert [type(relation.input) is Select for relation in root.input.input.relations] == [True, False]


def test_a_window_can_go_by_the_time_of_the_first_stream():
    found = SCRIPT.found(OuterJoin, f"SELECT a.ts, b.y FROM {A} LEFT JOIN {B} USING (k)")
    assert (found.lag_us("a.ts"), found.lag_us("b.ts")) == (60_000_000, None)


def test_explain_says_when_readings_without_a_partner_come():
    text = explain(SCRIPT.planned(f"{LEFT} a.name = b.name AND a.x < b.y"))
    assert "a.name = b.name over a SLIDING 1 MINUTE, b SLIDING 2 MINUTE if a.x < b.y, readings of a without" in text
    assert "every live reading, and which of a have a partner" in text


def test_table_is_asked_by_on_before_it_is_looked_up():
    found = SCRIPT.found(LeftLookup, "SELECT x, kind FROM a LEFT JOIN devices AS d ON d.id = a.k AND d.kind <> 'loop'")
    assert found.condition.sql == "\"kind\" <> 'loop'"
    text = explain(SCRIPT.planned("SELECT x, kind FROM a LEFT JOIN devices AS d ON d.id = a.k"))
    assert 'LeftLookup "k" = "id" in table devices' in text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            f"SELECT COUNT(*) FROM {A} LEFT JOIN {TUMBLE} USING (k)",
            "'t' may have no row: the window is that of a stream",
        ),
        (f"SELECT a.x FROM {A} LEFT JOIN LAST_ROWS(b, 3) AS b USING (k)", "write SLIDING in place of LAST_ROWS"),
        ("SELECT x FROM a RIGHT JOIN devices AS d ON d.id = a.k", "which rows of table 'd' have no reading is never"),
        ("SELECT x FROM devices AS d LEFT JOIN a ON d.id = a.k", "name the stream first: FROM stream LEFT JOIN d"),
        (
            f"SELECT a.x FROM {A} JOIN {B} USING (k) LEFT JOIN devices AS d ON d.id = a.k AND d.id < b.y",
            "is about another",
        ),
        (f"{LEFT} a.k = b.k JOIN devices AS d ON d.id = b.k", "which may have no row: write LEFT JOIN d"),
    ],
)
def test_left_join_that_means_nothing_is_refused(query, message):
    assert message in SCRIPT.refused(query)


@pytest.mark.parametrize("options", ["on_overload='shed', memory_rows='100'", "spill_to='disk', memory_rows='100'"])
def test_left_join_keeps_all_readings(options):
    assert "it can neither shed nor spill" in SCRIPT.refused(f"{LEFT} a.k = b.k", f"WITH ({options})")
