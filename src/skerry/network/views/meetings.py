"""Of which motes' rows answers are made: a view runs in this process with its rows marked, and answers are counted.

A join takes the marks through: every answer says where its rows arose, and where their keys are hashed to. Any other
view that is spread by keys runs once per mote that keys are hashed to, and its answers are counted there.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView
from skerry.build.table import build_partial
from skerry.model.arrays import Int64s
from skerry.model.expression import Columns, Expression
from skerry.model.time import Micros
from skerry.network.views.placement import can_move, meets_anywhere
from skerry.pipeline.view_at_work import ViewAtWork
from skerry.plan.join import Join
from skerry.plan.node import Node, Stateless
from skerry.plan.project import Project

__all__ = ["MeetingSurvey", "Meetings", "make_meeting_survey"]

_MOTE, _HOME = "_surveyed_mote", "_surveyed_home"
_MARKS = {_MOTE: Expression("0", pa.int64()), _HOME: Expression("0", pa.int64())}


@dataclass(frozen=True)
class Meetings:
    """Kinds of answers: where the rows of each stream arose, where their keys are hashed to, and how many there are.

    ``sources`` has no columns if answers are not made of one row per stream.
    """

    sources: Int64s
    homes: Int64s
    counts: Int64s

    @classmethod
    def none(cls, streams: int) -> "Meetings":
        """No answers."""
        return cls(np.zeros((0, streams), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


class MeetingSurvey(Protocol):
    """A view with its rows marked."""

    def take(self, stream: int, mote: int, homes: Int64s, rows: pa.RecordBatch) -> None:
        """Rows of a stream have arisen at a mote."""

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """All streams have come so far."""

    def sum_up(self) -> Meetings:
        """What was counted."""


def make_meeting_survey(view: CutView, tables: Mapping[str, pa.RecordBatch]) -> MeetingSurvey | None:
    """What counts where the answers of a view arise; None if that can be at the base station only."""
    if not can_move(view):
        return None
    if meets_anywhere(view):
        return _MarkedJoin(view, tables)
    return _ViewPerHome(view, tables) if view.is_spread else None


def _advance(work: ViewAtWork, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> pa.RecordBatch:
    for source, moment in heard.items():
        work.note_heard(source, moment)
    for source, moment in newest.items():
        work.note_newest(source, moment)
    return work.advance(work.watermark)


class _MarkedJoin:
    """A join whose rows carry their mote and home as columns more."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        assert isinstance(view.state, Join)
        marked = _mark_join(view.state)
        self._names = [side.column(_MOTE) for side in marked.sides]
        self._names.append(marked.sides[0].column(_HOME))
        self._work = ViewAtWork(replace(view, state=marked, above=_mark_above(view.above, marked, self._names)), tables)
        self._counts: Counter[tuple[int, ...]] = Counter()

    def take(self, stream: int, mote: int, homes: Int64s, rows: pa.RecordBatch) -> None:
        """Mark rows, and join them."""
        marked = rows.append_column(_MOTE, pa.array(np.full(rows.num_rows, mote))).append_column(_HOME, pa.array(homes))
        self._note(self._work.transition(marked, stream))

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Join what has come."""
        self._note(_advance(self._work, newest, heard))

    def _note(self, answers: pa.RecordBatch) -> None:
        if answers.num_rows:
            marks = np.stack([answers.column(name).to_numpy() for name in self._names], axis=1)
            kinds, counts = np.unique(marks, axis=0, return_counts=True)
            self._counts.update(dict(zip(map(tuple, kinds.tolist()), counts.tolist(), strict=True)))

    def sum_up(self) -> Meetings:
        """Kinds of answers by the motes of their rows."""
        kinds = np.array(sorted(self._counts), np.int64).reshape(len(self._counts), len(self._names))
        counts = np.array([self._counts[tuple(kind)] for kind in kinds.tolist()], np.int64)
        return Meetings(kinds[:, :-1], kinds[:, -1], counts)


def _mark_join(join: Join) -> Join:
    """A join whose sides have the marks as columns more."""
    relations = tuple(_add_columns(relation, tuple(_MARKS.items())) for relation in join.relations)
    sides = tuple(replace(side, schema=node.schema) for side, node in zip(join.sides, relations, strict=True))
    return join.replace_fields(relations=relations, sides=sides)


def _add_columns(node: Node, columns: Columns) -> Node:
    assert isinstance(node, Project), "a side of a join is a projection"
    return node.replace_fields(columns=(*node.columns, *columns))


def _mark_above(above: tuple[Stateless, ...], join: Join, names: list[str]) -> tuple[Stateless, ...]:
    """The nodes above a join, which let the marks pass."""
    marks: Columns = tuple((name, Expression.of(name, pa.int64())) for name in names)
    below: Node = join
    found: list[Stateless] = []
    for node in above:
        marked = node.with_inputs((below,))
        below = marked.replace_fields(columns=(*marked.columns, *marks)) if isinstance(marked, Project) else marked
        assert isinstance(below, Stateless)
        found.append(below)
    return tuple(found)


class _ViewPerHome:
    """A view that runs once per mote that keys are hashed to."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        self._view, self._tables = view, tables
        self._work: dict[int, ViewAtWork] = {}
        self._counts: Counter[int] = Counter()

    def take(self, stream: int, mote: int, homes: Int64s, rows: pa.RecordBatch) -> None:
        """Hand rows to the homes of their keys."""
        partial = self._view.feeds[stream].partial
        for home in np.unique(homes).tolist():
            here = rows.take(pa.array(np.flatnonzero(homes == home)))
            work = self._work.setdefault(home, ViewAtWork(self._view, self._tables))
            given = work.transition(build_partial(partial).transition(here) if partial else here, stream)
            self._counts[home] += given.num_rows

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """All homes learn how far streams have come."""
        for home, work in self._work.items():
            self._counts[home] += _advance(work, newest, heard).num_rows

    def sum_up(self) -> Meetings:
        """Answers by home."""
        homes = np.array(sorted(self._counts), np.int64)
        counts = np.array([self._counts[home] for home in homes.tolist()], np.int64)
        return Meetings(np.zeros((homes.size, 0), np.int64), homes, counts)
