"""The options of a view that say what becomes of readings it has no room or no time for."""

from collections.abc import Mapping
from dataclasses import replace

from skerry.errors import OptionError
from skerry.lang.sql.create_source import check_name
from skerry.model.options import Option, Owner, Parser, parse_option, whole_number
from skerry.model.time import Micros, span
from skerry.plan.overload import MOST_MEMORY_ROWS, Overload, Shedding, Spilling

__all__ = ["OVERLOAD_OPTIONS", "number_option", "overload"]

_OF_SHEDDING = ("shed_policy", "max_lag", "loss_to")
OVERLOAD_OPTIONS = ("on_overload", "spill_to", "memory_rows", *_OF_SHEDDING)

_HIGHEST = 1_000_000_000
_COUNT = replace(whole_number(1, _HIGHEST), expected=f"a number from 1 to {_HIGHEST}")
_LAG = Parser(lambda written: span(written) or None, "a span of time such as '500ms' or '10s'")
_VIEW = Owner("a view", wrong="{option} is {expected}, got {given!r}")


def overload(options: Mapping[str, str]) -> Overload | None:
    """What a view asks for, if it does.

    >>> overload({"on_overload": "shed", "memory_rows": "500"})
    Shedding(policy='adaptive', memory_rows=500, max_lag_us=None, loss_to=None)
    """
    if options.get("on_overload") == "shed":
        return _shedding(options)
    for name in _OF_SHEDDING:
        if name in options:
            raise OptionError(f"{name} goes with on_overload = 'shed'")
    if "spill_to" not in options and "memory_rows" not in options:
        return None
    return _spilling(options)


def number_option(options: Mapping[str, str], name: str) -> int:
    """A whole number."""
    # The empty default makes an empty text an error; without a default it would count as not given.
    return int(parse_option(options[name], Option(name, _COUNT, ""), _VIEW))


def _shedding(options: Mapping[str, str]) -> Shedding:
    if "spill_to" in options:
        raise OptionError("a view that spills loses nothing; give either spill_to or on_overload = 'shed'")
    rows = number_option(options, "memory_rows") if "memory_rows" in options else MOST_MEMORY_ROWS
    if "loss_to" in options:
        check_name(options["loss_to"])
    return Shedding(options.get("shed_policy", "adaptive"), rows, _lag(options), options.get("loss_to"))


def _lag(options: Mapping[str, str]) -> Micros | None:
    lag: Micros | None = parse_option(options.get("max_lag"), Option("max_lag", _LAG), _VIEW)
    return lag


def _spilling(options: Mapping[str, str]) -> Spilling:
    if "spill_to" not in options or "memory_rows" not in options:
        raise OptionError(
            "memory_rows needs spill_to, a folder for what is beyond it, or on_overload = 'shed'; "
            "and spill_to needs memory_rows"
        )
    if not options["spill_to"].strip():
        raise OptionError("spill_to is a folder, got an empty name")
    return Spilling(options["spill_to"], number_option(options, "memory_rows"))
