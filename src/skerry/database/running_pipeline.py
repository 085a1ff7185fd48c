"""A pipeline that runs in the background of a Python program."""

import logging
from collections.abc import Callable, Iterator
from threading import Event, Thread, main_thread
from types import TracebackType

import pyarrow as pa

from skerry.database.live_answers import LiveAnswers
from skerry.errors import WaitTimeout
from skerry.pipeline.outcome import Outcome

__all__ = ["RunningPipeline", "RunningView"]

_log = logging.getLogger(__name__)

Run = Callable[[Callable[[], bool], Callable[[Outcome], None]], Outcome]
"""Runs until it is told to stop; reports after each batch."""


class RunningPipeline:
    """All views of a database, kept answered by a thread until its block ends.

    What goes wrong while it runs is raised where the block ends, and by ``wait`` and ``stop``. It ends by itself when
    its input is used up, and with the program.
    """

    def __init__(self, run: Run, answers: LiveAnswers, find_view: Callable[[str], object]) -> None:
        """Start, and return when the sources are open. What is wrong with the input is raised here."""
        self._run, self._answers, self._find_view = run, answers, find_view
        self._stopped = Event()
        self._error: BaseException | None = None
        self._outcome = Outcome()
        self._thread = Thread(target=self._work, name="skerry-pipeline")
        self._thread.start()
        try:
            has_begun = answers.wait_until_open()
        except BaseException:
            self._stopped.set()
            raise
        if not has_begun:
            self._thread.join()
            self.check()

    def __enter__(self) -> "RunningPipeline":
        """It runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop. What went wrong in the run is raised, unless the block ends with an error of its own."""
        try:
            self.stop()
        except BaseException as own:
            if error is None:
                raise
            _log.warning("the pipeline failed too: %s", own)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    @property
    def outcome(self) -> Outcome:
        """What it has come to so far."""
        return self._outcome

    def gives(self, output: str) -> bool:
        """Whether it answers a view: not if the view was made after it had started."""
        return self._answers.has(output)

    def view(self, name: str) -> "RunningView":
        """One view's answers."""
        self._find_view(name)
        return RunningView(name, self, self._answers)

    def wait(self, timeout: float | None = None) -> Outcome:
        """Return when its input is used up. If ``timeout`` seconds pass first, ``WaitTimeout`` is raised."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise WaitTimeout("the pipeline still runs, after", timeout, "s")
        return self._conclude()

    def stop(self) -> Outcome:
        """Let the batch at hand end, and the run with it."""
        self._stopped.set()
        self._thread.join()
        return self._conclude()

    def check(self) -> None:
        """Raise what has ended the run, if something has."""
        if self._error:
            raise self._error

    def _conclude(self) -> Outcome:
        self.check()
        return self._outcome

    def _work(self) -> None:
        try:
            self._outcome = self._run(self._is_told_to_stop, self._note)
        except BaseException as error:  # it is raised where somebody waits for it
            self._error = error
        finally:
            self._answers.end()

    def _is_told_to_stop(self) -> bool:
        """A program that ends without a word stops it too."""
        return self._stopped.is_set() or not main_thread().is_alive()

    def _note(self, outcome: Outcome) -> None:
        self._outcome = outcome


class RunningView:
    """The answers that a running pipeline gives for one view."""

    def __init__(self, name: str, pipeline: RunningPipeline, answers: LiveAnswers) -> None:
        self.name = name
        self._pipeline, self._answers = pipeline, answers

    def wait(self, rows: int = 1, timeout: float | None = None) -> pa.Table:
        """The answers so far, as soon as there are so many ``rows``; fewer if the run is over before that.

        If ``timeout`` seconds pass first, ``WaitTimeout`` is raised. Of very many answers the newest are given.
        """
        found = self._answers.wait(self.name, rows, timeout)
        self._pipeline.check()
        return found

    def stream(self) -> Iterator[pa.RecordBatch]:
        """The answers so far, and then each batch as it comes, until the run is over."""
        yield from self._answers.follow(self.name)
        self._pipeline.check()
