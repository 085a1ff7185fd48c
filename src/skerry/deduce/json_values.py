"""Values as JSON and back: in facts files, in answers, and on the way to a built-in's process.

Lists are arrays; a function symbol is an object with its name: ``pair(1, 'a')`` is ``{"pair": [1, "a"]}``.
"""

import json
import math
from typing import Any

from skerry.model.term import Compound, Value

__all__ = ["from_json", "parse_json", "to_json", "write_json"]


def to_json(value: Value) -> Any:
    """A value as ``json`` writes it.

    >>> to_json((1, Compound("pair", (1, "a"))))
    [1, {'pair': [1, 'a']}]
    """
    match value:
        case tuple():
            return [to_json(each) for each in value]
        case Compound(name, arguments):
            return {name: [to_json(each) for each in arguments]}
    return value


def from_json(found: Any) -> Value:
    """A value as ``json`` reads it. Raises ValueError for what is none.

    >>> from_json([1, {"pair": [1, "a"]}])
    (1, Compound(name='pair', arguments=(1, 'a')))
    """
    match found:
        case list():
            return tuple(map(from_json, found))
        case dict() if len(found) == 1 and isinstance(next(iter(found.values())), list):
            [(name, arguments)] = found.items()
            return Compound(name, tuple(map(from_json, arguments)))
        case int() if not -(2**63) <= found < 2**63:
            raise ValueError(f"{found} does not fit into 64 bits")
        case float() if math.isnan(found):
            raise ValueError("NaN is no value")
        case bool() | int() | float() | str():
            return found
    raise ValueError(f"{json.dumps(found)} is no value")


def write_json(value: Value) -> str:
    """A value as JSON text."""
    return json.dumps(to_json(value), ensure_ascii=False)


def parse_json(text: str) -> Value:
    """The value of a JSON text. Raises ValueError if it has none, or is nested too deeply to read.

    >>> parse_json("[1, 2.5]")
    (1, 2.5)
    """
    try:
        return from_json(json.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
