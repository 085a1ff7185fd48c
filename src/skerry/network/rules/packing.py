"""Values inside messages: plain tuples, from which lists and function symbols are read back."""

from typing import Any, cast

from skerry.deduce.values import Row
from skerry.model.term import Compound, Value

__all__ = ["pack", "unpack"]


def pack(row: Row) -> tuple[Any, ...]:
    """A row as plain data: a list begins with 0, a function symbol with its name after 1.

    >>> pack((7, (1, 2), Compound("pair", (1, "a"))))
    (7, (0, 1, 2), (1, 'pair', 1, 'a'))
    """
    return tuple(map(_pack_value, row))


def unpack(packed: tuple[Any, ...]) -> Row:
    """A row from plain data.

    >>> unpack(pack((7, (1, ("x",)), Compound("pair", (1, ()))))) == (7, (1, ("x",)), Compound("pair", (1, ())))
    True
    """
    return tuple(map(_unpack_value, packed))


def _pack_value(value: Value) -> Any:
    match value:
        case tuple():
            return (0, *map(_pack_value, value))
        case Compound(name, arguments):
            return (1, name, *map(_pack_value, arguments))
    return value


def _unpack_value(packed: Any) -> Value:
    match packed:
        case (0, *items):
            return tuple(map(_unpack_value, items))
        case (1, str(name), *items):
            return Compound(name, tuple(map(_unpack_value, items)))
    return cast(Value, packed)
