import pytest

from skerry.catalog import Catalog
from skerry.errors import InputError, SqlError
from skerry.lang.sql import Session

SOURCE = "CREATE SOURCE t (ts TIMESTAMP, speed DOUBLE, form INT) WITH (connector='file', path='t.csv')"
WRONG = {
    "CREAT MATERIALIZED VIEW v AS SELECT speed FROM t": "column 1: cannot read 'CREAT' here; did you mean CREATE?",
    "CREATE MATERIALISED VIEW v AS SELECT speed FROM t": "column 8: .* did you mean MATERIALIZED?",
    "CREATE MATERIALIZED VIEW v AS SELCET speed FROM t": "column 31: .* did you mean SELECT?",
    "CREATE MATERIALIZED VIEW v AS SELECT speed FORM t": "column 44: .* did you mean FROM?",
    "CREATE MATERIALIZED VIEW v AS SELECT speed FROM t WERE speed > 3": "did you mean WHERE?",
    "CREATE MATERIALIZED VIEW v AS SELECT speed FROM t LEFT JION t AS b ON true": "did you mean JOIN?",
}


@pytest.fixture
def session():
    session = Session(Catalog.in_memory())
    session.execute(SOURCE)
    return session


@pytest.mark.parametrize(("statement", "message"), WRONG.items())
def test_keyword_that_was_meant_is_named(session, statement, message):
    with pytest.raises(SqlError, match=message):
        session.execute(statement)


def test_name_that_looks_like_a_keyword_is_a_name(session):
    session.execute("CREATE MATERIALIZED VIEW v AS SELECT form FROM t")
    assert session.plan("v").root.schema.names == ["form"]


@pytest.mark.parametrize("name", ["selected", "viewed", "grouped", "joined"])
def test_name_that_looks_like_a_keyword_is_not_blamed_for_what_is_wrong_elsewhere(session, name):
    with pytest.raises(SqlError, match="column 76: something is missing at '>'"):
        session.execute(f"CREATE MATERIALIZED VIEW v AS SELECT speed AS {name:9} FROM t WHERE speed >")


def test_mark_in_front_of_a_script_is_no_part_of_it(session):
    session.execute("\ufeffCREATE MATERIALIZED VIEW v AS SELECT speed FROM t")
    assert session.plan("v").root.schema.names == ["speed"]


def test_sizes_of_windows_are_told_as_they_are_written(session):
    wrong = (
        "CREATE MATERIALIZED VIEW v AS SELECT COUNT(*) FROM TUMBLE(t, ts, INTERVAL '-30' SECOND) GROUP BY window_start"
    )
    with pytest.raises(InputError, match="above zero, got a size of -30 SECOND"):
        session.execute(wrong)
