"""The query index: all standing selections over one stream, answered at once for each batch of readings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from skerry.errors import CatalogError
from skerry.index.box_index import Marks, Pairs
from skerry.index.boxes_and_lists import BoxesAndLists
from skerry.index.constants import Evaluator
from skerry.index.derived_columns import DerivedColumns
from skerry.index.operand_columns import OperandColumns, read_operand, write_operand
from skerry.index.pack_arrays import pack_arrays, unpack_arrays
from skerry.index.refinement import Refinement
from skerry.index.region import AlikeRegions, Derived, Region
from skerry.kernels.index.match_pairs import merge_pairs
from skerry.model.arrays import Int32s, Int64s, UInt64s

__all__ = ["Bitmaps", "Matches", "QueryIndex"]


class Matches(NamedTuple):
    """Readings and the queries that are true for them, in order of rows; each pair once."""

    rows: Int32s
    queries: Int32s


class Bitmaps(NamedTuple):
    """One bitmap per reading: bit i of it stands for the query ``queries[i]``, or for none if that is -1."""

    bits: UInt64s
    queries: Int32s


class QueryIndex:
    """Standing queries by name, each a region.

    A query has a number while it is here, that of its first box. Matches have numbers; ``names`` gives the
    names. To add or remove a query takes tens of microseconds; when there are twice as many as before, the next
    match builds everything again, for some 3 microseconds per query. Memory: 30 to 150 bytes per box and column
    that any query constrains. Not for several threads at once.

    >>> import duckdb, sqlglot
    >>> from skerry.index.region_from_predicate import region_of
    >>> schema = pa.schema({"speed": pa.int32()})
    >>> index = QueryIndex(schema, duckdb.connect)
    >>> for name, text in {"slow": "speed < 30", "odd": "speed < 5 OR speed % 2 = 1"}.items():
    ...     index.add(name, region_of(sqlglot.parse_one(text), schema, duckdb.connect))
    >>> rows, queries = index.match(pa.record_batch([pa.array([4, 31, 80], pa.int32())], schema=schema))
    >>> rows.tolist(), index.names(queries).to_pylist()
    ([0, 0, 1], ['slow', 'odd', 'odd'])
    """

    def __init__(self, schema: pa.Schema, evaluator: Evaluator) -> None:
        self.schema = schema
        self.version = 0
        """How often queries were added or removed."""
        self.derived = DerivedColumns(schema, evaluator)
        """The expressions that it computes for each reading, if queries are about them."""
        self._boxes = BoxesAndLists()
        self._asked: Counter[Derived] = Counter()
        self._asking: dict[int, frozenset[Derived]] = {}
        self._refinement = Refinement(evaluator)
        self._numbers: dict[str, tuple[int, ...]] = {}
        self._names: list[str | None] = []
        self._free: list[int] = []
        self._named: tuple[int, pa.Array] | None = None

    def __len__(self) -> int:
        """How many queries there are."""
        return len(self._numbers)

    def __contains__(self, name: str) -> bool:
        """Whether there is a query of this name."""
        return name in self._numbers

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._boxes.nbytes + self._refinement.nbytes

    def add(self, name: str, region: Region) -> None:
        """Add a query."""
        if name in self._numbers:
            raise CatalogError(f"there is a query {name!r} already")
        numbers = tuple([self._take_number() for _ in region.boxes or (None,)])
        self._names[numbers[0]] = name
        self._numbers[name] = numbers
        self._enter(numbers, region)
        self.version += 1

    def add_many(self, names: Sequence[str], alike: Sequence[AlikeRegions], alone: Mapping[int, Region]) -> None:
        """Add queries: their regions by position, in columns or alone. They get the numbers that ``add`` would give."""
        taken = next((name for name in names if name in self._numbers), None)
        if taken is not None:
            raise CatalogError(f"there is a query {taken!r} already")
        counts = np.ones(len(names), np.int64)
        for positions, region in alike:
            counts[positions] = max(len(region.boxes), 1)
        for position, region in alone.items():
            counts[position] = max(len(region.boxes), 1)
        firsts = np.concatenate([[0], np.cumsum(counts)])
        numbers = np.array([self._take_number() for _ in range(firsts[-1])], np.int64)
        self._name_all(names, numbers.tolist(), firsts.tolist())
        for positions, region in alike:
            self._enter_alike(numbers, firsts[positions], region)
        for position, region in alone.items():
            self._enter(numbers[firsts[position] : firsts[position + 1]].tolist(), region)
        self.version += len(names)

    def _name_all(self, names: Sequence[str], numbers: list[int], firsts: list[int]) -> None:
        for name, (first, end) in zip(names, pairwise(firsts), strict=True):
            self._numbers[name] = tuple(numbers[first:end])
            self._names[numbers[first]] = name

    def _enter_alike(self, numbers: Int64s, firsts: Int64s, region: Region) -> None:
        """Enter the boxes of queries that are alike: their numbers stand one after the other from ``firsts`` on."""
        queries, several = numbers[firsts], len(region.boxes) > 1
        for index, box in enumerate(region.boxes):
            own = numbers[firsts + index]
            residuals = self._refinement.add_residuals(box.residual, own.size)
            for rows, sides in self._boxes.add_alike(own, box):
                self._refinement.add_alike(own[rows], queries[rows], sides, residuals[rows], several=several)
        self._note_derived(queries.tolist(), region)

    def _enter(self, numbers: Sequence[int], region: Region) -> None:
        """Enter the boxes of one query under their numbers."""
        query, several = numbers[0], len(numbers) > 1
        for number, box in zip(numbers, region.boxes, strict=False):
            sides = self._boxes.add(number, box)
            self._refinement.add(number, query, sides, box.residual, several=several)
        self._note_derived([query], region)

    def _note_derived(self, queries: list[int], region: Region) -> None:
        derived = region.derived
        if derived:
            self._asking |= dict.fromkeys(queries, derived)
            for each in derived:
                self._asked[each] += len(queries)

    def remove(self, name: str) -> None:
        """Remove a query."""
        if name not in self._numbers:
            raise CatalogError(f"there is no query {name!r}")
        numbers = self._numbers.pop(name)
        self._asked.subtract(self._asking.pop(numbers[0], ()))
        for number in numbers:
            if number in self._boxes:
                self._boxes.remove(number)
                self._refinement.remove(number)
            self._names[number] = None
            self._free.append(number)
        self.version += 1

    def match(self, batch: pa.RecordBatch) -> Matches:
        """All pairs of a reading and a query that is true for it."""
        columns = self._compute(batch)
        pairs = self._boxes.match(columns)
        return Matches(*self._refine(columns, pairs))

    def match_timed(self, batch: pa.RecordBatch) -> tuple[Matches, Int64s]:
        """The same, and by number the nanoseconds of work that are due to each query.

        The time for boxes is divided by the readings found in each; the time for residuals and other refinement by
        the readings that were refined for each.
        """
        started = perf_counter_ns()
        columns = self._compute(batch)
        pairs = self._boxes.match(columns)
        boxed = perf_counter_ns()
        if not self._refinement.has_special:  # then each query is one box, and has its number
            return Matches(*pairs), self._divide_time(boxed - started, pairs.numbers)
        matches, decided = Matches(*self._refine(columns, pairs)), perf_counter_ns()
        queries = self._refinement.queries_of(pairs.numbers)
        asked = queries[self._refinement.are_special(pairs.numbers)]
        return matches, self._divide_time(boxed - started, queries) + self._divide_time(decided - boxed, asked)

    def bitmaps(self, batch: pa.RecordBatch) -> Bitmaps:
        """All matches, as bits."""
        columns = self._compute(batch)
        marks = self._boxes.marks(columns)
        if self._refinement.has_special:
            marks = self._refine_marks(columns, marks)
        return Bitmaps(*marks)

    def names(self, queries: Int32s) -> pa.Array:
        """The names of queries."""
        if self._named is None or self._named[0] != self.version:
            self._named = self.version, pa.array(self._names, pa.string())
        return self._named[1].take(pa.array(queries))

    def settle(self) -> None:
        """Build now what the next match would build."""
        self._boxes.settle()

    def save(self) -> bytes:
        """All there is, as bytes."""
        held = [(name, number) for name, numbers in self._numbers.items() for number in numbers]
        mine = {
            "version": np.array([self.version]),
            "derived": [write_operand(derived) for derived in self._asked],
            "names": [name for name, _ in held],
            "numbers": np.array([number for _, number in held], np.int64),
            "free": np.array(self._free, np.int64),
        }
        for position, derived in enumerate(self._asked):
            asking = [number for number, asked in self._asking.items() if derived in asked]
            mine[f"asking {position}"] = np.array(sorted(asking), np.int64)
        return pack_arrays(mine | self._boxes.save() | self._refinement.save(write_operand))

    @classmethod
    def restore(cls, blob: bytes, schema: pa.Schema, evaluator: Evaluator) -> "QueryIndex":
        """Rebuild the index that ``save`` gave. The same changes then give queries the same numbers in both."""
        parts, index = unpack_arrays(blob), cls(schema, evaluator)
        index.version = int(parts["version"].to_numpy()[0])
        derived = [found for found in map(read_operand, parts["derived"].to_pylist()) if isinstance(found, Derived)]
        index.derived = DerivedColumns(schema, evaluator, derived)
        for position, each in enumerate(derived):
            asking = parts[f"asking {position}"].to_pylist()
            index._asked[each] = len(asking)
            index._asking |= {number: index._asking.get(number, frozenset()) | {each} for number in asking}
        index._boxes = BoxesAndLists.restore(parts)
        index._refinement = Refinement.restore(parts, evaluator, read_operand)
        numbers, index._free = parts["numbers"].to_pylist(), parts["free"].to_pylist()
        index._names = [None] * (len(numbers) + len(index._free))
        for name, number in zip(parts["names"].to_pylist(), numbers, strict=True):
            index._numbers[name] = (*index._numbers.get(name, ()), number)
        for name, held in index._numbers.items():
            index._names[held[0]] = name
        return index

    def _take_number(self) -> int:
        """A number that no box has."""
        if self._free:
            return self._free.pop()
        self._names.append(None)
        return len(self._names) - 1

    def _compute(self, batch: pa.RecordBatch) -> OperandColumns:
        """Readings with all that the queries are about."""
        asked = [derived for derived, count in self._asked.items() if count]
        return OperandColumns(batch, self.derived.compute(batch, asked))

    def _divide_time(self, time_ns: int, queries: Int32s) -> Int64s:
        """Time by query, in the proportion in which they occur; a nanosecond at the least."""
        counts = np.bincount(queries, minlength=len(self._names))
        return np.ceil(counts * (time_ns / max(queries.size, 1))).astype(np.int64)

    def _refine(self, columns: OperandColumns, pairs: Pairs) -> Pairs:
        """Drop the pairs that a residual or a text rules out; keep a query once per reading."""
        if not self._refinement.has_special:
            return pairs
        special = self._refinement.are_special(pairs.numbers)
        if not special.any():
            return pairs
        plain = Pairs(pairs.rows[~special], pairs.numbers[~special])
        found = self._refinement.refine(columns.batch, columns.find, pairs.rows[special], pairs.numbers[special])
        return Pairs(*merge_pairs(plain, found)) if plain.rows.size else Pairs(*found)

    def _refine_marks(self, columns: OperandColumns, marks: Marks) -> Marks:
        """The same for bits: those of special boxes are cleared, and that of each true query's first box is set."""
        held = np.flatnonzero(marks.numbers >= 0)
        special = np.zeros(marks.numbers.size, np.uint8)
        special[held] = self._refinement.are_special(marks.numbers[held])
        mask = np.packbits(special, bitorder="little").view(np.uint64)
        candidates = _find_bits(marks.bits & mask, marks.numbers)
        rows, queries = self._refinement.refine(columns.batch, columns.find, *candidates)
        bit_of = np.full(len(self._names), -1, np.int64)
        bit_of[marks.numbers[held]] = held
        found, bits = marks.bits & ~mask, bit_of[queries]
        np.bitwise_or.at(found, (rows, bits >> 6), np.uint64(1) << (bits & 63).astype(np.uint64))
        first = held[self._refinement.queries_of(marks.numbers[held]) == marks.numbers[held]]
        numbers = np.full(marks.numbers.size, -1, np.int32)
        numbers[first] = marks.numbers[first]
        return Marks(found, numbers)


def _find_bits(bits: UInt64s, numbers: Int32s) -> tuple[Int32s, Int32s]:
    """The rows of all bits that are set, and the numbers these stand for."""
    rows, words = np.nonzero(bits)
    each = np.unpackbits(bits[rows, words].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    word, bit = np.nonzero(each)
    return rows[word].astype(np.int32), numbers[words[word] * 64 + bit]
