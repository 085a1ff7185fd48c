"""A view, to be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from skerry.database.settings import Settings
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.runtime import RunOptions
from skerry.plan.view import ViewPlan
from skerry.sinks.memory import MemorySink

if TYPE_CHECKING:
    from skerry.database.database import Database

__all__ = ["StandingView"]


@dataclass(frozen=True)
class StandingView:
    """A view's answers, as they come."""

    database: "Database"
    plan: ViewPlan

    def stream(self, *, step_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The view's answers, as they come; of a live source for ever.

        While a pipeline of the database runs in the background, they are that pipeline's. Otherwise the view runs
        alone, in this process, for as long as it is read: a batch per step that has any.
        """
        running = self.database.running
        if running and running.gives(self.plan.name):
            yield from running.view(self.plan.name).stream()
            return
        settings = Settings("fjord", step_rows=step_rows)
        pipeline, options = self.database.pipeline([self.plan], settings), RunOptions(catalog=self.database.catalog)
        run = FjordRuntime(pipeline, MemorySink(), options)
        for _, answers in run.steps():
            if self.plan.name in answers:
                yield answers[self.plan.name]
