"""``skerry bench``: ratios measured side by side in one run."""

import subprocess
import sys
import tempfile
from json import dumps, loads
from pathlib import Path
from typing import Annotated

import typer

from skerry.errors import InputError

__all__ = ["bench"]

_FOLDER = Path(__file__).parents[3] / "benchmarks"


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which; all if none is named.")] = None,
    json: Annotated[Path | None, typer.Option(help="File for the numbers.")] = None,
) -> None:
    """Run benchmarks of a source checkout.

    Example: skerry bench pipeline --json pipeline.json
    """
    known = sorted(path.stem for path in _FOLDER.glob("[a-z]*.py"))
    if not known:
        raise InputError("benchmarks belong to a source checkout; there is none around this installation")
    for name in names or known:
        if name not in known:
            raise InputError(f"unknown benchmark {name!r}; known are {', '.join(known)}")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names or known:
            numbers = Path(folder) / f"{name}.json"
            subprocess.run([sys.executable, str(_FOLDER / f"{name}.py"), "--json", str(numbers)], check=True)
            found[name] = loads(numbers.read_text())
    if json:
        json.write_text(dumps(found, indent=2))
