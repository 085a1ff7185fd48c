"""All sources advance together in event time, a step at a time.

A step is an interval of event time that is common to all lanes of all sources: each lane hands over
the readings that arrive in it, in stored order. So bounded streams are replayed as they would have
come live, and no stream runs ahead of another by more than a step.

The planner is a pure function from one position to the next (for live lanes: of the clock too), and
a position is plain JSON. Spark logs it ahead of each batch; what a batch reads follows from the two
positions around it, so a batch that runs again reads the same.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple, Protocol

from skerry.model.time import END_OF_TIME, MICROS, START_OF_TIME, Micros
from skerry.replay.pace import A_STEP, Pace, next_pace, note_load
from skerry.replay.step_size import FEW, StepSize, next_step_size
from skerry.sources.source import Connector, Lane, Split

__all__ = ["Inputs", "Position", "Replay", "ViewSteps"]

_LEAST_TICK_US = MICROS["SECOND"] // 4

Position = dict[str, Any]
"""``{"step": n, "done": bool, "ended": [source], "until": {source: moment}, "lanes": {source: lanes}, "lag": micros,
"span": micros, "shares": {view: share}, "blameless": [view], "paces": {view: pace}, "step_size": step size,
"version": n, "views": n}``, and the lanes of a source as ``{"passed": k, "open": {lane index: [unit, cut]}}``.
``ended`` names the bounded sources that are used up. ``until`` is how far each source has come; of a live one that is
idle, how far time has. The lag is how long readings had waited when the step began. The span is the time in
which the readings of the step arrived. The shares say how much of it views take in, the paces how that was decided
(``replay.pace``), and the step size how many readings it could have. The version is that of the registry, ``views``
that of the views."""


class Inputs(NamedTuple):
    """What a version of the views reads, and which of them may not lag, and by how much."""

    connectors: Sequence[Connector]
    most_lags: Mapping[str, Micros]


class ViewSteps(Protocol):
    """What says which version of the views a step sees."""

    def next_version(self, version: int) -> int:
        """The version of a step, from that of the step before."""

    def inputs(self, version: int) -> Inputs:
        """What a version reads: sources come, and none goes."""


class _Cursor:
    """Where one lane stands: units before ``unit`` are read, and of it what arrived until ``cut``."""

    def __init__(self, lane: Lane, unit: int, cut: int | None) -> None:
        self.lane, self.unit, self.cut = lane, unit, cut

    @property
    def spent(self) -> bool:
        return self.unit >= self.lane.count()

    def end(self) -> Micros:
        """The moment at which the unit at hand is used up, if it is not behind its own cut."""
        return Micros(max(self.lane.last(self.unit), self.cut if self.cut is not None else START_OF_TIME))

    def move_to(self, moment: Micros, *, cuts: bool) -> None:
        """Use up units that end by ``moment``; of one that lies across it, take a part if it ``cuts``.

        A cut never goes back: a live lane may bring older readings than were taken from this one already.
        """
        while not self.spent and self.end() <= moment:
            self.unit, self.cut = self.unit + 1, None
        if cuts and not self.spent and self.lane.first(self.unit) <= moment:
            self.cut = moment if self.cut is None else max(self.cut, moment)


class Replay:
    """Plan steps of about ``step_rows`` readings over a set of connectors.

    ``most_lags`` names the views that would rather miss readings than lag by more; where there are any, steps over live
    sources are shorter if they would take too long (``sources.step_size``). ``next_version`` gives the version
    of the registry that a step sees, from that of the step before; the first is that of 0. ``views`` does so for the
    views, where these come and go; that they have is a step of its own if there is nothing to read. ``clock`` tells the
    time in seconds: a step takes from when it is planned until the next one is asked for.
    """

    def __init__(
        self,
        connectors: Sequence[Connector],
        step_rows: int,
        most_lags: Mapping[str, Micros] | None = None,
        next_version: Callable[[int], int] = int,
        clock: Callable[[], float] = time.monotonic,
        views: ViewSteps | None = None,
    ) -> None:
        self._views, self._seen = views, 0
        self._most_lags, self._next_version = most_lags or {}, next_version
        self._connectors = {connector.definition.name: connector for connector in connectors}
        self._lanes = {name: list(connector.lanes()) for name, connector in self._connectors.items()}
        self._step_rows = step_rows
        self._resumed: set[str] = set()
        self._clock = clock
        self._planned: tuple[int, int, float] | None = None
        self._took: tuple[int, int, float] | None = None

    @property
    def connectors(self) -> Mapping[str, Connector]:
        """What is read, by name."""
        return self._connectors

    @property
    def lanes(self) -> Mapping[str, Sequence[Lane]]:
        """Their lanes, which remember what they have read of files."""
        return self._lanes

    def start(self) -> Position:
        """The position before the first reading."""
        lanes = {name: {"passed": 0, "open": {}} for name in self._lanes}
        start = {"step": 0, "done": False, "ended": [], "until": {}, "lanes": lanes, "lag": 0, "span": 0, "version": 0}
        start["views"] = 0
        return {
            **start,
            **_pack_paces(dict.fromkeys(self._most_lags, Pace())),
            "step_size": list(self._first_step_size()),
        }

    def next(self, position: Position) -> Position:
        """The position one step on, or the same one if there is nothing new."""
        if position["done"]:
            return position
        self._look_back(position["step"])
        views = self._views.next_version(position["views"]) if self._views else position["views"]
        self._see(views)
        step_size = self._step_size(position)
        paces = self._paces(position, step_size.overhead)
        cursors = {name: self._cursors(name, _lanes_at(position, name)) for name in self._lanes}
        everyone = [cursor for lanes in cursors.values() for cursor in lanes]
        self._resume(cursors)
        (moment, rows), come = self._horizon(everyone, min(step_size.rows, self._step_rows)), self._find_clocks()
        alone = len([cursor for cursor in everyone if not cursor.spent]) == 1
        until = {name: self._find_end(name, moment, come, position["until"]) for name in cursors}
        for name, found in cursors.items():
            for cursor in found:
                cursor.move_to(until[name], cuts=not alone)
        lanes = {
            name: self._record(name, _lanes_at(position, name)["passed"], found) for name, found in cursors.items()
        }
        done = not self._any_live() and all(cursor.spent for cursor in everyone)
        if (
            lanes == position["lanes"]
            and done == position["done"]
            and views == position["views"]
            and not self._has_been_quiet(position["until"], until)
        ):
            return position
        lag = self._lag(position["until"], come)
        self._planned = position["step"] + 1, rows, self._clock()
        return {
            "step": position["step"] + 1,
            "done": done,
            "ended": [name for name, found in cursors.items() if self._is_used_up(name, found)],
            "until": until,
            "lanes": lanes,
            "lag": lag,
            **_pack_paces({view: next_pace(paces[view], lag, most_us) for view, most_us in self._most_lags.items()}),
            "step_size": list(step_size),
            "version": self._next_version(position["version"]),
            "views": views,
            "span": self._measure_wait(position["until"], until),
        }

    def splits(self, start: Position, end: Position) -> list[Split]:
        """What lies between two positions, a split a lane."""
        self._see(end["views"])
        found = []
        for name in end["lanes"]:
            begun = _lanes_at(start, name)
            before = self._cursors(name, begun)
            after = self._cursors(name, end["lanes"][name], since=begun["passed"])
            horizon = end["until"].get(name) if self._several(name, before) else None
            found += [split for pair in zip(before, after, strict=True) if (split := _between(name, *pair, horizon))]
        return found

    def _find_end(self, name: str, moment: Micros, come: Mapping[str, Micros], before: Mapping[str, Micros]) -> Micros:
        """How far a source comes with a step. None goes back: views know already how far it was."""
        return max(min(moment, come.get(name, moment)), before.get(name, START_OF_TIME))

    def forget(self, position: Position) -> None:
        """What is before a position is done for good."""
        for name, lanes in self._lanes.items():
            for cursor, lane in zip(self._cursors(name, _lanes_at(position, name), since=0), lanes, strict=True):
                lane.forget(cursor.unit)

    def _see(self, version: int) -> None:
        """Read what a version of the views reads."""
        if self._views is None or version == self._seen:
            return
        connectors, self._most_lags = self._views.inputs(version)
        for connector in connectors:
            if (name := connector.definition.name) not in self._connectors:
                self._connectors[name], self._lanes[name] = connector, list(connector.lanes())
        self._seen = version

    def _has_been_quiet(self, since: Mapping[str, Micros], until: Mapping[str, Micros]) -> bool:
        """Whether time has gone on without a reading for so long that a source may be idle by now."""
        return any(
            until[name] - since.get(name, until[name]) >= max(_LEAST_TICK_US, connector.definition.idle_timeout_us // 2)
            for name, connector in self._connectors.items()
            if connector.live and connector.definition.idle_timeout_us is not None
        )

    def _is_used_up(self, name: str, cursors: Sequence[_Cursor]) -> bool:
        """Whether nothing more can come of a source."""
        return not self._connectors[name].live and all(cursor.spent for cursor in cursors)

    def _several(self, name: str, cursors: Sequence[_Cursor]) -> bool:
        """Whether a source has more than one lane under way; a live one's may go on at any time."""
        return len([cursor for cursor in cursors if self._connectors[name].live or not cursor.spent]) > 1

    def _any_live(self) -> bool:
        return any(connector.live for connector in self._connectors.values())

    def _resume(self, cursors: Mapping[str, Sequence[_Cursor]]) -> None:
        for name in cursors.keys() - self._resumed:
            for cursor in cursors[name]:
                cursor.lane.resume_at(cursor.unit)
        self._resumed |= cursors.keys()

    def _find_clocks(self) -> dict[str, Micros]:
        """How far each live source has come. Of those that are made here none may run ahead of another."""
        live = {name: lanes for name, lanes in self._lanes.items() if self._connectors[name].live}
        come = {name: min(lane.come() for lane in lanes) for name, lanes in live.items()}
        made = [name for name, lanes in live.items() if not any(lane.is_received for lane in lanes)]
        return come | dict.fromkeys(made, min((come[name] for name in made), default=END_OF_TIME))

    def _look_back(self, step: int) -> None:
        """Note how many readings the step before had and how long it took, if it was planned here."""
        if self._planned and self._planned[0] == step:
            self._took = step, self._planned[1], self._clock() - self._planned[2]
        self._planned = None

    def _paces(self, position: Position, overhead: float) -> dict[str, Pace]:
        """The paces of a step, with what its load tells once it has been worked on; that of the first tells little.

        What any step takes counts as if this one had been as long as it may: a longer step has it once.
        """
        step, span = position["step"], position["span"]
        paces = {view: Pace(*position["paces"].get(view, ())) for view in self._most_lags}
        if self._took is None or self._took[0] != step or step == 1 or not span:
            return paces
        seconds = span / MICROS["SECOND"]
        load = max(0.0, self._took[2] - overhead) / seconds + overhead / max(seconds, self._goal(), 2 * overhead)
        return {view: note_load(pace, load, seconds, self._goal()) for view, pace in paces.items()}

    def _first_step_size(self) -> StepSize:
        """A first step that may not take long is a short one: how long is not known."""
        return StepSize(min(FEW, self._step_rows) if self._hurries() else self._step_rows)

    def _hurries(self) -> bool:
        return bool(self._most_lags) and self._any_live()

    def _step_size(self, position: Position) -> StepSize:
        """How long the next step may be."""
        step_size = StepSize(*position.get("step_size", self._first_step_size()))
        if self._took is None or self._took[0] != position["step"] or not self._hurries():
            return step_size
        _, rows, took = self._took
        return next_step_size(step_size, rows, took, self._goal())

    def _goal(self) -> float:
        """How many seconds a step is to take."""
        return A_STEP * min(self._most_lags.values(), default=END_OF_TIME) / MICROS["SECOND"]

    def _lag(self, until: Mapping[str, Micros], come: Mapping[str, Micros]) -> Micros:
        """How long unread readings of live sources have been waiting."""
        return self._measure_wait(until, {**until, **come})

    def _measure_wait(self, since: Mapping[str, Micros], until: Mapping[str, Micros]) -> Micros:
        """The longest time that readings between two moments took to arrive, over all live sources that have begun."""
        begun = [name for name, moment in since.items() if moment > START_OF_TIME]
        live = [name for name in begun if self._connectors[name].live]
        spans = [(until[name] - since[name]) / min(lane.speed for lane in self._lanes[name]) for name in live]
        return Micros(round(max([0.0, *spans])))

    def _cursors(self, name: str, record: Mapping[str, Any], since: int | None = None) -> list[_Cursor]:
        """The lanes from ``since`` on; a lane the record has passed stands at its end."""
        lanes, passed, opened = self._lanes[name], record["passed"], record["open"]
        found = []
        for index in range(passed if since is None else since, len(lanes)):
            unit, cut = opened.get(str(index), (0, None)) if index >= passed else (lanes[index].count(), None)
            found.append(_Cursor(lanes[index], unit, cut))
        return found

    def _record(self, name: str, passed_before: int, cursors: Sequence[_Cursor]) -> dict[str, Any]:
        """Name only lanes that are under way: those before ``passed`` are used up, the rest untouched."""
        passed = passed_before
        if not self._connectors[name].live:
            passed += next((offset for offset, cursor in enumerate(cursors) if not cursor.spent), len(cursors))
        opened = {
            str(index): [cursor.unit, cursor.cut]
            for index, cursor in enumerate(cursors, passed_before)
            if index >= passed and (cursor.unit, cursor.cut) != (0, None)
        }
        return {"passed": passed, "open": opened}

    def _horizon(self, cursors: Sequence[_Cursor], most_rows: float) -> tuple[Micros, int]:
        """How far to go: unit by unit in order of their ends, until enough readings are in; and how many these are."""
        ahead = [(cursor.end(), position, cursor.unit) for position, cursor in enumerate(cursors) if not cursor.spent]
        heapify(ahead)
        moment, rows = START_OF_TIME, 0
        while ahead:
            end, position, unit = ahead[0]
            lane = cursors[position].lane
            if rows + lane.weight(unit) > most_rows and moment > START_OF_TIME:
                return moment, rows
            rows += lane.weight(unit)
            moment = Micros(max(moment, end))
            if unit + 1 < lane.count():
                heapreplace(ahead, (lane.last(unit + 1), position, unit + 1))
            else:
                heappop(ahead)
        return END_OF_TIME, rows


def _lanes_at(position: Position, source: str) -> dict[str, Any]:
    """Where the lanes of a source are; at their start, if it has come since."""
    found: dict[str, Any] = position["lanes"].get(source, {"passed": 0, "open": {}})
    return found


def _pack_paces(paces: Mapping[str, Pace]) -> Position:
    """Paces as a position has them: shares for those who work on the step, the rest for who plans the next."""
    shares = {view: pace.share for view, pace in paces.items()}
    blameless = [view for view, pace in paces.items() if pace.blameless]
    return {"shares": shares, "blameless": blameless, "paces": {view: list(pace) for view, pace in paces.items()}}


def _between(source: str, start: _Cursor, end: _Cursor, horizon: Micros | None) -> Split | None:
    if (start.unit, start.cut) == (end.unit, end.cut):
        return None
    stop = end.unit if end.cut is None else end.unit + 1
    weight = sum(start.lane.weight(unit) for unit in range(start.unit, stop))
    after = None if start.cut is None else Micros(start.cut)
    until = None if end.cut is None else Micros(end.cut)
    return Split(source, start.lane.name, start.unit, stop, after, until, weight, horizon)
