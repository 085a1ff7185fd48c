"""Many tuples that are much alike, in few bytes: the first in full, and of the others only what differs."""

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["pack_alike", "unpack_alike"]

_Plain = tuple[Any, ...]


def pack_alike(items: Sequence[_Plain]) -> _Plain:
    """Plain tuples as one: those of one shape together, each value that they share once.

    Values that differ in the same way in two positions are written once as well.

    >>> pack_alike([(7, ("a", 1, 1)), (7, ("a", 2, 2)), (7, ("a", 5, 5))])
    ((3, (7, ('a', 1, 1)), ((2, 1, 2, 5), (3, 2))),)
    """
    groups: dict[object, list[list[Any]]] = {}
    firsts: dict[object, _Plain] = {}
    for item in items:
        shape = _find_shape(item)
        firsts.setdefault(shape, item)
        groups.setdefault(shape, []).append(list(_list_leaves(item)))
    return tuple((len(rows), firsts[shape], _list_differences(rows)) for shape, rows in groups.items())


def unpack_alike(packed: _Plain) -> list[_Plain]:
    """The tuples again, those of one shape together.

    >>> items = [(7, ("a", 1, 1)), (7, ("a", 2, 2)), (8,)]
    >>> unpack_alike(pack_alike(items)) == items
    True
    """
    return [item for count, first, differences in packed for item in _repeat(count, first, differences)]


def _list_differences(rows: list[list[Any]]) -> _Plain:
    """Per position that differs: its number with a value per row, or with the number of a position that is the same."""
    found: list[_Plain] = []
    known: dict[object, int] = {}
    for position, values in enumerate(zip(*rows, strict=True)):
        key = tuple((type(value), value) for value in values)
        if len(set(key)) > 1:
            found.append((position, known[key]) if key in known else (position, *values))
            known.setdefault(key, position)
    return tuple(found)


def _repeat(count: int, first: _Plain, differences: _Plain) -> Iterator[_Plain]:
    leaves = list(_list_leaves(first))
    columns: dict[int, Sequence[Any]] = {}
    for position, *values in differences:
        columns[position] = columns[values[0]] if len(values) == 1 else values
    for row in range(count):
        for position, column in columns.items():
            leaves[position] = column[row]
        yield _fill(first, iter(leaves))


def _find_shape(item: Any) -> object:
    return tuple(map(_find_shape, item)) if isinstance(item, tuple) else None


def _list_leaves(item: Any) -> Iterator[Any]:
    if isinstance(item, tuple):
        for each in item:
            yield from _list_leaves(each)
    else:
        yield item


def _fill(item: Any, leaves: Iterator[Any]) -> Any:
    return tuple(_fill(each, leaves) for each in item) if isinstance(item, tuple) else next(leaves)
