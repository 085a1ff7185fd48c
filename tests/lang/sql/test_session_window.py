import pytest

from skerry.build.explain import explain
from skerry.plan.session_aggregate import SessionAggregate
from tests.lang.sql.plans import Sources
from tests.lang.sql.test_joins import SOURCES, A

SCRIPT = Sources(SOURCES)
SESSION = "SESSION_WINDOW(b, ts, INTERVAL '30' SECOND)"
VISITS = f"SELECT k, window_start, COUNT(*) AS n FROM {SESSION} GROUP BY k, window_start"


def test_gap_is_the_third_argument():
    assert SCRIPT.found(SessionAggregate, VISITS).window.gap_us == 30_000_000


def test_a_window_can_go_by_the_end_of_a_session():
    found = SCRIPT.found(SessionAggregate, VISITS)
    assert (found.lag_us("window_end"), found.lag_us("window_start")) == (0, None)


def test_explain_tells_of_open_sessions():
    text = explain(SCRIPT.planned(VISITS))
    assert "over SESSION_WINDOW 30 SECOND" in text
    assert "state: one row per group and open session" in text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT k FROM {SESSION}", "a session ends when no reading has come for a while; aggregate over it"),
        ("SELECT COUNT(*) FROM SESSION_WINDOW(b, ts)", "SESSION_WINDOW has 3 arguments, got 2"),
        ("SELECT COUNT(*) FROM SESSION_WINDOW(b, ts, INTERVAL '0' SECOND)", "the gap of a session must be above zero"),
        ("SELECT COUNT(*) FROM SESSION_WINDOW(b, y, INTERVAL '1' SECOND)", "is a TIMESTAMP column"),
        (f"SELECT COUNT(*) FROM {A} JOIN {SESSION} AS s USING (k)", "where streams are joined, write TUMBLE"),
        (f"SELECT speed FROM TUMBLE({SESSION}, ts, INTERVAL '1' SECOND)", "the first argument of TUMBLE is a stream"),
    ],
)
def test_session_that_means_nothing_is_refused(query, message):
    assert message in SCRIPT.refused(query)
