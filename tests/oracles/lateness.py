"""Lateness, a reading at a time."""

from collections.abc import Iterable


def mark_late(moments: Iterable[int], newest: int, delay_us: int) -> tuple[list[bool], int]:
    """Which moments lie behind the newest before them by more than the delay; and the newest of all."""
    late = []
    for moment in moments:
        late.append(newest - moment > delay_us)
        newest = max(newest, moment)
    return late, newest
