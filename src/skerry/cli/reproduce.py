"""``skerry reproduce``: the papers' figures."""

import typer

__all__ = ["reproduce"]


def reproduce() -> None:
    """Measure the papers' figures again. None is implemented yet.

    Example: skerry reproduce
    """
    typer.echo("no figure can be reproduced yet: each comes with the operators that it measures")
