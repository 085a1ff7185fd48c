"""Lines of CSV that end inside quotes."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int32s, UInt8s

__all__ = ["mark_open_lines"]

_QUOTE = ord('"')


def mark_open_lines(bounds: Int32s, data: UInt8s, delimiter: str) -> Bools:
    r"""Mark the lines at whose end a quoted field is not closed; ``bounds`` are where each starts, and the end of all.

    A quote opens a field at its start alone, and a doubled one inside is a character of it.

    >>> lines = np.frombuffer(b'a,"b\nc"d,"e"\n', np.uint8)
    >>> mark_open_lines(np.array([0, 5, 13], np.int32), lines, ",").tolist()
    [True, False]
    """
    return _mark(bounds, data, ord(delimiter))


@kernel
def _mark(bounds, data, delimiter):
    marks = np.zeros(bounds.size - 1, np.bool_)
    for line in range(marks.size):
        marks[line] = _is_open(data[bounds[line] : bounds[line + 1]], delimiter)
    return marks


@kernel
def _is_open(line, delimiter):
    """Whether a line ends inside quotes: field by field, each either quoted or not."""
    position = 0
    while position < line.size:
        while position < line.size and line[position] == _QUOTE:  # a second time for a doubled quote
            position += 1
            while position < line.size and line[position] != _QUOTE:
                position += 1
            if position == line.size:
                return True
            position += 1
        while position < line.size and line[position] != delimiter:
            position += 1
        position += 1
    return False
