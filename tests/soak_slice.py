"""A slice of the long tests: drawn by a seed, and never longer than the minutes it is given.

``pytest -m soak --slice SEED`` runs the long tests in an order that the seed draws. A test begins only if the time
that it may take at most, its timeout, is still left; what does not begin is skipped and says so. With the hash of a
commit as the seed every commit runs another slice, so that all of them are run again and again.
"""

import hashlib
import time
from collections.abc import Sequence

import pytest


def add_options(parser: pytest.Parser) -> None:
    """Add the options that ask for a slice."""
    group = parser.getgroup("slice", "a slice of the long tests")
    group.addoption(
        "--slice", metavar="SEED", help="run the tests in the order that this text draws, while time is left"
    )
    group.addoption("--slice-minutes", type=float, default=15.0, metavar="N", help="the time of a slice (default: 15)")


def draw_order(seed: str, names: Sequence[str]) -> list[str]:
    """The names in the order that a seed draws: the same for every run, whatever their order before."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


class Slice:
    """The tests of one slice, in their order, and the time that is left for them."""

    def __init__(self, seed: str, minutes: float) -> None:
        self._seed = seed
        self._ends = time.monotonic() + 60 * minutes
        self._minutes = minutes

    @pytest.hookimpl(trylast=True)  # after the tests that were not asked for are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Bring the tests into the order of the seed; those that need hours or a quiet machine are left out."""
        items[:] = [item for item in items if item.get_closest_marker("whole") is None]
        for item in items:
            if _longest_seconds(item) > 60 * self._minutes:
                raise pytest.UsageError(f"{item.nodeid} may take longer than a slice of {self._minutes:g} minutes")
        items_by_name = {item.nodeid: item for item in items}
        items[:] = [items_by_name[name] for name in draw_order(self._seed, list(items_by_name))]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a test that might end after the slice does."""
        if time.monotonic() + _longest_seconds(item) > self._ends:
            pytest.skip("not in this slice: the time that it may take is not left")


def _longest_seconds(item: pytest.Item) -> float:
    """How long a test may take: its own timeout, or that of all tests."""
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0] if mark else item.config.getini("timeout"))
