"""Loops and the programs of their motes, one sample at a time."""

from collections.abc import Sequence


def sample(covers: Sequence[tuple[int, int]], times_us: Sequence[int]) -> list[bool]:
    """Whether any vehicle covers the loop at each time."""
    return [any(on <= time_us < off for on, off in covers) for time_us in times_us]


def find_vehicles(times_us: Sequence[int], samples: Sequence[bool]) -> list[tuple[int, int]]:
    """When each vehicle began and ceased to be seen; one that is still there is left out."""
    found, began = [], None
    for time_us, covered in zip(times_us, samples, strict=True):
        if covered and began is None:
            began = time_us
        elif not covered and began is not None:
            found.append((began, time_us))
            began = None
    return found


def count_vehicles(times_us: Sequence[int], samples: Sequence[bool]) -> dict[int, int]:
    """Vehicles that began to be seen in each second with samples, by its beginning."""
    counts: dict[int, int] = {}
    before = False
    for time_us, covered in zip(times_us, samples, strict=True):
        second_us = time_us - time_us % 1_000_000
        counts[second_us] = counts.get(second_us, 0) + (covered and not before)
        before = covered
    return counts


def match_pair(
    upstream: Sequence[tuple[int, int]], downstream: Sequence[tuple[int, int]], distance_feet: float
) -> list[tuple[float, float] | None]:
    """Speed and length of each vehicle upstream: the first cover downstream that begins while it is there tells."""
    found: list[tuple[float, float] | None] = []
    for on, off in upstream:
        between_us = next((other - on for other, _ in downstream if on <= other < off), 0)
        speed = distance_feet / between_us * 1e6 if between_us else None
        found.append(None if speed is None else (speed, speed * (off - on) / 1e6))
    return found
