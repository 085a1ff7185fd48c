"""Every ``.test`` case, on every runtime."""

import subprocess
import sys
from pathlib import Path

import pytest

from skerry.database import Settings
from skerry.testing.cases import check, read_case

FILES = sorted(Path(__file__).with_name("cases").glob("*.test"))
_PARTS = 20
"""Separate executors take long: each part starts them for a few cases."""


@pytest.mark.parametrize("step_rows", [1, 3, 1_000_000])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case_holds_in_process_whatever_the_step(file: Path, step_rows: int) -> None:
    assert check(read_case(file.read_text()), Settings("fjord", step_rows=step_rows)) == []


@pytest.mark.spark
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_case_holds_on_spark(file: Path) -> None:
    assert check(read_case(file.read_text()), Settings("spark", "local[2]", step_rows=8)) == []


@pytest.mark.cluster
@pytest.mark.timeout(400)
@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.soak) for first in range(1, _PARTS))])
def test_cases_hold_on_separate_executors(first: int) -> None:
    where = ["--runtime", "spark", "--master", "local-cluster[2,1,1024]"]
    command = [sys.executable, "-m", "skerry.testing.cases", *where, *map(str, FILES[first::_PARTS])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
