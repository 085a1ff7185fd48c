"""The engine: keeps a program's answers true while facts come and go, at a cost that follows what changes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import overload
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from skerry.deduce.allowance import Allowance
from skerry.deduce.change import Change
from skerry.deduce.engine.arrow_columns import ArrowColumns
from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.encoding import Encoding, Kind, Vector, kind_of
from skerry.deduce.engine.guard import Guard
from skerry.deduce.engine.isolate_aggregates import isolate_aggregates
from skerry.deduce.engine.maintenance import choose_maintenance
from skerry.deduce.engine.relation import NEW, Relation
from skerry.deduce.engine.windows import Window
from skerry.deduce.evaluate import Calls
from skerry.deduce.rule_text import write_value
from skerry.deduce.values import Row
from skerry.errors import InputError, RunError
from skerry.kernels.precompile import precompile
from skerry.model.arrays import Int64s
from skerry.model.term import Value
from skerry.plan.program import SINCE, Checked, Predicate, Type, in_units

__all__ = ["Engine"]

_LEAST = -(2**63)


class Rows(Sequence[Row]):
    """Rows that are decoded when first read, or before the codes of their values are reused."""

    def __init__(self, engine: "Engine", predicate: Predicate, codes: Int64s) -> None:
        self._engine, self._predicate, self._codes = engine, predicate, codes
        self._rows: list[Row] | None = None

    @property
    def codes(self) -> Int64s:
        """The rows as they are kept."""
        return self._codes

    def __len__(self) -> int:
        """How many there are."""
        return len(self._codes)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        """Decode all of them, once."""
        return self.decode()[index]

    def column(self, index: int) -> tuple[Int64s, Sequence[Value] | None]:
        """A number per row for a column's values, and what the numbers stand for; None: for themselves."""
        type_ = self._predicate.columns[index].type
        if self._rows is None:
            codes = self._codes[:, index]
        else:
            codes = self._engine.encode_values([row[index] for row in self._rows], type_)
        if kind_of(type_) is Kind.INT:
            return codes, None
        different, which = np.unique(codes, return_inverse=True)
        return which, self._engine.decode_values(different, type_)

    def decode(self) -> list[Row]:
        """All rows."""
        if self._rows is None:
            self._rows = self._engine.decode_rows(self._predicate, self._codes)
        return self._rows


Changed = Mapping[str, tuple[Int64s, Int64s]]
"""By predicate, the rows of codes that came and those that left."""


class Engine:
    """A program running.

    A tick that reaches a limit is taken back, and is the last one.
    """

    def __init__(
        self, checked: Checked, builtins: Calls, unit: int = 1, watched: Collection[str] | None = None
    ) -> None:
        self._predicates, components = dict(checked.predicates), []
        for component in checked.components:
            components.append(isolate_aggregates(component, self._predicates))
        self._watched = tuple(checked.predicates if watched is None else watched)
        self._relations = {name: Relation(name, each.arity) for name, each in self._predicates.items()}
        allowed = Allowance.of(checked.program.limits)
        self._encoding = Encoding(allowed)
        base = {name: each for name, each in checked.predicates.items() if each.base}
        self._guard = Guard(allowed, self._relations, self._encoding, base)
        self._columns = ArrowColumns(self._encoding, unit)
        setting = Setting(checked.program, self._relations, self._encoding, builtins, unit, self._guard)
        self._components = [choose_maintenance(setting, self._predicates, component) for component in components]
        self._windows = {name: Window(self._relations[name], each, unit) for name, each in base.items()}
        self._silent = {name for name, each in base.items() if each.silent}
        windows = {name: each.window_us for name, each in checked.predicates.items() if not each.base}
        self._derived_windows = {name: in_units(span, unit) for name, span in windows.items() if span is not None}
        self._ticks = self._changed_tuples = 0
        self._stopped: BaseException | None = None
        self._lent: WeakSet[Rows] = WeakSet()
        _warm()

    def tick(
        self, now: int | None, inserts: Mapping[str, Iterable[Row]], deletes: Mapping[str, Iterable[Row]]
    ) -> Mapping[str, Change]:
        """Expire, delete and insert facts; return what changed by that.

        Rows that silent expiry alone takes away are not reported.
        """
        self._forget()
        come = {name: self._encode_rows(name, rows) for name, rows in inserts.items()}
        go = {name: self._encode_rows(name, rows) for name, rows in deletes.items()}
        changed = self._tick(now, come, go)
        return {name: Change(*(self._lend(name, codes) for codes in both)) for name, both in changed.items()}

    def tick_batches(
        self, now: int | None, inserts: Mapping[str, pa.RecordBatch]
    ) -> Mapping[str, tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The same with record batches, as ``schema`` says; rows with a NULL are no facts."""
        self._forget()
        come = {name: self._columns.rows(batch, self._base(name)) for name, batch in inserts.items()}
        return {
            name: (
                self._columns.batch(inserted, self._predicates[name]),
                self._columns.batch(deleted, self._predicates[name]),
            )
            for name, (inserted, deleted) in self._tick(now, come, {}).items()
        }

    def rows(self, predicate: str) -> set[Row]:
        """What holds of a predicate."""
        relation = self._relations[predicate]
        return set(self.decode_rows(self._predicates[predicate], relation.codes[relation.rows()]))

    def held(self, predicate: str) -> Rows:
        """What holds of a predicate, undecoded."""
        relation = self._relations[predicate]
        return self._lend(predicate, relation.codes[relation.rows()])

    def watch(self, tell: Callable[[str, int], None]) -> None:
        """Tell during ticks, now and then, which predicate is being derived, and how many tuples it has."""
        self._guard.watch = tell

    def count(self, predicate: str) -> int:
        """How many tuples a predicate has."""
        return self._relations[predicate].size

    def schema(self, predicate: str) -> pa.Schema:
        """The columns of a predicate as a stream has them."""
        return self._columns.schema(self._predicates[predicate])

    def batch(self, predicate: str) -> pa.RecordBatch:
        """What holds of a predicate, as a record batch."""
        relation = self._relations[predicate]
        return self._columns.batch(relation.codes[relation.rows()], self._predicates[predicate])

    def figures(self) -> Mapping[str, int]:
        """What was counted so far: ticks, and tuples that came or left."""
        return {"ticks": self._ticks, "tuples": self._changed_tuples}

    def decode_rows(self, predicate: Predicate, codes: Int64s) -> list[Row]:
        """Rows of codes as rows of values."""
        if not predicate.columns:
            return [() for _ in range(len(codes))]
        columns = [self._encoding.decode(codes[:, index], each.type) for index, each in enumerate(predicate.columns)]
        return list(zip(*columns, strict=True))

    def decode_values(self, codes: Int64s, type_: Type) -> list[Value]:
        """The values of codes."""
        return self._encoding.decode(codes, type_)

    def encode_values(self, values: Sequence[Value], type_: Type) -> Int64s:
        """The codes of values that a column of a type holds."""
        return self._encoding.encode(values, type_).codes

    def _base(self, name: str) -> Predicate:
        if name not in self._windows:
            raise InputError(f"{name!r} takes no facts; base predicates: {', '.join(self._windows) or 'none'}")
        return self._predicates[name]

    def _encode_rows(self, name: str, rows: Iterable[Row]) -> Int64s:
        predicate, given = self._base(name), list(rows)
        wrong = next((row for row in given if len(row) != predicate.arity), None)
        if wrong is not None:
            raise InputError(f"a fact of {name!r} has {predicate.arity} values, got {len(wrong)}")
        codes = np.empty((len(given), predicate.arity), np.int64)
        for index, column in enumerate(predicate.columns):
            vector = self._column([row[index] for row in given], column.type)
            if vector.valid is not None:
                value = write_value(given[int(np.flatnonzero(~vector.valid)[0])][index])
                raise InputError(f"{column.name!r} of {name!r} is of type {column.type}, got {value}")
            codes[:, index] = vector.codes
        return codes

    def _column(self, values: Sequence[Value], type_: Type) -> Vector:
        try:
            return self._encoding.encode(values, type_)
        except OverflowError:
            raise InputError("a fact holds a whole number that does not fit into 64 bits") from None

    def _tick(self, now: int | None, inserts: Mapping[str, Int64s], deletes: Mapping[str, Int64s]) -> Changed:
        if self._stopped is not None:
            raise RunError(f"the program was stopped: {self._stopped}")
        self._guard.begin()
        old = {name: self._windows[name].take_expired(now) for name in self._silent}
        leaving = {name: (rows, self._relations[name].codes[rows]) for name, rows in old.items() if rows.size}
        faded = self._step(lambda: self._suspend(leaving)) if leaving else {}
        try:
            changed = self._step(lambda: self._change(now, inserts, deletes))
        except BaseException:
            if leaving:
                self._step(lambda: self._return(leaving))
            raise
        self._ticks += 1
        self._changed_tuples += sum(len(each) for both in changed.values() for each in both)
        if faded:
            return {name: self._without_fading(name, faded, changed) for name in faded.keys() | changed.keys()}
        return changed

    def _step(self, change: Callable[[], None]) -> Changed:
        """Change base facts and make all that follows true again, or leave everything as it was."""
        try:
            change()
            for each in self._components:
                each.settle()
        except BaseException as error:
            for relation in self._relations.values():
                relation.roll_back()
            self._stopped = error
            raise
        changed = {}
        for name in self._watched:
            relation = self._relations[name]
            added, deleted = relation.rows_added(), relation.rows_deleted()
            if added.size or deleted.size:
                changed[name] = relation.codes[added], relation.codes[deleted]
        for relation in self._relations.values():
            relation.commit()
        return changed

    def _change(self, now: int | None, inserts: Mapping[str, Int64s], deletes: Mapping[str, Int64s]) -> None:
        self._move_windows(now)
        for name in self._windows.keys() - self._silent:
            self._relations[name].suspend(self._windows[name].take_expired(now))
        for name, codes in deletes.items():
            rows, live = self._relations[name].find_live(codes, NEW)
            self._relations[name].suspend(np.unique(rows[live]))
        for name, codes in inserts.items():
            window = self._windows[name]
            window.insert(window.keep_recent(codes, now))
            self._relations[name].suspend(window.take_excess())

    def _move_windows(self, now: int | None) -> None:
        """Note where the windows of derived predicates begin; without a time they begin where they did, or nowhere."""
        for name, span in self._derived_windows.items():
            relation = self._relations[f"{SINCE}{name}"]
            held = relation.rows()
            begin = _LEAST if now is None else max(now - span, _LEAST)
            if not held.size or (now is not None and relation.codes[held[0], 0] != begin):
                relation.suspend(held)
                relation.insert(np.array([[begin]], np.int64))

    def _lend(self, name: str, codes: Int64s) -> Rows:
        rows = Rows(self, self._predicates[name], codes)
        self._lent.add(rows)
        return rows

    def _forget(self) -> None:
        """Let go of values that stand in no row any more, when there are many."""
        if not self._encoding.is_crowded:
            return
        for rows in self._lent:
            rows.decode()
        self._lent.clear()
        self._encoding.forget_all_but(
            relation.codes[relation.rows(), index]
            for name, relation in self._relations.items()
            for index, column in enumerate(self._predicates[name].columns)
            if kind_of(column.type) is Kind.NUMBERED
        )

    def _suspend(self, leaving: Mapping[str, tuple[Int64s, Int64s]]) -> None:
        for name, (rows, _) in leaving.items():
            self._relations[name].suspend(rows)

    def _return(self, left: Mapping[str, tuple[Int64s, Int64s]]) -> None:
        for name, (_, codes) in left.items():
            self._relations[name].insert(codes)

    def _without_fading(self, name: str, faded: Changed, changed: Changed) -> tuple[Int64s, Int64s]:
        """What changed since the last report, which left out what silent expiry did."""
        relation = self._relations[name]
        nothing = np.empty((0, relation.arity), np.int64)
        came_in_silence = faded.get(name, (nothing, nothing))[0]
        inserted, deleted = changed.get(name, (nothing, nothing))
        stayed = came_in_silence[relation.find_live(came_in_silence, NEW)[1]]
        known = {row.tobytes() for row in came_in_silence}
        is_reported = [row.tobytes() not in known for row in deleted]
        return np.concatenate([inserted, stayed]), deleted[np.array(is_reported, np.bool_)]


@cache
def _warm() -> None:
    """Compile the kernels before a tick's time is counted."""
    precompile(["rules"])
