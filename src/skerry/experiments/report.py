"""What a reproduction leaves behind: a table and a picture per figure, one report for people, one for machines."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.csv as csv

from skerry import __version__
from skerry.experiments.figure import Figure, Verdict
from skerry.experiments.picture import draw

__all__ = ["write_figure", "write_report"]


def write_figure(figure: Figure, folder: Path) -> None:
    """Write ``NAME.csv`` and ``NAME.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    csv.write_csv(figure.table, folder / f"{figure.name}.csv")
    draw(figure, folder / f"{figure.name}.png")


def write_report(figures: Sequence[Figure], folder: Path, asked: str, absent: Sequence[str] = ()) -> None:
    """Write ``report.md`` and ``summary.json``; ``absent`` are papers that were asked for and are not there yet."""
    circumstances = _describe_run(asked)
    (folder / "report.md").write_text(_format_report(figures, circumstances, absent), encoding="utf-8")
    summary = {**circumstances, "absent": list(absent), "figures": [_summarise(figure) for figure in figures]}
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def _describe_run(asked: str) -> dict[str, str]:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "asked": asked, "machine": machine, "version": __version__}


def _summarise(figure: Figure) -> dict[str, object]:
    return {
        "name": figure.name,
        "title": figure.title,
        "verdicts": [asdict(verdict) for verdict in figure.verdicts],
        "notes": list(figure.notes),
    }


def _format_report(figures: Sequence[Figure], circumstances: dict[str, str], absent: Sequence[str]) -> str:
    lines = ["# Reproduction", "", "{date}: `{asked}`, Skerry {version}, {machine}.".format(**circumstances), ""]
    lines += ["| figure | the paper says | paper | ours | |", "|---|---|---|---|---|"]
    lines += [_format_row(figure, verdict) for figure in figures for verdict in figure.verdicts]
    lines += [f"| {name} | | | | not there yet |" for name in absent]
    for figure in figures:
        lines += ["", f"## {figure.title}", "", f"![{figure.title}]({figure.name}.png)", ""]
        lines += [f"- {note}" for note in figure.notes]
    return "\n".join(lines) + "\n"


def _format_row(figure: Figure, verdict: Verdict) -> str:
    outcome = f"**{verdict.outcome}**" + (f": {verdict.remark}" if verdict.remark else "")
    return f"| [{figure.name}]({figure.name}.csv) | {verdict.claim} | {verdict.paper} | {verdict.ours} | {outcome} |"
