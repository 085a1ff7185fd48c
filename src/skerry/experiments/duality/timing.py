"""Processor time per data element: the best of several runs."""

from collections.abc import Callable
from time import thread_time

from skerry.errors import RunError

__all__ = ["Tell", "check_agreement", "measure_time"]

Tell = Callable[[str], None]


def measure_time(run: Callable[[], int], elements: int, repeats: int) -> tuple[float, int]:
    """Microseconds per element, and what a run counts.

    >>> cost, count = measure_time(lambda: 7, elements=10, repeats=2)
    >>> cost >= 0, count
    (True, 7)
    """
    best, count = float("inf"), 0
    for _ in range(repeats):
        begin = thread_time()
        count = run()
        best = min(best, thread_time() - begin)
    return round(1e6 * best / elements, 4), count


def check_agreement(counts: dict[str, int]) -> int:
    """What all techniques have counted, if they have counted the same.

    >>> check_agreement({"one": 5, "other": 5})
    5
    """
    if len(set(counts.values())) > 1:
        raise RunError("techniques disagree on how many pairs there are:", counts)
    return next(iter(counts.values()))
