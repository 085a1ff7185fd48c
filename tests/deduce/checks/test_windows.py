import pytest

from skerry.deduce.checks import check_streams
from skerry.errors import RuleError
from tests.deduce.checks.programs import check_text

DECLARED = "base a(x: int, t: time){}. base b(x: int, t: time) window 60 s."


def test_join_over_a_stream_without_a_window_is_refused():
    program = check_text(DECLARED.format("") + "p(x) :- a(x, t), b(x, u).")
    with pytest.raises(RuleError, match=r"^E303 line 1, column 70, rule 1: a join over 'a', a stream without a window"):
        check_streams(program, ["a", "b"])
    check_streams(program, ["b"])


@pytest.mark.parametrize("window", [" window 5 s", " window 10 rows"])
def test_join_over_windows_may_run(window):
    check_streams(check_text(DECLARED.format(window) + "p(x) :- a(x, t), b(x, u)."), ["a", "b"])


def test_selection_needs_no_window_but_a_join_over_it_does():
    check_streams(check_text(DECLARED.format("") + "p(x) :- a(x, t), x > 3."), ["a", "b"])
    with pytest.raises(RuleError, match=r"E303 .* a join over 'p'"):
        check_streams(check_text(DECLARED.format("") + "p(x) :- a(x, t). q(x) :- p(x), NOT b(x, _)."), ["a", "b"])
