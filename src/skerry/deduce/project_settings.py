"""What a project's ``skerry.toml`` says of its rules, under ``[rules]``: modules of built-ins, and limits."""

import tomllib
from pathlib import Path
from typing import Any

from skerry.errors import InputError
from skerry.model.options import suggest
from skerry.plan.limits import LIMITS, Limits, option_of, parse_limits

__all__ = ["list_allowed_modules", "read_project_limits"]


def list_allowed_modules(folder: Path) -> tuple[str, ...]:
    """The modules of built-ins that a project allows; none if it has no settings."""
    modules = _read_rules(folder).get("builtins", [])
    if not isinstance(modules, list) or not all(isinstance(module, str) for module in modules):
        raise InputError(f'{_shown(folder)}: builtins under [rules] is a list of module names, as in ["mymodule"]')
    return tuple(modules)


def read_project_limits(folder: Path) -> Limits:
    """The limits that a project sets for its rule programs."""
    given, known = _read_rules(folder), {option_of(name): name for name in LIMITS}
    for option in given:
        if option.startswith(option_of("")) and option not in known:
            message = f"{_shown(folder)}: unknown limit {option!r} under [rules]; known are {', '.join(known)}"
            raise InputError(message + suggest(option, list(known)))
    found = Limits()
    for option, name in known.items():
        try:
            found = parse_limits({name: given.get(option)}).over(found)
        except ValueError as error:
            message = f"{option} under [rules] is {error}, got {given[option]!r}"
            raise InputError(f"{_shown(folder)}: {message}") from None
    return found


def _read_rules(folder: Path) -> dict[str, Any]:
    path = folder / "skerry.toml"
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read the settings {str(path)!r}: {error}") from None
    rules = settings.get("rules", {})
    if not isinstance(rules, dict):
        raise InputError(f'{_shown(folder)}: [rules] is a table, as in [rules] builtins = ["mymodule"]')
    return rules


def _shown(folder: Path) -> str:
    return repr(str(folder / "skerry.toml"))
