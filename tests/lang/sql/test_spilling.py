import pytest

from skerry.catalog import Catalog
from skerry.errors import OptionError
from skerry.lang.sql import Session
from skerry.plan.overload import Spilling
from tests.lang.sql.test_joins import SOURCES, A, B, join_of, planned, refused

JOIN = f"SELECT x, y FROM {A} JOIN {B} ON a.name = b.name WHERE a.x < b.y"


def test_join_may_spill():
    found = join_of(JOIN, "WITH (spill_to='spilled', memory_rows='1000')")
    assert found.overload == Spilling("spilled", 1000)


def test_join_does_not_spill_unless_it_is_told_to():
    assert join_of(JOIN).overload is None


def test_what_is_asked_of_the_combinations_stays_above_the_join():
    spilling, plain = planned(JOIN, "WITH (spill_to='s', memory_rows='1')"), planned(JOIN)
    assert type(spilling.root.input) is type(plain.root.input)
    assert spilling.root.schema == plain.root.schema


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("spill_to='s'", "spill_to needs memory_rows"),
        ("memory_rows='1'", "memory_rows needs spill_to, a folder for what is beyond it, or on_overload = 'shed'"),
        ("spill_to='  ', memory_rows='1'", "spill_to is a folder, got an empty name"),
        ("spill_to='s', memory_rows='0'", "memory_rows is a number from 1 to 1000000000, got '0'"),
        ("spill_to='s', memory_rows='-3'", "memory_rows is a number from 1"),
        ("spill_to='s', memory_rows='many'", "memory_rows is a number from 1"),
        ("spill_to='s', memory_rows='²'", "memory_rows is a number from 1"),
    ],
)
def test_wrong_option_is_told(options, message):
    assert message in refused(JOIN, f"WITH ({options})")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT x FROM a", "a view without a join has no option 'spill_to'"),
        (
            "SELECT key FROM GATHER(a, key => k, across => name, within => INTERVAL '1' SECOND) AS g",
            "a view over GATHER has no option 'spill_to'",
        ),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(b, 5) AS b ON a.name = b.name", "a join with LAST_ROWS keeps its rows"),
    ],
)
def test_only_a_join_over_windows_of_time_can_spill(query, message):
    assert message in refused(query, "WITH (spill_to='s', memory_rows='1')")


def test_join_with_a_table_alone_does_not_spill():
    session = Session(Catalog.in_memory())
    session.execute(f"{SOURCES} CREATE TABLE t (k INT) WITH (connector='file', path='t.csv')")
    with pytest.raises(OptionError, match="a join with tables only has no option 'spill_to'"):
        session.execute(
            "CREATE MATERIALIZED VIEW v WITH (spill_to='s', memory_rows='1') AS SELECT x FROM a JOIN t ON t.k = a.k"
        )
