"""What ``skerry simulate`` says of its runs: a table for people, JSON for machines."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from skerry.deduce.json_values import to_json
from skerry.deduce.values import Row, row_key
from skerry.errors import OptionError
from skerry.network.message import Kind
from skerry.network.rules.run import Run

__all__ = ["describe_run", "format_table", "write_report"]

Answers = Mapping[str, Sequence[Row]]

_MOST_LISTED = 10
"""More runs than these are summed up: mean, least and most."""
_COLUMNS = ("seed", "messages", *map(str, Kind), "bytes", "energy mJ", "missed", "wrong")


def describe_run(run: Run, seed: int) -> dict[str, Any]:
    """One run, as JSON has it; ``missed`` and ``wrong`` count tuples of all outputs."""
    kinds = {str(kind): run.tally.by_kind[kind] for kind in Kind}
    return {
        "seed": seed,
        "answers": {name: [[to_json(value) for value in row] for row in rows] for name, rows in run.answers.items()},
        "messages": {"total": run.tally.total, **kinds},
        "bytes": sum(run.tally.bytes_by_mote),
        "energy_mj": run.energy_mj,
        "missed": _count_lacking(run.expected, run.answers),
        "wrong": _count_lacking(run.answers, run.expected),
    }


def write_report(path: Path, strategy: str, runs: Sequence[Mapping[str, Any]]) -> None:
    """Write the JSON of ``--json``."""
    try:
        path.write_text(json.dumps({"strategy": strategy, "runs": list(runs)}) + "\n", encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot write the JSON file {str(path)!r}: {error.strerror}") from None


def format_table(runs: Sequence[Mapping[str, Any]], expected: int) -> str:
    """A line per run; of many runs, their mean, least and most. ``expected`` is how many tuples there were to find."""
    rows = [_list_numbers(run) for run in runs]
    listed = [[f"{row[0]:.0f}", *map(_format_number, row[1:])] for row in rows] if len(rows) <= _MOST_LISTED else []
    if len(rows) > 1:
        columns = list(zip(*rows, strict=True))[1:]
        for name, take in (("mean", fmean), ("least", min), ("most", max)):
            listed.append([name, *(_format_number(take(column)) for column in columns)])
    used = [index for index, name in enumerate(_COLUMNS) if name not in set(Kind) or any(row[index] for row in rows)]
    lines = [[row[index] for index in used] for row in (_COLUMNS, *listed)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([*table, f"missed and wrong: of {expected:,} tuples that hold, by the engine in one process"])


def _list_numbers(run: Mapping[str, Any]) -> list[float]:
    messages = run["messages"]
    kinds = (messages[str(kind)] for kind in Kind)
    return [run["seed"], messages["total"], *kinds, run["bytes"], run["energy_mj"], run["missed"], run["wrong"]]


def _format_number(number: float) -> str:
    """Whole numbers whole, others with one digit after the point.

    >>> _format_number(1234), _format_number(3.14159)
    ('1,234', '3.1')
    """
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def _count_lacking(of: Answers, there: Answers) -> int:
    """How many of some answers others lack."""
    return sum(len(_keys(rows) - _keys(there.get(name, ()))) for name, rows in of.items())


def _keys(rows: Iterable[Row]) -> set[Any]:
    return {row_key(row) for row in rows}
