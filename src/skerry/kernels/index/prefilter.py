"""A prefilter: one bit per bin of two axes says whether any box lies there. Most points in no box cost one lookup.

               speed
    segment    0 0 1 0 0 0 0 0       a point whose bit is set may be in a box, and is looked up;
               0 0 0 0 0 1 1 0       all others are in none
               0 1 0 0 0 0 0 0

Bins have equal widths over the range in which most boxes end, on the scale, of whole numbers or of doubles, that
separates more ends. The two axes are those on which boxes reach least far. The bits of a removed box stay set: a
point may then pass in vain, but none is lost.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.bits import FULL
from skerry.kernels.index.double_codes import GREATEST_DOUBLE, bits_of_doubles
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.model.arrays import Float64s, Int32s, Int64s, UInt64s

__all__ = ["Prefilter", "build_prefilter"]


_BITS_A_BOX = 64
_FEWEST_BITS, _MOST_BITS = 10, 22
"""Size limits, as powers of two: the most are half a megabyte, which stays in the processor's cache."""
_DENSEST = 0.25
"""If more bits than this fraction are set, too many points pass for a prefilter to pay."""
_SAMPLE = 2**10
"""Axes and numbers of bins are chosen by a sample of so many boxes."""
_TRIAL = 10
"""Scales and axes are compared with so many bins, as a power of two."""
_LEAST_SPAN = 1e-290
_CHUNK = 1024


class Binning(NamedTuple):
    """How an axis is cut into bins: codes are clamped to a range, which is divided evenly."""

    axis: int
    doubles: bool
    """Whether codes are those of doubles; otherwise they are the numbers themselves."""
    first: int
    last: int
    origin: float
    """The value of the first code."""
    span: float
    """How far that of the last is from it, or 1 if both are the same."""
    most: int
    """How many bins are useful, as a power of two: where boxes share ends, about as many as there are distinct ends."""


_ONE_BIN = Binning(0, doubles=False, first=0, last=0, origin=0.0, span=1.0, most=0)


class Prefilter(NamedTuple):
    """Two axes, the number of bins of each, and a bit for each pair of bins that a box meets."""

    binnings: tuple[Binning, Binning]
    bins: tuple[int, int]
    bits: UInt64s

    def add(self, lows: Int64s, highs: Int64s) -> None:
        """Set the bits of boxes, axis by box."""
        _add(self, np.ascontiguousarray(lows), np.ascontiguousarray(highs))

    def select(self, points: Int64s) -> Int32s:
        """The rows of points that may be in a box, in order. Points are axis by row."""
        kept = np.empty(points.shape[1], np.int32)
        return kept[: _select(self, np.ascontiguousarray(points), kept)]


def build_prefilter(lows: Int64s, highs: Int64s) -> Prefilter | None:
    """A prefilter that passes what may be in a box; None if too much would pass. Arrays are axis by box.

    >>> lows = np.array([[3, 90], [0, 500]])
    >>> prefilter = build_prefilter(lows, lows + 5)
    >>> prefilter.select(np.array([[4, 50, 94, 94], [1, 1, 1, 503]])).tolist()
    [0, 3]
    >>> build_prefilter(np.array([[LEAST]]), np.array([[GREATEST]]))
    """
    count = lows.shape[1]
    if not count:
        return None
    step = max(count // _SAMPLE, 1)
    some = np.ascontiguousarray(lows[:, ::step]), np.ascontiguousarray(highs[:, ::step])
    binnings = [_choose_binning(axis, *ends) for axis, ends in enumerate(zip(*some, strict=True))]
    one, two, *_ = sorted([*binnings, _ONE_BIN], key=lambda binning: _reach_of(binning, _TRIAL, *some).mean())
    width = min(max((_BITS_A_BOX * count).bit_length(), _FEWEST_BITS), _MOST_BITS)
    shapes = [(first, min(width - first, two.most)) for first in range(min(width, one.most) + 1)]
    fractions = [(_reach_of(one, first, *some) * _reach_of(two, second, *some)).mean() for first, second in shapes]
    if count * min(fractions) > _DENSEST:
        return None
    first, second = shapes[int(np.argmin(fractions))]
    prefilter = Prefilter((one, two), (2**first, 2**second), np.zeros((2 ** (first + second) + 63) // 64, np.uint64))
    prefilter.add(lows, highs)
    return prefilter


def _reach_of(binning: Binning, width: int, lows: Int64s, highs: Int64s) -> Float64s:
    """The fraction of bins that each box meets; there are two to the power of ``width``, if so many are useful."""
    bins = 2 ** min(width, binning.most)
    first, last = (_find_bins(binning, bins, ends[binning.axis]) for ends in (lows, highs))
    fraction: Float64s = (last - first + 1) / bins
    return fraction


def _choose_binning(axis: int, lows: Int64s, highs: Int64s) -> Binning:
    """Of the two scales, the binning that separates more ends of boxes."""
    ends = np.concatenate([lows[lows > LEAST], highs[(highs > LEAST) & (highs < GREATEST)]])
    finite = ends[(ends ^ (ends >> 63)) <= GREATEST_DOUBLE]
    binnings = _bin_middle(axis, ends, doubles=False), _bin_middle(axis, finite, doubles=True)
    return max(binnings, key=lambda binning: np.unique(_find_bins(binning, 2**_TRIAL, ends)).size)


def _bin_middle(axis: int, ends: Int64s, *, doubles: bool) -> Binning:
    """Bins over the middle 80 % of some ends, and as far again to either side if there are ends so far out."""
    codes = np.sort(ends)
    values = bits_of_doubles(codes).view(np.float64) if doubles else codes.astype(np.float64)
    if not codes.size:
        return _ONE_BIN
    tenth = codes.size // 10
    low, high = values[tenth], values[-1 - tenth]
    with np.errstate(over="ignore"):
        near = np.flatnonzero((values >= low - (high - low)) & (values <= high + (high - low)))
        first, last = near[0], near[-1]
        span = values[last] - values[first]
    if not _LEAST_SPAN < span < np.inf:
        last, span = first, 1.0
    most = _count_useful_bins(codes[first : last + 1])
    return Binning(axis, doubles, int(codes[first]), int(codes[last]), float(values[first]), float(span), most)


def _count_useful_bins(ends: Int64s) -> int:
    """How many bins separate the ends, as a power of two; the most there can be, if most ends differ."""
    distinct = np.unique(ends).size
    return _MOST_BITS if 2 * distinct > max(ends.size, 2) else (distinct - 1).bit_length()


@kernel
def _find_bins(binning, bins, codes):
    """The bin of each code: a greater code never has an earlier bin."""
    found = np.empty(codes.size, np.int64)
    for row in range(codes.size):
        found[row] = min(max(codes[row], binning.first), binning.last)
    pace = (bins - 0.5) / binning.span
    if binning.doubles:
        values = bits_of_doubles(found).view(np.float64)
        for row in range(codes.size):
            found[row] = np.int64((values[row] - binning.origin) * pace)
    else:
        for row in range(codes.size):
            found[row] = np.int64((np.float64(found[row]) - binning.origin) * pace)
    return found


@kernel
def _add(prefilter, lows, highs):
    one, two = prefilter.binnings
    rows, columns = prefilter.bins
    first_rows, last_rows = _find_bins(one, rows, lows[one.axis]), _find_bins(one, rows, highs[one.axis])
    firsts, lasts = _find_bins(two, columns, lows[two.axis]), _find_bins(two, columns, highs[two.axis])
    for box in range(firsts.size):
        for row in range(first_rows[box], last_rows[box] + 1):
            _set_bits(prefilter.bits, row * columns + firsts[box], row * columns + lasts[box])


@kernel
def _set_bits(bits, first, last):
    """Set all bits from the first to the last."""
    for word in range(first >> 6, (last >> 6) + 1):
        mask = FULL
        if word == first >> 6:
            mask &= FULL << np.uint64(first & 63)
        if word == last >> 6:
            mask &= FULL >> np.uint64(63 - (last & 63))
        bits[word] |= mask


@kernel
def _select(prefilter, points, kept):
    """List the rows whose bits are set; how many. One chunk at a time, so that its bins stay in the cache."""
    one, two = prefilter.binnings
    rows, columns = prefilter.bins
    count = 0
    for start in range(0, points.shape[1], _CHUNK):
        stop = min(start + _CHUNK, points.shape[1])
        indexes = _find_bins(one, rows, points[one.axis, start:stop]) * columns
        indexes += _find_bins(two, columns, points[two.axis, start:stop])
        for row in range(start, stop):
            index = indexes[row - start]
            kept[count] = row
            count += (prefilter.bits[index >> 6] >> np.uint64(index & 63)) & np.uint64(1) != 0
    return count
