"""Boxes that ask for one value of an operand, or for one of a list: found by that value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import Axis, bytes_of, encode_column
from skerry.index.growing_array import GrowingArray
from skerry.kernels.index.point_chains import Chains, chain_all, chain_more, match_chains
from skerry.kernels.interning import Integers, Texts
from skerry.model.arrays import Int32s, Int64s

__all__ = ["Key", "PointLists"]

Key = int | bytes
"""A text, or the rank of another value in the order of its type."""
Sides = Mapping[int, tuple[int, int]]
"""By axis, the least and the greatest code of a box."""

_FEW = 1024


class PointLists:
    """Boxes under numbers of the caller's choice, each with the values of one operand that it asks for.

    A new box is chained to those that ask for the same values; chains lie in memory in one piece again when there are
    twice as many. A removed box leaves a gap until half are gaps.

    >>> lists = PointLists(is_text=True)
    >>> lists.add(7, [b"a", b"b"], {0: (10, 20)})
    >>> lists.add(8, [b"b"], {})
    >>> rows, numbers = lists.match(np.array([[12, 30, 12]]), pa.array(["b", "b", None]))
    >>> rows.tolist(), numbers.tolist()
    ([0, 0, 1], [7, 8, 8])
    """

    def __init__(self, *, is_text: bool) -> None:
        self.is_text = is_text
        self._start_over()

    def _start_over(self) -> None:
        self._values: dict[Key, int] = {}
        self._known: Texts | Integers = Texts() if self.is_text else Integers()
        self._lengths: list[int] = []
        self._slots: dict[int, int] = {}
        self._numbers = GrowingArray(np.int32)
        self._wanted, self._wanted_firsts = GrowingArray(np.int32), GrowingArray(np.int64, [0])
        self._side_firsts, self._axes = GrowingArray(np.int64, [0]), GrowingArray(np.int32)
        self._lows, self._highs = GrowingArray(np.int64), GrowingArray(np.int64)
        self._heads, self._tails = GrowingArray(np.int32), GrowingArray(np.int32)
        self._entry_slots, self._following = GrowingArray(np.int32), GrowingArray(np.int32)
        self._in_order = 0
        self._pending: list[tuple[int, list[int], Sides]] = []

    def __len__(self) -> int:
        """How many boxes there are."""
        return len(self._slots)

    def __contains__(self, number: int) -> bool:
        """Whether there is a box of this number."""
        return number in self._slots

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(part.nbytes for part in vars(self).values() if isinstance(part, GrowingArray))

    def count_wanting(self, key: Key) -> int:
        """How many boxes ask for a value."""
        value = self._values.get(key)
        return 0 if value is None else self._lengths[value]

    def add(self, number: int, keys: Sequence[Key], sides: Sides) -> None:
        """Add a box, with the values that it asks for, each once, and its other sides."""
        numbered, lengths, values = self._values, self._lengths, []
        for key in keys:  # as ``want``, for lists of hundreds
            value = numbered.setdefault(key, len(lengths))
            if value == len(lengths):
                lengths.append(0)
            lengths[value] += 1
            values.append(value)
        self._slots[number] = len(self._numbers) + len(self._pending)
        self._pending.append((number, values, sides))

    def want(self, key: Key) -> int:
        """Count one more box that asks for a value; the number of the value."""
        value = self._values.setdefault(key, len(self._lengths))
        if value == len(self._lengths):
            self._lengths.append(0)
        self._lengths[value] += 1
        return value

    def add_alike(self, numbers: Int64s, wanted: Int64s, sides: Mapping[int, tuple[Int64s, Int64s]]) -> None:
        """Add boxes with sides on the same axes, each with the number of the value that was counted for it."""
        self._take_pending()
        first, steps = len(self._numbers), np.arange(1, numbers.size + 1)
        self._slots.update(zip(numbers.tolist(), range(first, first + numbers.size), strict=True))
        self._numbers.extend(numbers)
        self._wanted_firsts.extend(len(self._wanted) + steps)
        self._wanted.extend(wanted)
        self._side_firsts.extend(len(self._axes) + len(sides) * steps)
        self._axes.extend(np.tile(np.array(list(sides), np.int32), numbers.size))
        for held, part in ((self._lows, 0), (self._highs, 1)):
            held.extend(np.stack([ends[part] for ends in sides.values()], axis=1).ravel() if sides else ())

    def remove(self, number: int) -> None:
        """Remove a box."""
        self._take_pending()
        slot = self._slots.pop(number)
        self._numbers.array[slot] = -1
        first, end = self._wanted_firsts.array[slot : slot + 2].tolist()
        for value in self._wanted.array[first:end].tolist():
            self._lengths[value] -= 1
        if len(self._numbers) > 2 * len(self._slots) + _FEW:
            self._close_gaps()

    def match(self, points: Int64s, column: pa.Array) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in, in order of points; points are axis by row."""
        self.settle()
        return self.match_values(points, self._find_values(column))

    def match_values(self, points: Int64s, values: Int64s) -> tuple[Int32s, Int32s]:
        """The same, of the numbers of values; -1 for a value that no box asks for."""
        chains = Chains(
            *(part.array for part in (self._heads, self._entry_slots, self._following, self._numbers)),
            *(part.array for part in (self._side_firsts, self._axes, self._lows, self._highs)),
        )
        return match_chains(chains, points, values)

    def find_keys(self, keys: Int64s) -> Int64s:
        """The numbers of values that are no texts."""
        assert isinstance(self._known, Integers)
        return self._known.find(keys)

    def settle(self) -> None:
        """Chain what was added."""
        self._take_pending()
        self._enter_values()
        chained = len(self._following)
        more = self._wanted.array[chained:]
        if len(self._wanted) > 2 * self._in_order + _FEW:
            self._put_in_order()
        elif more.size:
            slots = np.searchsorted(self._wanted_firsts.array, np.arange(chained, len(self._wanted)), "right") - 1
            self._entry_slots.extend(slots)
            self._following.extend(np.full(more.size, -1))
            chain_more(self._heads.array, self._following.array, self._tails.array, more, chained)

    def save(self) -> dict[str, Any]:
        """All there is, as arrays and lists."""
        self._take_pending()
        self._close_gaps()
        self._take_pending()
        keys = list(self._values)
        arrays = ("numbers", "wanted", "wanted_firsts", "side_firsts", "axes", "lows", "highs")
        return {"keys": keys if self.is_text else np.array(keys, np.int64)} | {
            name: getattr(self, f"_{name}").array.astype(np.int64) for name in arrays
        }

    @classmethod
    def restore(cls, parts: Mapping[str, pa.Array], *, is_text: bool) -> "PointLists":
        """Rebuild what ``save`` gave."""
        lists = cls(is_text=is_text)
        lists._values = {key: value for value, key in enumerate(parts["keys"].to_pylist())}
        for name in ("numbers", "wanted", "wanted_firsts", "side_firsts", "axes", "lows", "highs"):
            kind = getattr(lists, f"_{name}").array.dtype
            setattr(lists, f"_{name}", GrowingArray(kind, parts[name].to_numpy()))
        lists._slots = {number: slot for slot, number in enumerate(parts["numbers"].to_pylist())}
        lists._lengths = np.bincount(lists._wanted.array, minlength=len(lists._values)).tolist()
        return lists

    def _take_pending(self) -> None:
        """Put what was added into arrays."""
        if not self._pending:
            return
        numbers, wanted, sides = zip(*self._pending, strict=True)
        self._pending = []
        self._numbers.extend(numbers)
        self._wanted_firsts.extend(len(self._wanted) + np.cumsum([len(values) for values in wanted]))
        self._wanted.extend([value for values in wanted for value in values])
        self._side_firsts.extend(len(self._axes) + np.cumsum([len(some) for some in sides]))
        self._axes.extend([axis for some in sides for axis in some])
        self._lows.extend([low for some in sides for low, _ in some.values()])
        self._highs.extend([high for some in sides for _, high in some.values()])

    def _close_gaps(self) -> None:
        """Keep the boxes that are there, in order, and the values that they ask for."""
        if len(self._numbers) == len(self._slots):
            return
        keys = list(self._values)
        held = [(number, self._keys_of(slot, keys), self._sides_of(slot)) for number, slot in self._slots.items()]
        self._start_over()
        for number, wanted, sides in held:
            self.add(number, wanted, sides)

    def _keys_of(self, slot: int, keys: Sequence[Key]) -> list[Key]:
        first, end = self._wanted_firsts.array[slot : slot + 2].tolist()
        return [keys[value] for value in self._wanted.array[first:end].tolist()]

    def _sides_of(self, slot: int) -> Sides:
        first, end = self._side_firsts.array[slot : slot + 2].tolist()
        ends = zip(self._lows.array[first:end].tolist(), self._highs.array[first:end].tolist(), strict=True)
        return dict(zip(self._axes.array[first:end].tolist(), ends, strict=True))

    def _enter_values(self) -> None:
        """Let values that are new be found in readings too."""
        new = list(self._values)[self._known.count :] if self._known.count < len(self._values) else []
        if not new:
            return
        if isinstance(self._known, Texts):
            texts = [key for key in new if isinstance(key, bytes)]
            ends = np.cumsum([0, *map(len, texts)])
            self._known.number(ends, np.frombuffer(b"".join(texts), np.uint8))
        else:
            self._known.number(np.array(new, np.int64))
        for part in (self._heads, self._tails):
            part.extend(np.full(len(new), -1))

    def _put_in_order(self) -> None:
        """Lay all chains out anew."""
        sizes = np.diff(self._wanted_firsts.array)
        slots = np.repeat(np.arange(sizes.size), sizes)
        heads, entry_slots, following = chain_all(self._wanted.array, slots, len(self._values))
        counts = np.bincount(self._wanted.array, minlength=len(self._values))
        tails = np.where(counts > 0, heads + counts - 1, -1)
        self._heads, self._tails = GrowingArray(np.int32, heads), GrowingArray(np.int32, tails)
        self._entry_slots, self._following = GrowingArray(np.int32, entry_slots), GrowingArray(np.int32, following)
        self._in_order = len(self._wanted)

    def _find_values(self, column: pa.Array) -> Int64s:
        """The value of each reading, or -1 if no box asks for it."""
        if isinstance(self._known, Texts):
            found = self._known.find(*bytes_of(column))
        else:
            found = self.find_keys(encode_column(Axis(""), column))
        if column.null_count:
            found[column.is_null().to_numpy(zero_copy_only=False)] = -1
        return found
