"""A trial from begin to verdict."""

import tempfile
from pathlib import Path

from skerry.errors import OptionError
from skerry.testing.trial.check import check_course
from skerry.testing.trial.course import Say, run_course
from skerry.testing.trial.queries import make_queries
from skerry.testing.trial.settings import TrialSettings
from skerry.testing.trial.verdict import Verdict

__all__ = ["run_trial"]


def run_trial(settings: TrialSettings, say: Say = lambda text: None) -> Verdict:
    """Run a trial, and check it; ``say`` hears what happens meanwhile."""
    if settings.folder is None:
        with tempfile.TemporaryDirectory(prefix="skerry-trial-", ignore_cleanup_errors=True) as folder:
            return _run(settings, Path(folder), say)
    settings.folder.mkdir(parents=True, exist_ok=True)
    if any(settings.folder.iterdir()):
        raise OptionError(f"a trial needs an empty folder; {str(settings.folder)!r} is not")
    return _run(settings, settings.folder.absolute(), say)


def _run(settings: TrialSettings, folder: Path, say: Say) -> Verdict:
    queries = make_queries(settings)
    course = run_course(settings, queries, folder, say)
    say("checking")
    return check_course(settings, queries, course)
