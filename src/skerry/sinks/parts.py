"""The files of an output, by their names: which batches each holds, and which task wrote it.

part-00000007.csv               batch 7
part-00000007-3.csv             what task 3 has of batch 7
part-00000000_00000015.csv      batches 0 to 15, put together
"""

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Part", "find_parts", "name_part"]

_NAME = re.compile(r"part-(?P<first>\d{8,})(_(?P<last>\d{8,}))?(-(?P<task>\d+))?\.(parquet|csv|jsonl)")

_NO_TASK = 2**62


@dataclass(frozen=True, order=True)
class Part:
    """One file, and the batches from ``first`` to ``last`` that it holds, or a task's share of one.

    What tasks have of a batch stands before the rest of it.
    """

    first: int
    last: int
    task: int
    path: Path

    @property
    def is_merged(self) -> bool:
        """Whether it holds more than one batch."""
        return self.last > self.first

    @classmethod
    def of(cls, path: Path) -> "Part | None":
        """What a file is by its name, if it is one of ours.

        >>> part = Part.of(Path("v/part-00000007-3.csv"))
        >>> part.first, part.last, part.task
        (7, 7, 3)
        >>> Part.of(Path("v/notes.csv"))
        """
        found = _NAME.fullmatch(path.name)
        if found is None:
            return None
        first, task = int(found["first"]), found["task"]
        return cls(first, int(found["last"] or first), _NO_TASK if task is None else int(task), path)


def find_parts(folder: Path) -> list[Part]:
    """The parts in a folder, in the order of their batches and tasks.

    A folder that was replaced by another while it was listed (``sinks.compaction``) is listed again: it may have been
    removed file by file meanwhile.
    """
    while True:
        listed = folder.stat().st_ino
        found = sorted(part for path in folder.iterdir() if (part := Part.of(path)) is not None)
        if folder.stat().st_ino == listed:
            return found


def name_part(first: int, last: int | None = None, task: int | None = None) -> str:
    """The name of a part, without the suffix of its format.

    >>> name_part(7), name_part(7, task=3), name_part(0, 15)
    ('part-00000007', 'part-00000007-3', 'part-00000000_00000015')
    """
    until = "" if last is None or last == first else f"_{last:08d}"
    return f"part-{first:08d}{until}" + ("" if task is None else f"-{task}")
