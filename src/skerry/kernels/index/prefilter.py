"""A sieve: where on two axes any box lies, a bit a bucket. Most points that are in no box fall through at one look.

               speed
    segment    0 0 1 0 0 0 0 0       a point whose bit is set may be in a box, and is asked;
               0 0 0 0 0 1 1 0       all others are in none
               0 1 0 0 0 0 0 0

Buckets are even steps over the range in which most boxes end, on the scale, of whole numbers or of doubles, that
tells more ends apart. The two axes are those on which boxes reach least far. The bits of a box that goes stay.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.bits import FULL
from skerry.kernels.index.double_codes import GREATEST_DOUBLE, bits_of_doubles
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.model.arrays import Float64s, Int32s, Int64s, UInt64s

__all__ = ["Sieve", "sieve_over"]


_BITS_A_BOX = 64
_FEWEST_BITS, _MOST_BITS = 10, 22
"""Of a sieve, as powers of two: the most are half a megabyte, which stays close at hand."""
_DENSEST = 0.25
"""Where more bits than this share are set, too many points pass for a sieve to be worth its look."""
_SAMPLE = 2**10
"""So many boxes tell which axes and how many buckets are best."""
_TRIAL = 10
"""So many buckets, as a power of two, tell scales and axes apart."""
_LEAST_SPAN = 1e-290
_CHUNK = 1024


class Ruler(NamedTuple):
    """How an axis is cut into buckets: codes are moved into a range, and counted in even steps from its start."""

    axis: int
    doubles: bool
    """Whether codes are those of doubles; otherwise they are numbers themselves."""
    first: int
    last: int
    origin: float
    """The value of the first code."""
    span: float
    """How far that of the last is from it, or 1 if both are the same."""
    most: int
    """How many buckets are of use, as a power of two: where boxes share their ends, about as many as there are."""


_ONE_BUCKET = Ruler(0, doubles=False, first=0, last=0, origin=0.0, span=1.0, most=0)


class Sieve(NamedTuple):
    """Two axes, the buckets of each, and a bit for each pair of buckets that a box meets."""

    rulers: tuple[Ruler, Ruler]
    buckets: tuple[int, int]
    bits: UInt64s

    def add(self, lows: Int64s, highs: Int64s) -> None:
        """Set the bits of boxes, axis by box."""
        _add(self, np.ascontiguousarray(lows), np.ascontiguousarray(highs))

    def sift(self, points: Int64s) -> Int32s:
        """The rows of points that may be in a box, in order. Points are axis by row."""
        kept = np.empty(points.shape[1], np.int32)
        return kept[: _sift(self, np.ascontiguousarray(points), kept)]


def sieve_over(lows: Int64s, highs: Int64s) -> Sieve | None:
    """A sieve that lets through what may be in a box; none, if that is too much. Arrays are axis by box.

    >>> lows = np.array([[3, 90], [0, 500]])
    >>> sieve = sieve_over(lows, lows + 5)
    >>> sieve.sift(np.array([[4, 50, 94, 94], [1, 1, 1, 503]])).tolist()
    [0, 3]
    >>> sieve_over(np.array([[LEAST]]), np.array([[GREATEST]]))
    """
    count = lows.shape[1]
    if not count:
        return None
    step = max(count // _SAMPLE, 1)
    some = np.ascontiguousarray(lows[:, ::step]), np.ascontiguousarray(highs[:, ::step])
    rulers = [_ruler(axis, *ends) for axis, ends in enumerate(zip(*some, strict=True))]
    one, two, *_ = sorted([*rulers, _ONE_BUCKET], key=lambda ruler: _reach(ruler, _TRIAL, *some).mean())
    width = min(max((_BITS_A_BOX * count).bit_length(), _FEWEST_BITS), _MOST_BITS)
    shapes = [(first, min(width - first, two.most)) for first in range(min(width, one.most) + 1)]
    shares = [(_reach(one, first, *some) * _reach(two, second, *some)).mean() for first, second in shapes]
    if count * min(shares) > _DENSEST:
        return None
    first, second = shapes[int(np.argmin(shares))]
    sieve = Sieve((one, two), (2**first, 2**second), np.zeros((2 ** (first + second) + 63) // 64, np.uint64))
    sieve.add(lows, highs)
    return sieve


def _reach(ruler: Ruler, width: int, lows: Int64s, highs: Int64s) -> Float64s:
    """The share of buckets that each box meets; there are two to the power of ``width``, if so many are of use."""
    buckets = 2 ** min(width, ruler.most)
    first, last = (_buckets(ruler, buckets, ends[ruler.axis]) for ends in (lows, highs))
    share: Float64s = (last - first + 1) / buckets
    return share


def _ruler(axis: int, lows: Int64s, highs: Int64s) -> Ruler:
    """The ruler that tells more ends of boxes apart, of the two there are."""
    ends = np.concatenate([lows[lows > LEAST], highs[(highs > LEAST) & (highs < GREATEST)]])
    finite = ends[(ends ^ (ends >> 63)) <= GREATEST_DOUBLE]
    rulers = _over_most(axis, ends, doubles=False), _over_most(axis, finite, doubles=True)
    return max(rulers, key=lambda ruler: np.unique(_buckets(ruler, 2**_TRIAL, ends)).size)


def _over_most(axis: int, ends: Int64s, *, doubles: bool) -> Ruler:
    """A ruler over the middle of some ends, and over as much again to either side, if there are ends so far out."""
    codes = np.sort(ends)
    values = bits_of_doubles(codes).view(np.float64) if doubles else codes.astype(np.float64)
    if not codes.size:
        return _ONE_BUCKET
    tenth = codes.size // 10
    low, high = values[tenth], values[-1 - tenth]
    with np.errstate(over="ignore"):
        near = np.flatnonzero((values >= low - (high - low)) & (values <= high + (high - low)))
        first, last = near[0], near[-1]
        span = values[last] - values[first]
    if not _LEAST_SPAN < span < np.inf:
        last, span = first, 1.0
    most = _useful(codes[first : last + 1])
    return Ruler(axis, doubles, int(codes[first]), int(codes[last]), float(values[first]), float(span), most)


def _useful(ends: Int64s) -> int:
    """How many buckets it takes to tell ends apart, as a power of two; all there can be, if most are different."""
    distinct = np.unique(ends).size
    return _MOST_BITS if 2 * distinct > max(ends.size, 2) else (distinct - 1).bit_length()


@kernel
def _buckets(ruler, buckets, codes):
    """The bucket of each code: a later one for a greater code, or the same."""
    found = np.empty(codes.size, np.int64)
    for row in range(codes.size):
        found[row] = min(max(codes[row], ruler.first), ruler.last)
    pace = (buckets - 0.5) / ruler.span
    if ruler.doubles:
        values = bits_of_doubles(found).view(np.float64)
        for row in range(codes.size):
            found[row] = np.int64((values[row] - ruler.origin) * pace)
    else:
        for row in range(codes.size):
            found[row] = np.int64((np.float64(found[row]) - ruler.origin) * pace)
    return found


@kernel
def _add(sieve, lows, highs):
    one, two = sieve.rulers
    rows, columns = sieve.buckets
    first_rows, last_rows = _buckets(one, rows, lows[one.axis]), _buckets(one, rows, highs[one.axis])
    firsts, lasts = _buckets(two, columns, lows[two.axis]), _buckets(two, columns, highs[two.axis])
    for box in range(firsts.size):
        for row in range(first_rows[box], last_rows[box] + 1):
            _set(sieve.bits, row * columns + firsts[box], row * columns + lasts[box])


@kernel
def _set(bits, first, last):
    """Set all bits from the first to the last."""
    for word in range(first >> 6, (last >> 6) + 1):
        mask = FULL
        if word == first >> 6:
            mask &= FULL << np.uint64(first & 63)
        if word == last >> 6:
            mask &= FULL >> np.uint64(63 - (last & 63))
        bits[word] |= mask


@kernel
def _sift(sieve, points, kept):
    """List the rows whose bits are set; how many. A chunk at a time, so that buckets stay close at hand."""
    one, two = sieve.rulers
    rows, columns = sieve.buckets
    count = 0
    for start in range(0, points.shape[1], _CHUNK):
        stop = min(start + _CHUNK, points.shape[1])
        places = _buckets(one, rows, points[one.axis, start:stop]) * columns
        places += _buckets(two, columns, points[two.axis, start:stop])
        for row in range(start, stop):
            place = places[row - start]
            kept[count] = row
            count += (sieve.bits[place >> 6] >> np.uint64(place & 63)) & np.uint64(1) != 0
    return count
