"""Readings ahead of their neighbours, a reading at a time."""

from collections.abc import Sequence


def mark_ahead(
    moments: Sequence[int], following: Sequence[int], newest: int | None, far_us: int, near_us: int, *, strict: bool
) -> tuple[list[bool], int | None]:
    """Which moments lie ahead of the newest before them, and of most of the next 31 or 1023."""
    marks = []
    for row, moment in enumerate(moments):
        witnesses = [*moments[row + 1 :], *following][:1023]
        groups = [witnesses[:31], witnesses]
        far = (newest is None or moment > newest + far_us) and any(_most_before(g, moment - far_us) for g in groups)
        near = newest is not None and moment > newest + near_us
        near = near and any(len(g) >= 31 and _most_before(g, moment - near_us) for g in groups)
        alone = strict and newest is not None and moment > newest + near_us and not witnesses
        marks.append(far or near or alone)
        if not marks[-1]:
            newest = moment if newest is None else max(newest, moment)
    return marks, newest


def _most_before(witnesses: Sequence[int], moment: int) -> bool:
    return 2 * sum(witness < moment for witness in witnesses) > len(witnesses)
