"""Sessions found by comparing every pair of intervals."""

from collections.abc import Sequence

__all__ = ["number_sessions"]


def number_sessions(intervals: Sequence[tuple[int, int, int]], gap: int) -> list[int]:
    """The session of each (group, start, last), sorted by group and start: those that are near are in one."""
    numbers = list(range(len(intervals)))
    for one, (group, _, last) in enumerate(intervals):
        for other, (other_group, start, _) in enumerate(intervals):
            if one < other and group == other_group and start - last <= gap:
                numbers = [numbers[one] if number == numbers[other] else number for number in numbers]
    ranks = {number: rank for rank, number in enumerate(dict.fromkeys(numbers))}
    return [ranks[number] for number in numbers]
