"""The gate, a reading at a time."""

from collections.abc import Sequence


def in_order(moments: Sequence[int], newest: int, delay_us: int | None) -> tuple[list[bool], int]:
    """Which readings are late, each against those before it; and the newest moment that was in time."""
    late = []
    for moment in moments:
        late.append(delay_us is not None and moment < newest - delay_us)
        if delay_us is not None and not late[-1]:
            newest = max(newest, moment)
    return late, newest


def out_of_order(moments: Sequence[int], newest: int, delay_us: int | None) -> tuple[list[bool], int]:
    """Which readings are late, all against what was known before the first; and the newest moment of all."""
    if delay_us is None:
        return [False] * len(moments), newest
    return [moment < newest - delay_us for moment in moments], max([newest, *moments])
