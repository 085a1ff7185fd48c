"""How far a source, or a view, has come in event time, and who holds whom back.

A source holds its views back by what it has not handed over yet. Two do so no longer: one that is used up, and one that
was quiet for its ``idle_timeout``. The sources of a replay advance together, so how long one was quiet follows from the
readings alone: it is the event time that the replay has come to, less the source's newest.
"""

from collections.abc import Iterable, Mapping

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros

__all__ = ["find_held_back", "pass_idle", "watermark", "watermark_of_view"]


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


def pass_idle(
    sources: Iterable[Source], newest: Mapping[str, Micros], until: Mapping[str, Micros]
) -> dict[str, Micros]:
    """The newest event times, those of idle sources as far as the replay has come; ``until`` is how far, by source.

    No reading before that is left to hand over. So an idle source that comes back is in time, but for what is farther
    out of order than its delay.
    """
    found = dict(newest)
    for source in sources:
        come, seen = until.get(source.name, START_OF_TIME), newest.get(source.name, START_OF_TIME)
        if source.idle_timeout_us is not None and come < END_OF_TIME and come - seen > source.idle_timeout_us:
            found[source.name] = come
    return found


def find_held_back(views: Iterable[CutView], newest: Mapping[str, Micros]) -> dict[str, list[str]]:
    """The views that wait for a source whose watermark is behind that of another, and the sources they wait for.

    A source that is used up is ahead of all others, and nobody's measure. One with an ``idle_timeout`` is not told: it
    holds nobody back for long.
    """
    found = {}
    for view in views:
        marks = {
            feed.source.name: watermark(feed.source, newest.get(feed.source.name, START_OF_TIME))
            for feed in view.clocks
            if newest.get(feed.source.name, START_OF_TIME) < END_OF_TIME
        }
        patient = {feed.source.name for feed in view.clocks if feed.source.idle_timeout_us is None}
        waits = sorted(name for name in patient & marks.keys() if marks[name] == min(marks.values()))
        if view.stateful and waits and len(set(marks.values())) > 1:
            found[view.name] = waits
    return found
