import pytest

from skerry.plan.overload import Shedding
from tests.lang.sql.test_joins import A, B, join_of, refused

JOIN = f"SELECT x, y FROM {A} JOIN {B} ON a.name = b.name"
SHED = "on_overload='shed'"


def overload_of(options):
    return join_of(JOIN, f"WITH ({options})").overload


def test_budget_policy_lag_and_report_are_taken():
    options = f"{SHED}, shed_policy='pattern', memory_rows='500', max_lag='1.5s', loss_to='gone'"
    assert overload_of(options) == Shedding("pattern", 500, 1_500_000, "gone")


def test_shedding_alone_is_adaptive_within_a_million_readings_a_window():
    assert overload_of(SHED) == Shedding("adaptive", 1_000_000, None, None)


def test_to_wait_is_to_have_no_bound():
    assert overload_of("on_overload='wait'") is None


def test_readings_that_share_a_budget_are_in_one_bucket():
    assert join_of(JOIN, f"WITH ({SHED})").bucket_keys(0) == ()
    assert join_of(JOIN).bucket_keys(0) == ("name",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("on_overload='drop'", "option on_overload is 'drop'; known are wait, shed"),
        (f"{SHED}, shed_policy='best'", "option shed_policy is 'best'; known are"),
        (f"{SHED}, memory_rows='0'", "memory_rows is a number from 1 to 1000000000, got '0'"),
        (f"{SHED}, max_lag='soon'", "max_lag is a span of time such as '500ms' or '10s', got 'soon'"),
        (f"{SHED}, max_lag='0s'", "max_lag is a span of time such as '500ms' or '10s', got '0s'"),
        (f"{SHED}, spill_to='s'", "give either spill_to or on_overload = 'shed'"),
        (f"{SHED}, join='mjoin'", "snjoin and amjoin can shed; got join = 'mjoin'"),
        ("max_lag='1s'", "max_lag goes with on_overload = 'shed'"),
        ("on_overload='wait', loss_to='gone'", "loss_to goes with on_overload = 'shed'"),
        ("shed_policy='random'", "shed_policy goes with on_overload = 'shed'"),
    ],
)
def test_wrong_option_is_told(options, message):
    assert message in refused(JOIN, f"WITH ({options})")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT x FROM a", "a view without a join has no option 'on_overload'"),
        (
            "SELECT key FROM GATHER(a, key => k, across => name, within => INTERVAL '1' SECOND) AS g",
            "a view over GATHER has no option 'on_overload'",
        ),
        (f"SELECT x FROM {A} JOIN LAST_ROWS(b, 5) AS b ON a.name = b.name", "it neither spills nor sheds"),
    ],
)
def test_only_a_join_over_windows_of_time_can_shed(query, message):
    assert message in refused(query, f"WITH ({SHED})")
