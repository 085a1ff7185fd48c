"""Readings in files: the first lines of each, as if they had been heard."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.sensors.discover.propose import Proposal, propose_source
from skerry.sensors.discover.samples import Reading
from skerry.sensors.discover.topics import TopicGroup

__all__ = ["propose_files"]

_MOST_LINES = 20_000
_LONGEST_LINE = 1 << 20
_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".json")


def propose_files(pattern: str, base: Path) -> Proposal:
    """What the files of a pattern hold."""
    files = sorted(Path(found) for found in glob(str(base / pattern)))
    if not files:
        raise InputError(f"no file fits {pattern!r}")
    unknown = next((file for file in files if file.suffix.lower() not in _SUFFIXES), None)
    if unknown is not None:
        raise InputError(f"cannot tell what {unknown.name!r} holds; known are {', '.join(_SUFFIXES)}")
    share = max(1, _MOST_LINES // len(files))
    readings = []
    for file in files:
        try:
            values = list(islice(_read(file), share))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"cannot read {str(file)!r}: {error}") from None
        readings += [Reading((pattern,), each, Micros(0)) for each in values]
    if not readings:
        raise InputError(f"there is no reading in {pattern!r}")
    group = _NamedGroup((pattern,), None)
    return replace(propose_source(group, readings, {}), encoding="CSV" if files[0].suffix.lower() == ".csv" else "JSON")


class _NamedGroup(TopicGroup):
    """Files in place of topics: called after what all have in their name, or after their folder."""

    @property
    def name(self) -> str:
        path = Path(self.pattern[0])
        for part in (path.name.partition(".")[0], path.parent.name):
            found = re.sub(r"\W+", "_", part.lower(), flags=re.ASCII).strip("_")
            if found and not found[0].isdigit():
                return found
        return "readings"


def _read(file: Path) -> Iterator[Mapping[str, Any]]:
    with file.open(encoding="utf-8", newline="") as lines:
        if file.suffix.lower() == ".csv":
            for row in csv.DictReader(lines):
                yield {name: _guess(value) for name, value in row.items() if isinstance(name, str)}
            return
        while line := lines.readline(_LONGEST_LINE):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def _guess(value: str | None) -> object:
    """A field of csv as the value that it looks like."""
    if value is None or not value:
        return None
    if re.fullmatch(r"-?[0-9]{1,18}", value):
        return int(value)
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return float(value)
    except ValueError:
        return value
