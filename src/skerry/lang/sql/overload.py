"""The options of a view that say what becomes of readings it has no room or no time for."""

from collections.abc import Mapping

from skerry.errors import OptionError
from skerry.lang.sql.declare import check_name
from skerry.model.time import Micros, span
from skerry.plan.overload import MOST_MEMORY_ROWS, Overload, Shedding, Spilling

__all__ = ["OVERLOAD_OPTIONS", "number_option", "overload"]

_OF_SHEDDING = ("shed_policy", "max_lag", "loss_to")
OVERLOAD_OPTIONS = ("on_overload", "spill_to", "memory_rows", *_OF_SHEDDING)

_HIGHEST = 1_000_000_000


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
    written = options[name]
    if not (written.isascii() and written.isdigit()) or not 1 <= int(written) <= _HIGHEST:
        raise OptionError(f"{name} is a number from 1 to {_HIGHEST}, got {written!r}")
    return int(written)


def _shedding(options: Mapping[str, str]) -> Shedding:
    if "spill_to" in options:
        raise OptionError("a view that spills loses nothing; give either spill_to or on_overload = 'shed'")
    rows = number_option(options, "memory_rows") if "memory_rows" in options else MOST_MEMORY_ROWS
    if "loss_to" in options:
        check_name(options["loss_to"])
    return Shedding(options.get("shed_policy", "adaptive"), rows, _lag(options), options.get("loss_to"))


def _lag(options: Mapping[str, str]) -> Micros | None:
    if "max_lag" not in options:
        return None
    found = span(options["max_lag"])
    if not found:
        raise OptionError(f"max_lag is a span of time such as '500ms' or '10s', got {options['max_lag']!r}")
    return found


def _spilling(options: Mapping[str, str]) -> Spilling:
    if "spill_to" not in options or "memory_rows" not in options:
        raise OptionError(
            "memory_rows needs spill_to, a folder for what is beyond it, or on_overload = 'shed'; "
            "and spill_to needs memory_rows"
        )
    if not options["spill_to"].strip():
        raise OptionError("spill_to is a folder, got an empty name")
    return Spilling(options["spill_to"], number_option(options, "memory_rows"))
