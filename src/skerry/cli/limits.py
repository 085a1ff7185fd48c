"""The options that set the limits of rule programs, for every command that runs them."""

from typing import Annotated

import typer

from skerry.errors import OptionError
from skerry.plan.limits import Limits, option_of, parse_limits

__all__ = ["MaxListLength", "MaxSeconds", "MaxStages", "MaxTuples", "read_limits"]

_Option = typer.Option
MaxTuples = Annotated[
    str | None, _Option(metavar="N", help="Rules: most tuples of a predicate; none: no limit. By default by memory.")
]
MaxSeconds = Annotated[
    str | None, _Option(metavar="S", help="Rules: most seconds of a tick; none: no limit. By default by progress.")
]
MaxStages = Annotated[str | None, _Option(metavar="N", help="Rules: most stages in a tick; none: no limit.")]
MaxListLength = Annotated[str | None, _Option(metavar="N", help="Rules: most elements of a list; none: no limit.")]


def read_limits(
    tuples: str | None = None, seconds: str | None = None, stages: str | None = None, list_length: str | None = None
) -> Limits:
    """What the options come to."""
    found = Limits()
    given = {"tuples": tuples, "seconds": seconds, "stages": stages, "list_length": list_length}
    for name, written in given.items():
        try:
            found = parse_limits({name: written}).over(found)
        except ValueError as error:
            flag = f"--{option_of(name).replace('_', '-')}"
            raise OptionError(f"{flag} must be {error}; got {written!r}") from None
    return found
