"""Reads facts from a folder, one file per base predicate, as ticks in the order of time.

A file may say in ``_ts`` when a fact comes, or with ``-`` in ``_op`` goes: one tick per distinct time, over all files.
Facts without a time belong to the first tick. Times are whole numbers in all files (seconds), or timestamps in all.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skerry.deduce.change import Tick
from skerry.deduce.describe import find_use
from skerry.deduce.facts.facts_file import FactsFile
from skerry.deduce.facts.parse_fields import EXPECTED, BadField, is_bare, read_column
from skerry.deduce.values import Row, row_key
from skerry.errors import RuleError, SourceError
from skerry.model.options import suggest
from skerry.model.term import Value
from skerry.plan.program import MICROSECONDS, SINCE, Checked, Predicate, Type

__all__ = ["Facts", "read_facts"]


@dataclass(frozen=True)
class Facts:
    """The ticks of a folder, and how many units of time a second has in them."""

    ticks: Sequence[Tick]
    unit: int

    def only(self, predicates: Container[str]) -> "Facts":
        """The facts of some predicates; the ticks stay."""
        kept = [
            Tick(tick.now, _choose(tick.inserts, predicates), _choose(tick.deletes, predicates)) for tick in self.ticks
        ]
        return Facts(kept, self.unit)

    def inserted(self) -> dict[str, list[Row]]:
        """All facts that come at some time, by predicate."""
        found: dict[str, list[Row]] = {}
        for tick in self.ticks:
            for name, rows in tick.inserts.items():
                found.setdefault(name, []).extend(rows)
        return found


def _choose(rows: Mapping[str, Sequence[Row]], predicates: Container[str]) -> dict[str, Sequence[Row]]:
    return {name: found for name, found in rows.items() if name in predicates}


def read_facts(folder: Path, checked: Checked) -> Facts:
    """Read the facts of all base predicates of a program."""
    if not folder.is_dir():
        raise SourceError(f"there is no folder {str(folder)!r} with facts")
    bases = [each for each in checked.predicates.values() if each.base and not each.name.startswith(SINCE)]
    for predicate in bases:
        if not predicate.declared:
            _refuse_unknown(folder, predicate, checked)
    files = [FactsFile.open(folder, predicate) for predicate in bases]
    unit = _unit(files)
    found: dict[int | None, dict[str, _Last]] = {}
    for file in files:
        for now, rows in _by_time(file, unit).items():
            found.setdefault(now, {})[file.predicate.name] = rows
    return Facts(_ticks(found), unit)


def _refuse_unknown(folder: Path, predicate: Predicate, checked: Checked) -> None:
    """A predicate that nothing derives, declares or holds facts of was most likely meant to be another."""
    name = predicate.name
    if any((folder / f"{name}{suffix}").is_file() for suffix in (".csv", ".facts")):
        return
    files = {path.stem for path in folder.iterdir() if path.suffix in (".csv", ".facts")}
    known = sorted({each for each in {*checked.predicates, *files} if each != name and not each.startswith("$")})
    message = f"nothing is known of {name!r}: no rule derives it, and neither {name}.csv nor {name}.facts is in"
    rule, location = find_use(checked, name)
    fix = f"known are {', '.join(known) or 'none'}"
    near = suggest(name, known).removeprefix("; ")
    raise RuleError("E003", f"{message} {str(folder)!r}", near or fix, rule, location)


_Last = Mapping[object, tuple[bool, Row]]
"""By fact, the last that was said of it: whether it comes."""


def _unit(files: Sequence[FactsFile]) -> int:
    """Seconds if all times are whole numbers, microseconds if all are timestamps."""
    bare: dict[bool, Path] = {}
    for file in files:
        kinds = [column.type for column in file.predicate.columns]
        times = [texts for texts, kind in zip(file.columns, kinds, strict=True) if kind == Type.TIME]
        for texts in [*times, *([] if file.times is None else [file.times])]:
            if len(texts):
                bare[is_bare(texts)] = file.path
    if len(bare) == 2:
        raise SourceError(f"times are numbers in {str(bare[True])!r} and timestamps in {str(bare[False])!r}")
    return 1 if bare.get(True, not bare) else MICROSECONDS


def _by_time(file: FactsFile, unit: int) -> Mapping[int | None, dict[object, tuple[bool, Row]]]:
    columns = [
        _read(file, index, column.name, column.type, unit) for index, column in enumerate(file.predicate.columns)
    ]
    rows: Sequence[Row] = list(zip(*columns, strict=True)) if columns else [()] * file.fields.num_rows
    times: Sequence[Value | None] = [None] * len(rows)
    if file.times is not None:
        times = _read(file, None, "_ts", Type.TIME, unit)
    found: dict[int | None, dict[object, tuple[bool, Row]]] = {}
    for now, comes, row in zip(times, file.operations(), rows, strict=True):
        found.setdefault(now if isinstance(now, int) else None, {})[row_key(row)] = comes, row
    return found


def _read(file: FactsFile, index: int | None, name: str, kind: Type, unit: int) -> list[Value]:
    texts = file.times if index is None else file.columns[index]
    try:
        return read_column(texts, kind, unit)
    except BadField as error:
        row, text = error.args
        written = " as a whole number" if unit == 1 else " as in 2026-01-31T12:00:00"
        raise file.make_error(row, name, EXPECTED[kind] + (written if kind == Type.TIME else ""), text) from None


def _ticks(found: Mapping[int | None, Mapping[str, _Last]]) -> list[Tick]:
    """One tick per time; facts without a time come with the first."""
    times: list[int | None] = [*sorted(now for now in found if now is not None)] or [None]
    first, ticks = times[0], []
    for now in times:
        parts = dict(found.get(now, {}))
        if now == first:
            for predicate, rows in found.get(None, {}).items():
                parts[predicate] = {**rows, **parts.get(predicate, {})}
        ticks.append(Tick(now, _those(parts, True), _those(parts, False)))
    return ticks


def _those(parts: Mapping[str, _Last], comes: bool) -> dict[str, list[Row]]:
    chosen = {name: [row for each, row in rows.values() if each == comes] for name, rows in parts.items()}
    return {name: rows for name, rows in chosen.items() if rows}
