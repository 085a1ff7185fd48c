"""The limits of a rule program, and how they are written.

The same four limits have four homes; of those that set one, the first of this list counts:

    --max-tuples N                    on the command line
    WITH (max_tuples='N')             of a view
    limit tuples N.                   in the program's text
    max_tuples = N under [rules]      in the project's skerry.toml

``none`` or 0 stands for no limit.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

__all__ = ["LIMITS", "UNLIMITED", "Limits", "describe_homes", "option_of", "parse_limit", "parse_limits"]

UNLIMITED = math.inf


@dataclass(frozen=True)
class Limits:
    """What a program may take, as far as somebody has said it. None: the default counts; infinity: no limit.

    >>> Limits(tuples=5).over(Limits(tuples=9, stages=7))
    Limits(tuples=5, seconds=None, stages=7, list_length=None)
    """

    tuples: float | None = None
    """How many tuples a predicate may have."""
    seconds: float | None = None
    """How long a tick may take."""
    stages: float | None = None
    """How many stages a component may go through in a tick."""
    list_length: float | None = None
    """How long a list may be."""

    def over(self, farther: "Limits") -> "Limits":
        """These limits, and where they say nothing those of a home that is farther away."""
        said = {name: value for name in LIMITS if (value := getattr(self, name)) is not None}
        return replace(farther, **said)


LIMITS = tuple(field.name for field in fields(Limits))
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def option_of(name: str) -> str:
    """What a limit is called in skerry.toml and as an option of a view.

    >>> option_of("tuples")
    'max_tuples'
    """
    return f"max_{name}"


def describe_homes(name: str) -> str:
    """Where a limit can be raised, for the message of one that was reached.

    >>> describe_homes("tuples")
    'to raise the limit: --max-tuples N, limit tuples N. in the program, or max_tuples = N under [rules] in skerry.toml'
    """
    option = option_of(name)
    flag = f"--{option.replace('_', '-')}"
    return f"to raise the limit: {flag} N, limit {name} N. in the program, or {option} = N under [rules] in skerry.toml"


def parse_limit(name: str, written: object) -> float:
    """The value of a limit. Raises ValueError, with what is expected, for what is none.

    >>> parse_limit("tuples", "5000000"), parse_limit("seconds", 1.5), parse_limit("stages", "none")
    (5000000, 1.5, inf)
    >>> parse_limit("tuples", "many")
    Traceback (most recent call last):
    ...
    ValueError: a whole number, or none for no limit
    """
    text = str(written).strip()
    if text.lower() == "none" and isinstance(written, str):
        return UNLIMITED
    number = float(text) if _NUMBER.fullmatch(text) and not isinstance(written, bool) else math.nan
    if math.isnan(number) or (name != "seconds" and number < 2**53 and number != int(number)):
        kind = "a number of seconds" if name == "seconds" else "a whole number"
        raise ValueError(f"{kind}, or none for no limit")
    if number == 0 or math.isinf(number):
        return UNLIMITED
    return number if name == "seconds" else int(number)


def parse_limits(given: Mapping[str, object]) -> Limits:
    """Limits by their names; those that are None are not said.

    >>> parse_limits({"tuples": "10", "seconds": None})
    Limits(tuples=10, seconds=None, stages=None, list_length=None)
    """
    return Limits(**{name: parse_limit(name, written) for name, written in given.items() if written is not None})
