"""Texts of predicates, each cut into its constants and the form around them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from skerry.index.form import Constant
from skerry.kernels.index.split_constants import LONG_WHOLE, SplitTexts, split_constants
from skerry.kernels.index.text_codes import Bytes
from skerry.kernels.interning import Texts
from skerry.model.arrays import Int64s

__all__ = ["SplitPredicates"]

_QUOTED = re.compile(r"'[^']*(?:''[^']*)*'")
_ANY = "surrogatepass"
"""What JSON may hold and UTF-8 may not is read as well; whether it can be asked is another's to decide."""


class SplitPredicates(NamedTuple):
    """Texts by position. A form is known by its bytes, with a sign for the kind of each constant.

    >>> split = SplitPredicates.of(["speed < 30 AND lane IN (1, 2)", "speed < 45 AND lane IN (3, 4)"])
    >>> split.form(0) == split.form(1), split.constants(1)
    (True, ['45', ('3', '4')])
    """

    data: bytes
    offsets: Int64s
    found: SplitTexts

    @classmethod
    def of(cls, texts: Sequence[str]) -> "SplitPredicates":
        """Cut some texts."""
        encoded = [text.encode("utf-8", _ANY) for text in texts]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        data = b"".join(encoded)
        return cls(data, offsets, split_constants(Bytes(offsets, np.frombuffer(data, np.uint8))))

    def number_forms(self) -> Int64s:
        """The same number for the same form; -1 for a text that shares none."""
        numbers = Texts().number(*self.found.forms)
        numbers[~self.found.plain] = -1
        long = np.flatnonzero(self.found.kinds % (LONG_WHOLE + 1) == LONG_WHOLE)
        numbers[np.searchsorted(self.found.firsts, long, "right") - 1] = -1
        return numbers

    def form(self, position: int) -> bytes | None:
        """The form of a text; None if it shares none: it is not plain, or has a whole number that is long."""
        first, end = self.found.firsts[position : position + 2]
        is_long = (self.found.kinds[first:end] % (LONG_WHOLE + 1) == LONG_WHOLE).any()
        if is_long or not self.found.plain[position]:
            return None
        first, end = self.found.forms.offsets[position : position + 2]
        return self.found.forms.data[first:end].tobytes()

    def constants(self, position: int) -> list[Constant]:
        """The constants of a text, as they are written."""
        first, end = self.found.firsts[position : position + 2].tolist()
        return [_read_constant(self._cut(index)) for index in range(first, end)]

    def columns(self, positions: Int64s) -> list[list[Constant]]:
        """The constants of texts of one form, in columns."""
        firsts, count = self.found.firsts[positions], 0
        if positions.size:
            count = int(self.found.firsts[positions[0] + 1] - firsts[0])
        return [self._read_column(firsts + number) for number in range(count)]

    def replace(self, position: int, constants: Sequence[str]) -> str:
        """A text with others in the places of its constants."""
        first, end = self.found.firsts[position : position + 2].tolist()
        cuts = [self.offsets[position], *(cut for index in range(first, end) for cut in self._ends(index))]
        cuts.append(self.offsets[position + 1])
        pieces = [self.data[low:high].decode("utf-8", _ANY) for low, high in list(pairwise(cuts))[::2]]
        return "".join(text for pair in zip(pieces, (*constants, ""), strict=True) for text in pair)

    def _ends(self, index: int) -> tuple[int, int]:
        return int(self.found.starts[index]), int(self.found.ends[index])

    def _cut(self, index: int) -> str:
        start, end = self._ends(index)
        return self.data[start:end].decode("utf-8", _ANY)

    def _read_column(self, indexes: Int64s) -> list[Constant]:
        data, is_list = self.data, self.found.kinds[indexes[0]] > LONG_WHOLE
        ends = zip(self.found.starts[indexes].tolist(), self.found.ends[indexes].tolist(), strict=True)
        texts = [data[start:end].decode("utf-8", _ANY) for start, end in ends]
        return [_read_constant(text) for text in texts] if is_list else list(texts)


def _read_constant(part: str) -> Constant:
    """A constant as it stands, or those of a list."""
    first = part[0]
    if first == "'" or first.isdigit():
        return part
    return tuple(_QUOTED.findall(part)) if "'" in part else tuple(map(str.strip, part.strip()[1:-1].split(",")))
