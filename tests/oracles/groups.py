"""Group numbers by a dictionary."""

from collections.abc import Hashable, Iterable


def group(keys: Iterable[Hashable]) -> tuple[list[int], list[int]]:
    """Each row's group number, and each group's first row."""
    seen: dict[Hashable, int] = {}
    numbers, first = [], []
    for row, key in enumerate(keys):
        if key not in seen:
            seen[key] = len(seen)
            first.append(row)
        numbers.append(seen[key])
    return numbers, first
