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
by a part of the reason why a view stopped while the others went on. ``--- sensors`` is followed by a file of sensors in
YAML, which the catalogue knows from the start. Run files of cases on
any runtime with ``python -m skerry.testing.cases --runtime spark FILE ...``.
"""

import argparse
import csv
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from skerry.catalog import Catalog
from skerry.catalog.sensor_file import read_entries
from skerry.database import Database, Settings
from skerry.errors import SkerryError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink

__all__ = ["Case", "check", "read_case"]

Rows = Counter[tuple[str, ...]]


@dataclass
class Case:
    """One case: its title, the files it needs, what to run, what to find."""

    title: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    sensors: str = ""
    sql: str = ""
    expected: dict[str, str] = field(default_factory=dict)
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
    elif kind == "tally":
        case.tallies[name] = body.strip()
    elif kind == "failed":
        case.failures[name] = body.strip()
    else:
        raise ValueError(f"unknown block {kind!r}; known are input, sensors, sql, expect, tally, failed")


def check(case: Case, settings: Settings) -> list[str]:
    """Run a case; say what differs from what it expects."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, body in case.inputs.items():
            (folder / name).write_text(body)
        try:
            outcome = _run(case, folder, settings)
        except SkerryError as error:
            return [] if case.error and case.error in str(error) else [f"error: {error}"]
        if case.error:
            return [f"no error, expected {case.error!r}"]
        differences = [_compare(name, body, folder / "out") for name, body in case.expected.items()]
        tallies = [_compare_tally(outcome, name, expected) for name, expected in case.tallies.items()]
        return [found for found in [*differences, *tallies, *_compare_failures(outcome, case)] if found]


def _run(case: Case, folder: Path, settings: Settings) -> Outcome:
    database = Database(Catalog.in_memory(), folder)
    if case.sensors:
        file = folder / "sensors.yaml"
        file.write_text(case.sensors)
        database.catalog.sensor_entries.enter(entry.sensor for entry in read_entries(file))
    database.execute(case.sql)
    return database.run(FileSink(folder / "out", "csv"), settings)


def _compare(name: str, body: str, out: Path) -> str | None:
    header, wanted = _rows(body)
    found: Rows = Counter()
    for part in sorted((out / name).glob("part-*.csv")):
        found_header, rows = _rows(part.read_text())
        if found_header != header:
            return f"{name}: columns are {found_header}, expected {header}"
        found += rows
    missing, surplus = wanted - found, found - wanted
    if not missing and not surplus:
        return None
    return f"{name}: missing {sorted(missing.elements())[:5]}, not expected {sorted(surplus.elements())[:5]}"


def _rows(text: str) -> tuple[tuple[str, ...], Rows]:
    header, *rows = [tuple(row) for row in csv.reader(StringIO(text)) if row] or [()]
    return header, Counter(rows)


def _compare_tally(outcome: Outcome, source: str, expected: str) -> str | None:
    tally = outcome.tallies[source]
    found = f"{tally.accepted},{tally.late},{tally.rejected}"
    return None if found == expected else f"{source}: accepted,late,rejected are {found}, expected {expected}"


def _compare_failures(outcome: Outcome, case: Case) -> list[str]:
    """Views that stopped and should not have, or that did not and should have."""
    found = [f"{view}: stopped, {why}" for view, why in outcome.failures.items() if view not in case.failures]
    for view, part in case.failures.items():
        if part not in outcome.failures.get(view, ""):
            found.append(f"{view}: expected to stop with {part!r}, got {outcome.failures.get(view)!r}")
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
    failed = 0
    for file in given.files:
        differences = check(read_case(file.read_text()), settings)
        failed += bool(differences)
        print(f"{file.name}: {'; '.join(differences) or 'ok'}", flush=True)
    print(f"{len(given.files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
