"""How far a source, or a view, has come in event time."""

from collections.abc import Mapping

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros

__all__ = ["watermark", "watermark_of_view"]


def watermark(source: Source, newest: Micros) -> Micros:
    """How far a source has come: its newest event time less its declared delay.

    Without a declared delay nothing is settled until the input ends.
    """
    if newest >= END_OF_TIME:
        return END_OF_TIME
    if source.delay_us is None or newest <= START_OF_TIME:
        return START_OF_TIME
    return Micros(newest - source.delay_us)


def watermark_of_view(view: CutView, newest: Mapping[str, Micros]) -> Micros:
    """How far a view has come, from the newest event time by source: the least of its streams' watermarks."""
    sources = [feed.source for feed in view.clocks]
    return min(watermark(source, newest.get(source.name, START_OF_TIME)) for source in sources)
