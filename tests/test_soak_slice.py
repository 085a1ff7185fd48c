"""A slice of the long tests is drawn by its seed and ends in time."""

import random

from tests.soak_slice import draw_order

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.soak_slice import Slice, add_options
def pytest_addoption(parser):
    add_options(parser)
def pytest_configure(config):
    config.pluginmanager.register(Slice(config.getoption("--slice"), config.getoption("--slice-minutes")))
"""
TESTS = """
import pytest
@pytest.mark.timeout(50)
@pytest.mark.parametrize("number", range(8))
def test_short(number): pass
@pytest.mark.timeout(100)
def test_long(): pass
@pytest.mark.whole
@pytest.mark.timeout(1000)
def test_whole(): assert False
"""


def test_order_is_of_the_seed_alone():
    names = [f"test_{number}" for number in range(50)]
    shuffled = random.Random(1).sample(names, len(names))
    assert draw_order("a", names) == draw_order("a", shuffled) != draw_order("b", names)


def test_every_test_comes_first_in_some_slice():
    names = [f"test_{number}" for number in range(20)]
    assert {draw_order(str(seed), names)[0] for seed in range(300)} == set(names)


def _run(pytester, *options):
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\ntimeout = 300\nmarkers = timeout\n whole")
    pytester.makepyfile(TESTS)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--slice", "seed", *options)


def test_all_run_where_there_is_time(pytester):
    _run(pytester, "--slice-minutes", "2").assert_outcomes(passed=9)


def test_what_may_end_too_late_does_not_begin(pytester):
    result = _run(pytester, "--slice-minutes", "1.66667", "-rs")
    result.assert_outcomes(passed=8, skipped=1)
    result.stdout.fnmatch_lines(["*not in this slice*"])


def test_a_test_that_is_marked_so_is_in_no_slice(pytester):
    result = _run(pytester, "--slice-minutes", "1", "-k", "short or whole")
    result.assert_outcomes(passed=8)


def test_a_test_longer_than_a_slice_is_an_error(pytester):
    result = _run(pytester, "--slice-minutes", "1")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*test_long may take longer*"])
