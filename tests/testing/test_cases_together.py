"""Cases that are run as one are judged one by one."""

import pytest

from skerry.database import Settings
from skerry.testing.cases import check_together, group_cases, read_case

FJORD = Settings("fjord")


def make_case(source, expected=1, view=None, more=""):
    """A case of two equal readings and a view that shows them."""
    view = view or f"seen_{source}"
    return read_case(
        f"--- input {source}.csv\nts,x\n2026-01-01 00:00:00,1\n2026-01-01 00:00:00,1\n--- sql\n"
        f"CREATE SOURCE {source} (ts TIMESTAMP, x INT, WATERMARK FOR ts AS ts)"
        f" WITH (connector='file', path='{source}.csv');\n"
        f"CREATE MATERIALIZED VIEW {view} AS SELECT x FROM {source};\n{more}\n"
        f"--- expect {view}\nx\n{expected}\n1\n--- tally {source}\n2,0,0\n"
    )


def test_each_case_is_told_its_own_differences():
    right, wrong = check_together([make_case("a"), make_case("b", expected=2)], FJORD)
    assert right == []
    assert wrong == ["seen_b: missing [('2',)], not expected [('1',)]"]


def test_case_that_breaks_the_run_off_is_the_only_one_to_blame():
    broken = make_case("b", more="CREATE MATERIALIZED VIEW more AS SELECT y FROM b;")
    right, wrong = check_together([make_case("a"), broken], FJORD)
    assert right == []
    assert "unknown column 'y'" in wrong[0]


def test_view_that_stops_is_the_fault_of_its_own_case():
    window = "SLIDING(b, ts, INTERVAL '1' HOUR)"
    join = f"SELECT l.x FROM {window} AS l JOIN {window} AS r ON l.x = r.x"
    stopping = make_case("b", more=f"CREATE MATERIALIZED VIEW much WITH (max_combinations='1') AS {join};")
    alone = check_together([stopping], FJORD)[0]
    assert alone[0].startswith("much: stopped, ")
    assert check_together([make_case("a"), stopping], FJORD) == [[], alone]


@pytest.mark.parametrize(
    "other",
    [
        make_case("A"),
        make_case("b", view="seen_a"),
        make_case("b", more="CREATE MATERIALIZED VIEW v WITH (late_to='seen_a') AS SELECT x FROM b;"),
        make_case("b", more="SELECT * FROM sources;"),
        make_case("b", more="CREATE TABLE t (x INT) WITH (connector='file', path='*.csv');"),
        make_case("b", more="INSERT INTO subscriptions (id, stream, predicate) VALUES ('q', 'b', 'x = 1');"),
        read_case("--- sql\nCREATE SOURCE b (x INT)\n--- expect error\nno"),
    ],
    ids=["source", "view", "late readings", "catalogue", "files", "subscriptions", "error"],
)
def test_cases_that_touch_each_other_are_apart(other):
    assert [len(group) for group in group_cases([make_case("a"), other])] == [1, 1]
    assert [len(group) for group in group_cases([other, make_case("a")])] == [1, 1]
