"""Compile the kernels of the query index ahead of use."""

import numpy as np
import pyarrow as pa

from skerry.index.box_index import BoxIndex
from skerry.index.column_codes import Axis, encode_column
from skerry.index.point_lists import PointLists
from skerry.kernels.index.match_pairs import merge_pairs
from skerry.kernels.index.split_constants import split_constants
from skerry.kernels.index.text_codes import Bytes

__all__ = ["precompile_index"]

_BOXES = 3_000


def precompile_index() -> None:
    """Call every kernel of the index once: boxes that few points are in, and boxes that most are in."""
    random = np.random.default_rng(1)
    lows = random.integers(0, 10**6, (2, _BOXES))
    widths = np.where(np.arange(_BOXES) % 2 == 0, 10, 10**6)
    index = BoxIndex.of(lows, lows + widths)
    points = random.integers(0, 10**6, (2, 100))
    for _ in range(2):
        index.match(points)
        index.marks(points)
        index.add(_BOXES, {0: (1, 5)})
        index.remove(_BOXES)
    BoxIndex.restore(index.save()).match(points)
    BoxIndex.of(lows[:, :10], lows[:, :10]).match(points)
    merge_pairs(index.match(points), index.match(points))
    for type_ in (pa.float64(), pa.float32()):
        encode_column(Axis("speed"), pa.array([1.0, None], type_))
    for is_text, column in ((True, pa.array(["a", None])), (False, pa.array([1, 2]))):
        lists = PointLists(is_text=is_text)
        lists.add(0, [b"a"] if is_text else [1], {0: (1, 5)})
        lists.match(points[:, :2], column)
        lists.add(1, [b"a"] if is_text else [1], {})
        lists.match(points[:, :2], column)
    split_constants(Bytes(np.array([0, 5]), np.frombuffer(b"a < 1", np.uint8)))
    for hashed in (False, True):
        encode_column(Axis("name", hashed), pa.array(["a", None, "beyond the eighth letter"]))
