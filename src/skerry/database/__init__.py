"""What a Python program uses: a catalogue that can be asked, told and run."""

from skerry.database.database import Database, connect
from skerry.database.query_result import QueryResult
from skerry.database.running_pipeline import RunningPipeline, RunningView
from skerry.database.settings import RUNTIMES, Settings
from skerry.database.standing_view import StandingView

__all__ = [
    "RUNTIMES",
    "Database",
    "QueryResult",
    "RunningPipeline",
    "RunningView",
    "Settings",
    "StandingView",
    "connect",
]
