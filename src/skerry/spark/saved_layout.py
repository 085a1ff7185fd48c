"""The layout of a checkpoint as it is written down, with a change to another one that has begun."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from skerry.model.sealed_folder import SealedFolder
from skerry.spark.layout import Layout

__all__ = ["LAYOUT", "Move", "SavedLayout", "name_folder"]

LAYOUT = "layout.json"


@dataclass(frozen=True)
class Move:
    """A change of layout that has begun: everything is written down, and Spark may have been asked already."""

    bucket_count: int
    last_batch: int
    """The last batch of the layout before."""
    retired: tuple[tuple[int, int], ...]

    @property
    def own_batch(self) -> int:
        """The batch without readings that Spark adds to its log."""
        return self.last_batch + 1


@dataclass(frozen=True)
class SavedLayout:
    """What ``layout.json`` says. It is there before the first batch is planned."""

    layout: Layout
    move: Move | None = None

    def to_json(self) -> bytes:
        """As it is written down."""
        known = {name: value for name, value in asdict(self.layout).items() if name != "folder"}
        return json.dumps({**known, "move": self.move and asdict(self.move)}).encode()

    @classmethod
    def from_json(cls, text: bytes, part: Callable[[str], SealedFolder]) -> "SavedLayout":
        """Read it again; ``part`` finds a folder of the checkpoint."""
        found = json.loads(text)
        layout = Layout(
            found["bucket_count"],
            found["generation"],
            found["first_batch"],
            part(name_folder(found["generation"])) if found["generation"] else None,
            _pairs(found["retired"]),
            found.get("group_limit"),
        )
        move = found["move"]
        return cls(layout, move and Move(move["bucket_count"], move["last_batch"], _pairs(move["retired"])))

    def find_bucket_count(self, done: int) -> int:
        """Among how many tasks Spark's store is divided after the last batch that it has done."""
        return self.move.bucket_count if self.move and done >= self.move.own_batch else self.layout.bucket_count


def name_folder(generation: int) -> str:
    """Where the state is that a layout begins with."""
    return f"buckets-{generation}"


def _pairs(found: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((group, address) for group, address in found)
