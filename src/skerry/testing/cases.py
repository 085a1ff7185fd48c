"""Query tests as text: input files, statements, expected answers.

    # Slow readings, and nothing else.
    --- input road.csv
    sensor,speed
    a,20
    b,60
    --- sql
    CREATE SOURCE road (sensor VARCHAR, speed DOUBLE) WITH (connector='file', path='road.csv');
    CREATE MATERIALIZED VIEW slow AS SELECT sensor FROM road WHERE speed < 30;
    --- expect slow
    sensor
    a

Rows are compared as a multiset of the texts that csv output gives. ``--- expect error`` is followed
by a part of the message instead, ``--- tally road`` by ``accepted,late,rejected``, and ``--- failed slow``
by a part of the reason why a view stopped while the others went on. ``--- net counts`` is followed by the rows that
are left of a view that gives changes: how often ``+``, less how often ``-``. ``--- sensors`` is followed by a file of
sensors in YAML, which the catalogue knows from the start. Run files of cases on any runtime with
``python -m skerry.testing.cases --runtime spark FILE ...``.

To start a run may take longer than the case itself. ``group_cases`` finds cases without a name in common, and
``check_together`` runs those as one: views of other streams do not touch them.
"""

import argparse
import csv
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from skerry.catalog import Catalog
from skerry.catalog.sensor_file import read_entries
from skerry.database import Database, Settings
from skerry.errors import SkerryError
from skerry.model.changes import MINUS, OP
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink

__all__ = ["Case", "check", "check_together", "group_cases", "read_case"]

Rows = Counter[tuple[str, ...]]
_NAMED = re.compile(r"\bCREATE\s+(?:SOURCE|TABLE|MATERIALIZED\s+VIEW)\s+\"?(\w+)|\b(?:\w+_to|sink)\s*=\s*'(\w+)", re.I)
"""What a script gives a name to: a source, a table, a view, or what a view sends elsewhere."""
_SHARED = re.compile(
    r"\b(?:FROM|JOIN|INTO)\s+(?:catalog|sensors|sources|subscriptions|views)\b|^\s*DROP\b|\bpath\s*=\s*'[^']*[*?\[]",
    re.I | re.M,
)
"""Where a script would meet other cases: what it asks of the catalogue or does to it, and files by a pattern."""


@dataclass
class Case:
    """One case: its title, the files it needs, what to run, what to find."""

    title: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    sensors: str = ""
    sql: str = ""
    expected: dict[str, str] = field(default_factory=dict)
    nets: dict[str, str] = field(default_factory=dict)
    tallies: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def read_case(text: str) -> Case:
    r"""Read a case.

    >>> read_case("# Nothing.\n--- sql\nDROP SOURCE a\n--- expect error\nno 'a'").error
    "no 'a'"
    """
    head, *blocks = ("\n" + text).split("\n--- ")
    case = Case(title=" ".join(line.lstrip("# ") for line in head.strip().splitlines()))
    for block in blocks:
        heading, _, body = block.partition("\n")
        kind, _, name = heading.strip().partition(" ")
        _enter(case, kind, name, body)
    return case


def _enter(case: Case, kind: str, name: str, body: str) -> None:
    if kind == "input":
        case.inputs[name] = body if body.endswith("\n") else body + "\n"
    elif kind == "sensors":
        case.sensors = body
    elif kind == "sql":
        case.sql = body
    elif kind == "expect" and name == "error":
        case.error = body.strip()
    elif kind == "expect":
        case.expected[name] = body
    elif kind == "net":
        case.nets[name] = body
    elif kind == "tally":
        case.tallies[name] = body.strip()
    elif kind == "failed":
        case.failures[name] = body.strip()
    else:
        raise ValueError(f"unknown block {kind!r}; known are input, sensors, sql, expect, net, tally, failed")


def check(case: Case, settings: Settings) -> list[str]:
    """Run a case; say what differs from what it expects."""
    [differences] = _check_run([case], settings)
    return differences


def check_together(cases: Sequence[Case], settings: Settings) -> list[list[str]]:
    """Run cases that have no name in common as one; say what differs, case by case.

    If the run breaks off, each is run alone, for one of them is to blame.
    """
    try:
        return _check_run(cases, settings)
    except SkerryError:
        return [check(case, settings) for case in cases]


def group_cases(cases: Sequence[Case]) -> list[list[Case]]:
    r"""Cases in groups that can be run together, each in the first where none has a name of its own.

    >>> road, again, rail = (read_case(f"--- sql\nCREATE SOURCE {name} (x INT)") for name in ("road", "road", "rail"))
    >>> [len(group) for group in group_cases([road, again, rail])]
    [2, 1]
    """
    groups: list[tuple[list[Case], set[str]]] = []
    for case in cases:
        names = _find_names(case)
        found = next((group for group in groups if names and group[1] and not names & group[1]), None)
        if found is None:
            groups.append(([case], names))
        else:
            found[0].append(case)
            found[1].update(names)
    return [group for group, _ in groups]


def _find_names(case: Case) -> set[str]:
    """The names and files that a case takes for itself; none, if it has to be alone."""
    if case.error or case.failures or case.sensors or _SHARED.search(case.sql):
        return set()
    named = {name.casefold() for pair in _NAMED.findall(case.sql) for name in pair if name}
    return named | {name.casefold() for name in (*case.inputs, *case.expected, *case.nets)}


def _check_run(cases: Sequence[Case], settings: Settings) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            outcome = _run(cases, folder, settings)
        except SkerryError as error:
            if len(cases) > 1:
                raise
            [case] = cases
            return [[] if case.error and case.error in str(error) else [f"error: {error}"]]
        return [_compare_case(case, cases, outcome, folder / "out") for case in cases]


def _run(cases: Sequence[Case], folder: Path, settings: Settings) -> Outcome:
    database = Database(Catalog.in_memory(), folder)
    for case in cases:
        for name, body in case.inputs.items():
            (folder / name).write_text(body)
        if case.sensors:
            file = folder / "sensors.yaml"
            file.write_text(case.sensors)
            database.catalog.sensor_entries.enter(entry.sensor for entry in read_entries(file))
        database.execute(case.sql)
    return database.run(FileSink(folder / "out", "csv"), settings)


def _compare_case(case: Case, cases: Sequence[Case], outcome: Outcome, out: Path) -> list[str]:
    if case.error:
        return [f"no error, expected {case.error!r}"]
    differences = [_compare(name, body, out) for name, body in case.expected.items()]
    differences += [_compare(name, body, out, is_net=True) for name, body in case.nets.items()]
    tallies = [_compare_tally(outcome, name, expected) for name, expected in case.tallies.items()]
    others = {name for other in cases if other is not case for name in _find_names(other)}
    failures = {view: why for view, why in outcome.failures.items() if view.casefold() not in others}
    return [found for found in [*differences, *tallies, *_compare_failures(failures, case)] if found]


def _compare(name: str, body: str, out: Path, *, is_net: bool = False) -> str | None:
    header, wanted = _rows(body)
    found: Rows = Counter()
    for part in sorted((out / name).glob("part-*.csv")):
        found_header, rows = _rows(part.read_text())
        if is_net:
            found_header, rows = _take_net(found_header, rows)
        if found_header != header:
            return f"{name}: columns are {found_header}, expected {header}"
        found.update(rows)
    if is_net and min(found.values(), default=0) < 0:
        return f"{name}: taken back and never given {sorted(-found)[:5]}"
    missing, surplus = wanted - found, found - wanted
    if not missing and not surplus:
        return None
    return f"{name}: missing {sorted(missing.elements())[:5]}, not expected {sorted(surplus.elements())[:5]}"


def _take_net(header: tuple[str, ...], rows: Rows) -> tuple[tuple[str, ...], Rows]:
    """Rows that come less rows that go, without the column that says so."""
    if header[:1] != (OP,):
        return header, rows
    net: Rows = Counter()
    for (op, *row), count in rows.items():
        net[tuple(row)] += -count if op == MINUS else count
    return header[1:], net


def _rows(text: str) -> tuple[tuple[str, ...], Rows]:
    header, *rows = [tuple(row) for row in csv.reader(StringIO(text)) if row] or [()]
    return header, Counter(rows)


def _compare_tally(outcome: Outcome, source: str, expected: str) -> str | None:
    tally = outcome.tallies[source]
    found = f"{tally.accepted},{tally.late},{tally.rejected}"
    return None if found == expected else f"{source}: accepted,late,rejected are {found}, expected {expected}"


def _compare_failures(failures: Mapping[str, str], case: Case) -> list[str]:
    """Views that stopped and should not have, or that did not and should have."""
    found = [f"{view}: stopped, {why}" for view, why in failures.items() if view not in case.failures]
    for view, part in case.failures.items():
        if part not in failures.get(view, ""):
            found.append(f"{view}: expected to stop with {part!r}, got {failures.get(view)!r}")
    return found


def main() -> int:
    """Check files of cases on one runtime."""
    parser = argparse.ArgumentParser(prog="skerry.testing.cases", description="Check .test files on a runtime.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--runtime", default="fjord")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--batch-rows", type=int, default=1_000_000)
    given = parser.parse_args()
    settings = Settings(given.runtime, given.master, None, given.batch_rows)
    cases, failed = {str(file): read_case(file.read_text()) for file in given.files}, 0
    names = {id(case): Path(file).name for file, case in cases.items()}
    for group in group_cases([*cases.values()]):
        for case, differences in zip(group, check_together(group, settings), strict=True):
            failed += bool(differences)
            print(f"{names[id(case)]}: {'; '.join(differences) or 'ok'}", flush=True)
    print(f"{len(given.files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
