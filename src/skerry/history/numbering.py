"""How the batches of all runs of a project are numbered: one after the other, whatever run they are of.

Runs begin to count at 0. A run gets the numbers behind all that were given before; one that goes on keeps its own,
unless another has written in between.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from skerry.model.atomic_write import write_atomically

__all__ = ["Block", "Numbering"]

_MOST_BLOCKS = 256
_LAST = 2**63 - 1


@dataclass(frozen=True)
class Block:
    """Numbers that follow each other: batch ``batch`` of ``run`` is number ``first``.

    A run that cannot go on has no name.
    """

    run: str
    first: int
    batch: int

    def number(self, batch: int) -> int:
        """The number of one of its batches."""
        return self.first + batch - self.batch


class Numbering:
    """The blocks of a project, in a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     numbering = Numbering(Path(folder) / "runs.json")
    ...     numbering.begin("a", 0, behind=-1)
    ...     numbering.begin("b", 0, behind=9)
    ...     numbering.begin("b", 5, behind=14)
    ...     numbering.begin("a", 10, behind=14)
    (Block(run='a', first=0, batch=0), range(0, 0))
    (Block(run='b', first=10, batch=0), range(0, 0))
    (Block(run='b', first=10, batch=0), range(15, 9223372036854775807))
    (Block(run='a', first=15, batch=10), range(10, 10))
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._blocks = [Block(*each) for each in json.loads(path.read_text())] if path.exists() else []

    def begin(self, run: str, batch: int, behind: int) -> tuple[Block, range]:
        """The block that a run writes from a batch on, and the numbers that it gave before to what comes again.

        ``behind`` is the greatest number there is.
        """
        own = next(
            (index for index in reversed(range(len(self._blocks))) if run and self._blocks[index].run == run), None
        )
        again = range(0)
        if own is not None:
            following = self._blocks[own + 1].first if own + 1 < len(self._blocks) else _LAST
            start = self._blocks[own].number(batch)
            again = range(start, max(start, following))
            if own + 1 == len(self._blocks):
                return self._blocks[own], again
        first = max([behind + 1, *(block.first for block in self._blocks)])
        block = Block(run, first, batch)
        self._blocks = [*self._blocks, block][-_MOST_BLOCKS:]
        write_atomically(
            self._path, json.dumps([[each.run, each.first, each.batch] for each in self._blocks]).encode(), synced=True
        )
        return block, again

    def list_numbers(self, block: Block) -> list[range]:
        """The numbers of all batches of the run that a block is of; that of one without a name has no other.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     numbering = Numbering(Path(folder) / "runs.json")
        ...     _ = numbering.begin("a", 0, behind=-1), numbering.begin("b", 0, behind=9)
        ...     numbering.list_numbers(numbering.begin("a", 10, behind=14)[0])
        [range(0, 10), range(15, 9223372036854775807)]
        """
        ends = [*(each.first for each in self._blocks[1:]), _LAST]
        spans = [(each, range(each.first, end)) for each, end in zip(self._blocks, ends, strict=True)]
        return [numbers for each, numbers in spans if each == block or (block.run and each.run == block.run)]
