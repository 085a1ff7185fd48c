"""Built-ins: Skerry's own in this process, a project's own in another, which cannot hold this one up."""

import pytest

from skerry.deduce.builtins import Builtins
from skerry.errors import RuleError, RuleLimit
from skerry.plan.program import Function, Type

MODULE = """
import time

print("loaded")

def double(x):
    print("called", flush=True)
    return 2 * x

def even(x):
    return x % 2 == 0

def half(x):
    return x // 2 if x % 2 == 0 else None

def slow(x):
    time.sleep(60)

def tardy(x):
    time.sleep(0.00005)
    return x

def broken(x):
    return 1 // (x - x)

def ends(x):
    raise SystemExit(3)

def wrong(x):
    return "many"

def turned(pair):
    return [*reversed(pair)]

def huge(x):
    return 2 ** 64
"""


def declare(name, result=Type.INT, parameters=(Type.INT,)):
    return {name: Function(name, parameters, result, f"steps:{name}")}


@pytest.fixture
def calling(tmp_path):
    (tmp_path / "steps.py").write_text(MODULE)
    made = []

    def call(name, rows, result=Type.INT, seconds=5.0):
        made.append(Builtins(declare(name, result), ["steps"], tmp_path, seconds))
        return made[-1].call(name, rows)

    yield call
    for each in made:
        each.close()


def test_function_of_a_project_is_called_in_order_and_may_print(calling):
    assert calling("double", [(n,) for n in (3, 1, 3)]) == [6, 2, 6]


def test_more_rows_than_a_batch(calling):
    assert calling("double", [(n,) for n in range(2_500)]) == [2 * n for n in range(2_500)]


def test_predicate_answers_yes_or_no(calling):
    assert calling("even", [(1,), (2,)], result=None) == [False, True]


def test_none_is_no_value(calling):
    assert calling("half", [(1,), (2,)]) == [None, 1]


def test_lists_go_there_and_back(calling):
    assert calling("turned", [((1, ("a", 2.5)),)], result=Type.LIST) == [(("a", 2.5), 1)]


def test_slow_function_is_stopped(calling):
    with pytest.raises(RuleLimit, match=r"E401 built-in 'slow' takes too long: more than 0.5 seconds"):
        calling("slow", [(1,)], seconds=0.5)


def test_many_slow_calls_are_stopped_together(calling):
    with pytest.raises(RuleLimit, match=r"E401 built-in 'tardy' takes too long: more than 2 seconds for .*000 rows"):
        calling("tardy", [(n,) for n in range(100_000)], seconds=1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "ZeroDivisionError: .*, for \\[1\\]"),
        ("ends", "its process ended"),
        ("wrong", "declared to give int, and gave 'many'"),
        ("huge", "does not fit into 64 bits"),
        ("missing", "AttributeError: module 'steps' has no attribute 'missing'"),
    ],
)
def test_failure_is_reported(calling, name, message):
    with pytest.raises(RuleLimit, match=message) as caught:
        calling(name, [(1,)])
    assert caught.value.code == "E402"


def test_process_starts_again_after_it_ended(tmp_path):
    (tmp_path / "steps.py").write_text(MODULE)
    with Builtins(declare("ends") | declare("double"), ["steps"], tmp_path) as builtins:
        with pytest.raises(RuleLimit):
            builtins.call("ends", [(1,)])
        assert builtins.call("double", [(1,)]) == [2]


def test_module_that_is_not_allowed_is_refused(tmp_path):
    (tmp_path / "steps.py").write_text(MODULE)
    with pytest.raises(RuleError, match=r"E104 built-in 'double': module 'steps' is not allowed; .* allowed are geo"):
        Builtins(declare("double"), folder=tmp_path)


@pytest.mark.parametrize(
    "path", ["geo", "geo:", ":dist", "geo:no", "os:system", "geo:math", "skerry.deduce.builtins.geo:dist"]
)
def test_wrong_path_is_refused(path):
    with pytest.raises(RuleError, match="E104"):
        Builtins({"f": Function("f", (), None, path)})


def test_module_that_is_allowed_and_not_there_is_refused(tmp_path):
    function = Function("f", (), None, "absent:f")
    with pytest.raises(RuleError, match=r"E104 built-in 'f': there is no module 'absent'; write absent\.py in"):
        Builtins({"f": function}, ["absent"], tmp_path)
