"""Every ``.test`` case, on every runtime."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from skerry.database import Settings
from skerry.testing.cases import check, check_together, group_cases, read_case

FILES = sorted(Path(__file__).with_name("cases").glob("*.test"))
_PARTS = 60
"""Separate executors take long: each part starts them for a few cases."""


@pytest.mark.parametrize("step_rows", [1, 3, 1_000_000])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case_holds_in_process_whatever_the_step(file: Path, step_rows: int) -> None:
    assert check(read_case(file.read_text()), Settings("fjord", step_rows=step_rows)) == []


def _group_files() -> dict[Path, tuple[Path, ...]]:
    """The files whose cases are run as one with that of a file."""
    cases = [read_case(file.read_text()) for file in FILES]
    file_of = {id(case): file for case, file in zip(cases, FILES, strict=True)}
    groups = [tuple(file_of[id(case)] for case in group) for group in group_cases(cases)]
    return {file: group for group in groups for file in group}


@cache
def _run_on_spark(files: tuple[Path, ...]) -> dict[Path, list[str]]:
    """What differs, by file. To start a query on Spark costs more than most cases, so it is done once per group."""
    settings = Settings("spark", "local[2]", step_rows=8 * len(files))
    return dict(zip(files, check_together([read_case(file.read_text()) for file in files], settings), strict=True))


GROUPS = _group_files()


@pytest.mark.spark
@pytest.mark.timeout(600)  # one query has most of the cases
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case_holds_on_spark(file: Path) -> None:
    assert _run_on_spark(GROUPS[file])[file] == []


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case_holds_on_spark_alone(file: Path) -> None:
    assert check(read_case(file.read_text()), Settings("spark", "local[2]", step_rows=8)) == []


@pytest.mark.cluster
@pytest.mark.timeout(400)
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.soak) for first in range(1, _PARTS))])
def test_cases_hold_on_separate_executors(first: int) -> None:
    where = ["--runtime", "spark", "--master", "local-cluster[2,1,1024]"]
    command = [sys.executable, "-m", "skerry.testing.cases", *where, *map(str, FILES[first::_PARTS])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
