"""The process that runs a project's own built-ins: ``python -m skerry.deduce.builtins.worker MODULE...``.

It imports the modules named, and answers lines: ``["module:name", [arguments, ...]]`` with ``{"values": [...]}`` or
``{"error": "..."}``. What a built-in prints goes to standard error, so that it cannot garble an answer.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from skerry.deduce.json_values import from_json, to_json
from skerry.model.term import Compound

__all__ = ["answer", "main"]

_MEMORY_BYTES = 4 << 30


def main(modules: Sequence[str]) -> None:
    """Answer until the questions end."""
    _limit_memory()
    questions, answers = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for line in questions:
        path, rows = json.loads(line)
        print(json.dumps(answer(path, rows, modules)), file=answers, flush=True)


def answer(path: str, rows: Sequence[Sequence[Any]], modules: Sequence[str]) -> dict[str, Any]:
    """Call a built-in once per row. The first call that fails gives the error; no other is made.

    >>> answer("math:sqrt", [[4], [9]], ["math"])
    {'values': [2.0, 3.0]}
    >>> answer("math:sqrt", [[-1]], ["math"])
    {'error': 'ValueError: math domain error, for [-1]'}
    """
    try:
        function = _find_function(path, modules)
    except Exception as error:  # whatever a user's module raises on import
        return {"error": f"{type(error).__name__}: {error}"}
    values = []
    for row in rows:
        try:
            values.append(_plain(function(*map(from_json, row))))
        except Exception as error:  # whatever a user's function raises
            return {"error": f"{type(error).__name__}: {error}, for {json.dumps(row)[:200]}"}
    return {"values": values}


def _find_function(path: str, modules: Sequence[str]) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    if module not in modules:
        raise ImportError(f"module {module!r} is not allowed")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _plain(value: Any) -> Any:
    """What a function gave, as JSON; numpy's numbers become Python's."""
    if value is None or isinstance(value, bool | int | float | str):
        return None if value != value else value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Compound):
        return to_json(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise TypeError(f"{type(value).__name__} is no value of a rule")


def _limit_memory() -> None:
    """Let a greedy built-in fail by itself, where the system can hold it to that."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


if __name__ == "__main__":
    main(sys.argv[1:])
