"""What a bounded join counts of its losses while it runs: by span of event time, and what its sample shows.

Python reads the counters from time to time and begins new pages. A span is known by its number: the moments of span
s are those from s * width on, width of them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.window_arrays import GHOST
from skerry.model.arrays import Bools, Float64s, Int64s

__all__ = [
    "COMMON",
    "LIMIT",
    "LOGGED",
    "PAGES",
    "REFUSING",
    "LossCounters",
    "empty_counters",
    "is_log_full",
    "is_refused",
    "is_sampled",
    "note_answers",
    "note_worth",
    "open_page",
    "sample_ahead",
    "sample_hashes",
    "tally",
]


WIDTH, FROM, PAGE, PAGES, LOGGED, COMMON, LIMIT, REFUSING = range(8)
_PAGE_COUNT = 32
_LOG_ROWS = 1024
_REMEMBERED = 256
_AHEAD = 32
_OVERDUE = 32.0
_SAMPLE, _REFUSAL = np.uint64(0x2545F4914F6CDD1D), np.uint64(0x9FB21C651E98DF25)
_FRACTION_BITS = 53


class LossCounters(NamedTuple):
    """Pages by span, a log of answers, and what decides who is refused."""

    marks: Int64s
    """Width of a span; begin and page of the current one, how many pages; rows of the log, the last without sample.

    Then which hashes are of the sample (those below), and whether arrivals are refused.
    """
    pages: Int64s
    """Span; arrivals by stream; tuples shed by label."""
    log_spans: Int64s
    """Span, and for a key of the sample 1 and the key."""
    log_sums: Float64s
    """Answers; those with a ghost among their members; those with a ghost of each stream."""
    cuts: Float64s
    """By stream: arrivals worth less are refused, and of those worth as much so large a fraction, by hash of the key.

    Then the fraction of all that is to be refused, and how many more are to be refused by now.
    """
    recent: Float64s
    """What recent arrivals were worth, by stream."""
    judged: Int64s
    """How many were judged, by stream."""
    found: npt.NDArray[np.uint32]
    """Room for the entries of the next few tuples."""
    sampled: Bools
    """And for whether their keys belong to the sample."""


def empty_counters(stream_count: int, labels: int, width: int, sample: float) -> LossCounters:
    """Counters at zero; ``sample`` is the fraction of keys that are never shed."""
    return LossCounters(
        marks=np.array([width, 0, 0, 0, 0, 0, int(sample * 2**_FRACTION_BITS), 0], np.int64),
        pages=np.zeros((_PAGE_COUNT, 1 + stream_count + labels), np.int64),
        log_spans=np.zeros((_LOG_ROWS, 3), np.int64),
        log_sums=np.zeros((_LOG_ROWS, 2 + stream_count), np.float64),
        cuts=np.zeros((stream_count, 4), np.float64),
        recent=np.zeros((stream_count, _REMEMBERED), np.float64),
        judged=np.zeros(stream_count, np.int64),
        found=np.zeros(_AHEAD, np.uint32),
        sampled=np.zeros(_AHEAD, np.bool_),
    )


def sample_hashes(keys: Int64s) -> Int64s:
    """What is compared with the limit of the sample."""
    return _sample_hashes(keys)


@kernel
def _sample_hashes(keys):
    hashes = np.empty(keys.size, np.int64)
    for row in range(keys.size):
        hashes[row] = _fraction(hash_of(keys[row]), _SAMPLE)
    return hashes


@inlined_kernel
def _fraction(hashed, salt):
    return np.int64(hash_of(hashed ^ salt) >> np.uint64(64 - _FRACTION_BITS))


@inlined_kernel
def is_sampled(counters, hashed):
    """Whether a key with this hash belongs to the sample."""
    return _fraction(hashed, _SAMPLE) < counters.marks[LIMIT]


@inlined_kernel
def sample_ahead(counters, keys, row):
    """Mark which of the next few tuples belong to the sample."""
    first = np.uint64(row)
    for ahead in range(np.uint64(min(counters.sampled.size, keys.size - row))):
        counters.sampled[ahead] = is_sampled(counters, hash_of(keys[first + ahead]))


@inner_kernel
def is_refused(counters, stream, key, value):
    """Whether an arrival that is worth so much is refused: never too many, and any if there were too few."""
    cut, fraction, due = counters.cuts[stream, 0], counters.cuts[stream, 1], counters.cuts[stream, 3]
    little = value < cut or (value == cut and _fraction(hash_of(key), _REFUSAL) < fraction * 2.0**_FRACTION_BITS)
    return due >= _OVERDUE or (due >= 0.0 and little)


@inner_kernel
def note_worth(counters, stream, value, refused):
    """Remember what an arrival was worth, and whether it was refused."""
    counters.recent[stream, counters.judged[stream] % counters.recent.shape[1]] = value
    counters.judged[stream] += 1
    counters.cuts[stream, 3] += counters.cuts[stream, 2] - refused


@inlined_kernel
def open_page(counters, moment):
    """Turn to the page of a moment's span; false if there is none and no room for one."""
    marks, pages = counters.marks, counters.pages
    if marks[PAGES] > 0 and np.uint64(moment) - np.uint64(marks[FROM]) < np.uint64(marks[WIDTH]):
        return True
    span, page = _span(marks, moment), 0
    while page < marks[PAGES] and pages[page, 0] != span:
        page += 1
    if page == pages.shape[0]:
        return False
    if page == marks[PAGES]:
        marks[PAGES] += 1
        for column in range(1, pages.shape[1]):
            pages[page, column] = 0
        pages[page, 0] = span
    marks[PAGE] = page
    marks[FROM] = span * marks[WIDTH]
    return True


@inner_kernel
def _span(marks, moment):
    return moment // marks[WIDTH]


@inlined_kernel
def tally(counters, column):
    """Count one on the current page, at a stream, or behind the streams at a label."""
    counters.pages[counters.marks[PAGE], 1 + column] += 1


@inlined_kernel
def is_log_full(counters, more):
    """Whether the log has no room for so many rows."""
    return counters.marks[LOGGED] + more > counters.log_spans.shape[0]


@inner_kernel
def note_answers(windows, counters, key, newest_stream, newest, sampled, total):
    """Note the product that is chosen, by the span of its newest member."""
    marks = counters.marks
    span = _span(marks, windows.tuples[at(windows, newest_stream, newest)]["start"])
    row = marks[COMMON] - 1
    if sampled or row < 0 or counters.log_spans[row, 0] != span:
        row = marks[LOGGED]
        marks[LOGGED] += 1
        counters.log_spans[row, 0], counters.log_spans[row, 1], counters.log_spans[row, 2] = span, sampled, key
        for column in range(counters.log_sums.shape[1]):
            counters.log_sums[row, column] = 0.0
        if not sampled:
            marks[COMMON] = row + 1
    counters.log_sums[row, 0] += total
    if sampled:
        _note_ghosts(windows, counters.log_sums, row, total)


@inner_kernel
def _note_ghosts(windows, log_sums, row, total):
    """Note how many answers of a product have a ghost, and how many one of each stream."""
    chosen, safe = windows.chosen, 1.0
    for stream in range(windows.streams.size):
        size, ghosts = chosen[stream + 1] - chosen[stream], 0
        for member in range(chosen[stream], chosen[stream + 1]):
            ghosts += (windows.tuples[at(windows, stream, chosen[member])]["fate"] & GHOST) != 0
        safe *= size - ghosts
        log_sums[row, 2 + stream] = total * ghosts / size
    log_sums[row, 1] = total - safe
