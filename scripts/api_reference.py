"""Write the API reference from docstrings: what a program uses, and what its tests can use.

    python scripts/api_reference.py build/api

A public name without a docstring is an error.
"""

import sys
from pathlib import Path

import pdoc

import skerry

MODULES = (
    *("skerry", "!skerry.", "skerry.errors"),
    *("skerry.testing.broker", "skerry.testing.cases", "skerry.testing.cluster", "skerry.testing.laws"),
    "skerry.testing.sources",
)
"""What is public. A name with a mark of exclamation leaves out what is below it."""


def write_reference(folder: Path) -> None:
    """One page per module."""
    for name in skerry.__all__:
        found = getattr(skerry, name)
        if not (found.__doc__ or "").strip():
            raise SystemExit(f"error: {name} has no docstring")
        setattr(skerry, name, found)  # names that are loaded when they are asked for, pdoc does not ask for
    pdoc.render.configure(docformat="google", footer_text=f"Skerry {skerry.__version__}")
    pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]))
