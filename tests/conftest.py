"""What all tests share."""

import os
import sys
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings

from tests.soak_slice import Slice, add_options

# Every run tries the same examples; HYPOTHESIS_PROFILE=explore tries new ones, and more.
settings.register_profile("skerry", deadline=None, max_examples=50, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "skerry"))


# Tests start many Python processes, Spark's among them: without bytecode on disk, each compiles all modules anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_COMPILED = ("shedding", "index")
"""Where kernels take long to compile: one process does it, and the others wait for its tests instead."""
_APART = ("test_changing_subscriptions", "test_cluster", "test_cases_hold_on_separate_executors")
"""What starts a Spark of its own has no need of the one that all others share."""
_WAITING = ("test_trial", "test_sensors_at_work")
"""What takes long, and most of that to wait: it begins while there is other work."""


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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start the Spark that tests share for envelopes, whichever test is the first: Java then compiles far less."""
    if item.get_closest_marker("spark") and _group(item) == "spark":
        from skerry.spark.session import session

        session("local[2]", rows_in_jvm=False)


def _group(item: pytest.Item) -> str | None:
    for name in (*_APART, *_WAITING):
        if name in (item.path.stem, item.name.partition("[")[0]):
            return name
    if item.get_closest_marker("spark") or item.get_closest_marker("cluster"):
        return "spark"
    if compiled := [name for name in _COMPILED if name in item.path.as_posix()]:
        return compiled[0]
    return f"{item.path.parent.name}/{item.path.stem}" if _has_fixture_of_module(item) else None


def _has_fixture_of_module(item: pytest.Item) -> bool:
    """Whether a test needs what is made once per module: one process makes it, for all tests of the module."""
    found: dict[str, Sequence[pytest.FixtureDef[object]]] = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009
    return any(definitions[-1].scope == "module" for definitions in found.values())
