"""Says aloud, once per function and run, that a function of the program's own fails on rows."""

import logging
from collections.abc import Callable

from skerry.pipeline.outcome import Outcome

__all__ = ["FunctionWatch"]

_log = logging.getLogger(__name__)


class FunctionWatch:
    """Looks at what a run has come to after each batch, and hands it on."""

    def __init__(self, watch: Callable[[Outcome], None] | None) -> None:
        self._watch = watch
        self._told: set[str] = set()

    def __call__(self, outcome: Outcome) -> None:
        """Warn of functions that have failed for the first time."""
        for name in outcome.failed_rows.keys() - self._told:
            self._told.add(name)
            count, first = outcome.failed_rows[name], outcome.first_errors[name]
            _log.warning("function %r fails and gives NULL instead (rows: %d); the first error: %s", name, count, first)
        if self._watch:
            self._watch(outcome)
