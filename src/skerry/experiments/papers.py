"""The papers whose figures can be measured again, by name."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from skerry.errors import InputError, OptionError
from skerry.experiments.deductive.figures import measure_figures as measure_deductive
from skerry.experiments.duality.figures import measure_figures as measure_duality
from skerry.experiments.figure import Figure
from skerry.experiments.fjords.figures import measure_figures as measure_fjords
from skerry.experiments.report import write_figure, write_report
from skerry.experiments.shedding.figures import measure_figures as measure_shedding
from skerry.experiments.snjoin.figures import measure_figures as measure_snjoin

__all__ = ["PAPERS", "reproduce"]

Experiment = Callable[[bool, Callable[[str], None], Path | None], Iterator[Figure]]
"""Measures quickly or in full, says how far it is, and gives one figure after the other; may want a folder of data."""

PAPERS: Mapping[str, Experiment | None] = {
    "snjoin": lambda quick, tell, data: measure_snjoin(quick, tell),
    "fjords": lambda quick, tell, data: measure_fjords(quick, tell),
    "shedding": measure_shedding,
    "deductive": lambda quick, tell, data: measure_deductive(quick, tell),
    "duality": lambda quick, tell, data: measure_duality(quick, tell),
}
"""None: known, but not there yet."""


def reproduce(
    paper: str, quick: bool, folder: Path, tell: Callable[[str], None], data: Path | None = None
) -> list[Figure]:
    """Measure a paper's figures, or those of ``all``, and write them and the report into a folder."""
    names = _select_papers(paper)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write figures to {str(folder)!r}: {error.strerror}") from None
    done = []
    for name in names:
        for figure in (PAPERS[name] or _measure_nothing)(quick, tell, data):
            write_figure(figure, folder)
            done.append(figure)
    asked = f"skerry reproduce {paper}{' --quick' if quick else ''}"
    write_report(done, folder, asked, [name for name in names if PAPERS[name] is None])
    return done


def _select_papers(paper: str) -> list[str]:
    if paper == "all":
        return list(PAPERS)
    if paper not in PAPERS:
        raise InputError(f"unknown paper {paper!r}; known are {', '.join(PAPERS)} and all")
    if PAPERS[paper] is None:
        there = ", ".join(name for name, experiment in PAPERS.items() if experiment)
        raise InputError(f"the figures of {paper!r} are not there yet; there are those of {there}")
    return [paper]


def _measure_nothing(quick: bool, tell: Callable[[str], None], data: Path | None) -> Iterator[Figure]:
    yield from ()
