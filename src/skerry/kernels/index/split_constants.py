"""Texts of predicates cut into their constants and the form around them, all at once.

    sensor = 'i80' AND lane IN (1, 2)      form: sensor = '' AND lane IN (0,...)     constants: 'i80', (1, 2)

A constant is a quoted text, a number that no letter, digit or point touches, or a list behind IN of several of one
kind. A text is *plain* if nothing in it but such constants can hide others: no comment, no other quotes, no escape.
Other texts have no form.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.text_codes import Bytes
from skerry.model.arrays import Bools, Int64s, UInt8s

__all__ = ["LONG_WHOLE", "SplitTexts", "split_constants"]

_WORD, _DIGIT, _SPACE, _SIGN = 1, 2, 4, 8
_TEXT, _WHOLE, _FRACTION, _EXPONENT, _LONG_FRACTION, LONG_WHOLE = range(6)
"""Kinds of constants; of a list, that of its longest. A long number may be of another type than shorter ones."""
_LONG = 18
_QUOTE, _BACKSLASH, _DASH, _SLASH, _STAR = (ord(sign) for sign in "'\\-/*")
_POINT, _COMMA, _OPEN, _CLOSE = (ord(sign) for sign in ".,()")
_BLANKS = ("''", "0", "0.0", "0e0", "0.00", "00")
_LONGEST_BLANK = 16


def _classify() -> UInt8s:
    """What each byte is. Those of letters beyond ASCII are of words."""
    found = np.zeros(256, np.uint8)
    found[128:] = _WORD
    for byte in range(128):
        if chr(byte).isalnum() or byte == ord("_"):
            found[byte] = _WORD | (_DIGIT if chr(byte).isdigit() else 0)
    found[np.frombuffer(b" \t\n\r\f\v", np.uint8)] = _SPACE
    found[np.frombuffer(b".<>=!()+*/%,'-", np.uint8)] = _SIGN
    return found


def _list_blanks() -> tuple[UInt8s, Int64s]:
    """What stands for a constant of each kind, and for a list of them: bytes, and how many these are."""
    texts = [*_BLANKS, *(f" ({blank},...)" for blank in _BLANKS[:-1]), _BLANKS[-1]]
    blanks = np.zeros((len(texts), _LONGEST_BLANK), np.uint8)
    for index, text in enumerate(texts):
        blanks[index, : len(text)] = np.frombuffer(text.encode(), np.uint8)
    return blanks, np.array([len(text) for text in texts])


_CLASSES = _classify()
_BLANK_BYTES, _BLANK_SIZES = _list_blanks()
_LISTS = len(_BLANKS)


class SplitTexts(NamedTuple):
    """Forms, and where in the bytes of all texts the constants stand: those of text i from ``firsts[i]`` on."""

    plain: Bools
    forms: Bytes
    firsts: Int64s
    starts: Int64s
    ends: Int64s
    kinds: Int64s


def split_constants(texts: Bytes) -> SplitTexts:
    """Cut texts. One that is not plain has an empty form and no constants.

    >>> data = np.frombuffer(b"speed < 30speed < 'a", np.uint8)
    >>> found = split_constants(Bytes(np.array([0, 10, 20]), data))
    >>> found.plain.tolist(), found.forms.data.tobytes(), found.starts.tolist(), found.ends.tolist()
    ([True, False], b'speed < 0', [8], [10])
    """
    offsets, data = np.ascontiguousarray(texts.offsets, np.int64), texts.data.view()
    data.flags.writeable = False
    size = int(offsets[-1] - offsets[0])
    # A constant has a byte at least, and another stands before the next; a list's blank is longer by three at the most.
    most = size // 2 + offsets.size
    forms = np.empty(2 * size, np.uint8)
    form_offsets, firsts = np.zeros(offsets.size, np.int64), np.zeros(offsets.size, np.int64)
    starts, ends, kinds = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    plain = np.empty(offsets.size - 1, np.bool_)
    _split_all(offsets, data, plain, forms, form_offsets, firsts, starts, ends, kinds)
    count = firsts[-1]
    held = Bytes(form_offsets, forms[: form_offsets[-1]].copy())
    return SplitTexts(plain, held, firsts, starts[:count].copy(), ends[:count].copy(), kinds[:count].copy())


@kernel
def _split_all(offsets, data, plain, forms, form_offsets, firsts, starts, ends, kinds):
    for text in range(plain.size):
        at, count = form_offsets[text], firsts[text]
        position, end = offsets[text], offsets[text + 1]
        plain[text] = True
        while position < end:
            past, kind = _read_constant(data, offsets[text], position, end)
            if past > position:
                starts[count], ends[count], kinds[count] = position, past, kind
                count += 1
                for index in range(_BLANK_SIZES[kind]):
                    forms[at + index] = _BLANK_BYTES[kind, index]
                at += _BLANK_SIZES[kind]
                position = past
            elif _is_plain(data, position, end):
                forms[at] = data[position]
                at += 1
                position += 1
            else:
                plain[text] = False
                at, count, position = form_offsets[text], firsts[text], end
        form_offsets[text + 1], firsts[text + 1] = at, count


@kernel
def _is_plain(data, position, end):
    """Whether a byte outside of constants begins nothing that could hide one."""
    byte = data[position]
    if _CLASSES[byte] == 0 or byte == _QUOTE:
        return False
    following = data[position + 1] if position + 1 < end else np.uint8(0)
    return not (byte == _DASH and following == _DASH) and not (byte == _SLASH and following == _STAR)


@kernel
def _read_constant(data, first, position, end):
    """Where a constant that begins here ends, and its kind; here, if none does."""
    byte = data[position]
    if byte == _QUOTE:
        if position > first and _CLASSES[data[position - 1]] & _WORD:  # E'...' and the like are read otherwise
            return position, 0
        return _read_text(data, position, end), _TEXT
    if _CLASSES[byte] & _DIGIT:
        before = data[position - 1] if position > first else np.uint8(0)
        if _CLASSES[before] & _WORD or before == _POINT:
            return position, 0
        return _read_number(data, position, end)
    if (byte == _OPEN or _CLASSES[byte] & _SPACE) and _is_behind_in(data, first, position):
        return _read_list(data, position, end)
    return position, 0


@kernel
def _read_text(data, position, end):
    """Behind the closing quote; where it was if there is none, or if there is an escape."""
    past = position + 1
    while past < end:
        if data[past] == _BACKSLASH:
            return position
        if data[past] == _QUOTE:
            if past + 1 == end or data[past + 1] != _QUOTE:
                return past + 1
            past += 1
        past += 1
    return position


@kernel
def _skip(data, position, end, kind):
    """Behind all bytes of a kind."""
    while position < end and _CLASSES[data[position]] & kind:
        position += 1
    return position


@kernel
def _read_number(data, position, end):
    past, kind = _skip(data, position, end, _DIGIT), _WHOLE
    if past + 1 < end and data[past] == _POINT and _CLASSES[data[past + 1]] & _DIGIT:
        past, kind = _skip(data, past + 1, end, _DIGIT), _FRACTION
    if past < end and (data[past] == ord("e") or data[past] == ord("E")):
        digits = past + 1
        if digits < end and (data[digits] == ord("+") or data[digits] == _DASH):
            digits += 1
        behind = _skip(data, digits, end, _DIGIT)
        if digits < behind <= digits + 2:
            past, kind = behind, _EXPONENT
    if past < end and (_CLASSES[data[past]] & _WORD or data[past] == _POINT):
        return position, 0
    return past, _lengthen(kind, past - position)


@kernel
def _lengthen(kind, size):
    """The kind of a number of so many characters."""
    if size < _LONG or kind == _EXPONENT:
        return kind
    return LONG_WHOLE if kind == _WHOLE else _LONG_FRACTION


@kernel
def _is_behind_in(data, first, position):
    if position - first < 2:
        return False
    is_in = (data[position - 2] | 32) == ord("i") and (data[position - 1] | 32) == ord("n")
    return is_in and (position - first == 2 or not _CLASSES[data[position - 3]] & _WORD)


@kernel
def _read_list(data, position, end):
    """A list in brackets of two constants or more, all texts, all whole, or all with a point."""
    at = _skip(data, position, end, _SPACE)
    if at == end or data[at] != _OPEN:
        return position, 0
    at = _skip(data, at + 1, end, _SPACE)
    found, longest, several = -1, 0, False
    while at < end:
        past, kind = _read_listed(data, at, end)
        if past == at or (found >= 0 and kind != found):
            return position, 0
        found, longest = kind, max(longest, past - at)
        at = _skip(data, past, end, _SPACE)
        if at < end and data[at] == _CLOSE and several:
            kind = _TEXT if found == _TEXT else _lengthen(found, longest)
            return at + 1, _LISTS + kind
        if at == end or data[at] != _COMMA:
            return position, 0
        at, several = _skip(data, at + 1, end, _SPACE), True
    return position, 0


@kernel
def _read_listed(data, position, end):
    """A constant of a list: without an exponent, and anything may stand behind it."""
    if data[position] == _QUOTE:
        return _read_text(data, position, end), _TEXT
    past = _skip(data, position, end, _DIGIT)
    if past > position and past + 1 < end and data[past] == _POINT and _CLASSES[data[past + 1]] & _DIGIT:
        return _skip(data, past + 1, end, _DIGIT), _FRACTION
    return past, _WHOLE
