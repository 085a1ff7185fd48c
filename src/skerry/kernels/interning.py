"""Numbers for values: from 0, in order of first appearance over all calls, and exact.

Two values have one number if and only if they are equal, whatever their hashes. Nothing is ever taken
out: a caller that no longer needs most of the values starts over with an empty object.
"""

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_bytes, hash_integers
from skerry.model.arrays import Int64s, UInt8s, UInt64s

__all__ = ["Integers", "Texts"]


_FEWEST = 64


class Integers:
    """Numbers for 64-bit integers.

    >>> known = Integers()
    >>> known.number(np.array([70, 90, 70])).tolist(), known.number(np.array([80, 90])).tolist()
    ([0, 1, 0], [2, 1])
    >>> known.values.tolist()
    [70, 90, 80]
    """

    def __init__(self) -> None:
        self.count = 0
        self._values = np.empty(_FEWEST, np.int64)
        self._slots = np.full(2 * _FEWEST, -1, np.int64)

    @property
    def values(self) -> Int64s:
        """The value of each number."""
        return self._values[: self.count]

    def number(self, values: Int64s) -> Int64s:
        """The number of each value; those not met before get the next ones."""
        values = _read_only(values)
        hashes = hash_integers(values)
        numbers = np.empty(values.size, np.int64)
        row = self._number(values, hashes, 0, numbers)
        while row < values.size:
            self._grow()
            row = self._number(values, hashes, row, numbers)
        return numbers

    def find(self, values: Int64s) -> Int64s:
        """The number of each value, or -1 if it has none; nothing is entered.

        >>> known = Integers()
        >>> known.number(np.array([70, 90])).tolist(), known.find(np.array([90, 80])).tolist()
        ([0, 1], [1, -1])
        """
        values = _read_only(values)
        return _find_integers(self._slots, self._values, values, hash_integers(values))

    def _number(self, values: Int64s, hashes: UInt64s, start: int, numbers: Int64s) -> int:
        row, self.count = _number_integers(self._slots, self._values, self.count, values, hashes, start, numbers)
        return row

    def _grow(self) -> None:
        self._values = _longer(self._values, 2 * self.count)
        self._slots = _make_slots(hash_integers(self.values), 4 * self.count)


class Texts:
    """Numbers for strings of bytes, ``data[offsets[i]:offsets[i + 1]]`` each.

    >>> known = Texts()
    >>> known.number(np.array([0, 1, 3, 4]), np.frombuffer(b"xyzx", np.uint8)).tolist()
    [0, 1, 0]
    >>> known.data.tobytes(), known.offsets.tolist()
    (b'xyz', [0, 1, 3])
    """

    def __init__(self) -> None:
        self.count = 0
        self._offsets = np.zeros(_FEWEST + 1, np.int64)
        self._hashes = np.empty(_FEWEST, np.uint64)
        self._data = np.empty(16 * _FEWEST, np.uint8)
        self._slots = np.full(2 * _FEWEST, -1, np.int64)

    @property
    def offsets(self) -> Int64s:
        """Where the text of each number begins in ``data``, and where the last one ends."""
        return self._offsets[: self.count + 1]

    @property
    def data(self) -> UInt8s:
        """All texts, one behind the other."""
        return self._data[: self._offsets[self.count]]

    def number(self, offsets: Int64s, data: UInt8s) -> Int64s:
        """The number of each text; those not met before get the next ones."""
        if not 0 <= offsets[0] <= offsets[-1] <= data.size:
            raise KernelError("texts reach from", offsets[0], "to", offsets[-1], "in", data.size, "bytes")
        offsets, data = _read_only(offsets), _read_only(data)
        hashes = hash_bytes(offsets, data)
        numbers = np.empty(hashes.size, np.int64)
        row = self._number(offsets, data, hashes, 0, numbers)
        while row < hashes.size:
            self._grow(int(offsets[row + 1] - offsets[row]))
            row = self._number(offsets, data, hashes, row, numbers)
        return numbers

    def find(self, offsets: Int64s, data: UInt8s) -> Int64s:
        """The number of each text, or -1 if it has none; nothing is entered."""
        offsets, data = _read_only(offsets), _read_only(data)
        known = self._slots, self._offsets, self._data, self._hashes
        return _find_texts(*known, offsets, data, hash_bytes(offsets, data))

    def _number(self, offsets: Int64s, data: UInt8s, hashes: UInt64s, start: int, numbers: Int64s) -> int:
        known = self._slots, self._offsets, self._data, self._hashes
        row, self.count = _number_texts(*known, self.count, offsets, data, hashes, start, numbers)
        return row

    def _grow(self, length: int) -> None:
        self._data = _longer(self._data, max(self._data.size, 2 * (self.data.size + length)))
        if self.count == self._hashes.size:
            self._offsets = _longer(self._offsets, 2 * self.count + 1)
            self._hashes = _longer(self._hashes, 2 * self.count)
            self._slots = _make_slots(self._hashes[: self.count], 4 * self.count)


def _read_only(array: npt.NDArray) -> npt.NDArray:
    """A view that cannot be written to, as some of Arrow's are: so kernels are compiled for one type of array alone."""
    view = array.view()
    view.flags.writeable = False
    return view


def _longer(array: npt.NDArray, size: int) -> npt.NDArray:
    longer = np.zeros(size, array.dtype)
    longer[: array.size] = array
    return longer


def _make_slots(hashes: UInt64s, size: int) -> Int64s:
    """A hash table of ``size`` slots that holds the number of each hash."""
    slots = np.full(size, -1, np.int64)
    _fill_slots(slots, hashes)
    return slots


@kernel
def _fill_slots(slots, hashes):
    for number in range(hashes.size):
        slot = np.int64(hashes[number] & np.uint64(slots.size - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = number


@kernel
def _number_integers(slots, known, count, values, hashes, start, numbers):
    """Number values from ``start`` on; the row of the first for which there was no room, and how many are known."""
    for row in range(start, values.size):
        slot = np.int64(hashes[row] & np.uint64(slots.size - 1))
        while slots[slot] >= 0 and known[slots[slot]] != values[row]:
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] < 0:
            if count == known.size:
                return row, count
            slots[slot], known[count] = count, values[row]
            count += 1
        numbers[row] = slots[slot]
    return values.size, count


@kernel
def _find_integers(slots, known, values, hashes):
    numbers = np.empty(values.size, np.int64)
    for row in range(values.size):
        slot = np.int64(hashes[row] & np.uint64(slots.size - 1))
        while slots[slot] >= 0 and known[slots[slot]] != values[row]:
            slot = (slot + 1) & (slots.size - 1)
        numbers[row] = slots[slot]
    return numbers


@kernel
def _find_texts(slots, known_offsets, known_data, known_hashes, offsets, data, hashes):
    numbers = np.empty(hashes.size, np.int64)
    for row in range(hashes.size):
        numbers[row] = slots[_find_text(slots, known_offsets, known_data, known_hashes, offsets, data, hashes, row)]
    return numbers


@kernel
def _find_text(slots, known_offsets, known_data, known_hashes, offsets, data, hashes, row):
    """The slot of a text, or the free one where it belongs."""
    length = offsets[row + 1] - offsets[row]
    slot = np.int64(hashes[row] & np.uint64(slots.size - 1))
    while slots[slot] >= 0:
        number = slots[slot]
        begin = known_offsets[number]
        if known_hashes[number] == hashes[row] and known_offsets[number + 1] - begin == length:
            same = 0
            while same < length and known_data[begin + same] == data[offsets[row] + same]:
                same += 1
            if same == length:
                break
        slot = (slot + 1) & (slots.size - 1)
    return slot


@kernel
def _number_texts(slots, known_offsets, known_data, known_hashes, count, offsets, data, hashes, start, numbers):
    """Number texts from ``start`` on; the row of the first for which there was no room, and how many are known."""
    for row in range(start, hashes.size):
        slot = _find_text(slots, known_offsets, known_data, known_hashes, offsets, data, hashes, row)
        if slots[slot] < 0:
            end = known_offsets[count] + offsets[row + 1] - offsets[row]
            if count == known_hashes.size or end > known_data.size:
                return row, count
            known_data[known_offsets[count] : end] = data[offsets[row] : offsets[row + 1]]
            slots[slot], known_hashes[count], known_offsets[count + 1] = count, hashes[row], end
            count += 1
        numbers[row] = slots[slot]
    return hashes.size, count
