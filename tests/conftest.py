"""What all tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.soak_slice import Slice, add_options

# Every run tries the same examples; HYPOTHESIS_PROFILE=explore tries new ones, and more.
settings.register_profile("skerry", deadline=None, max_examples=50, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "skerry"))


_COMPILED = ("shedding", "index")
"""Where kernels take long to compile: one process does it, and the others wait for its tests instead."""
_APART = ("test_recovery", "test_changing_subscriptions", "test_cluster", "test_cases_hold_on_separate_executors")
"""What starts a Spark of its own has no need of the one that all others share."""
_MEASURED = "measured_figures"
"""A fixture of a module that takes long: one process makes it for all tests of the module."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a command ask for a slice of the long tests."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Order and time the tests where a slice is asked for."""
    if seed := config.getoption("--slice"):
        config.pluginmanager.register(Slice(seed, config.getoption("--slice-minutes")), "slice")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests in one process, one after the other, that share what is dear to start, where tests run in several.

    What takes long comes first, so that the many short ones fill the gaps at the end.
    """
    groups = [_group(item) for item in items]
    for item, group in zip(items, groups, strict=True):
        if group:
            item.add_marker(pytest.mark.xdist_group(group))
    order = sorted(range(len(items)), key=lambda index: groups[index] is None)
    items[:] = [items[index] for index in order]


def _group(item: pytest.Item) -> str | None:
    for name in _APART:
        if name in (item.path.stem, item.name.partition("[")[0]):
            return name
    if item.get_closest_marker("spark") or item.get_closest_marker("cluster"):
        return "spark"
    if compiled := [name for name in _COMPILED if name in item.path.as_posix()]:
        return compiled[0]
    return item.path.parent.name if _MEASURED in getattr(item, "fixturenames", ()) else None
